/* SPDX-License-Identifier: MIT */
/*
 * image_file.c - see image_file.h. The file is hostile, and may shrink meanwhile: it is read, not
 * mapped.
 */
#include "attach/image_file.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Images have some 10 to 20 KiB. */
#define IMAGE_FILE_MAX ((size_t)128 << 10)

/* One segment from address 0, with the whole file in it and nothing else, and not writable. */
static bool has_one_segment(const struct vclock_elf *elf)
{
	const unsigned char *at = elf->phdr;
	unsigned loads = 0;
	Elf64_Phdr phdr64;
	Elf32_Phdr phdr32;
	uint32_t i;

	for (i = 0; i < elf->phdr_count; i++) {
		if (elf->is_64) {
			memcpy(&phdr64, at + i * sizeof(phdr64), sizeof(phdr64));
		} else {
			memcpy(&phdr32, at + i * sizeof(phdr32), sizeof(phdr32));
			phdr64 = (Elf64_Phdr){.p_type = phdr32.p_type,
					      .p_flags = phdr32.p_flags,
					      .p_offset = phdr32.p_offset,
					      .p_vaddr = phdr32.p_vaddr,
					      .p_filesz = phdr32.p_filesz,
					      .p_memsz = phdr32.p_memsz};
		}
		if (phdr64.p_type != PT_LOAD)
			continue;
		loads++;
		if (phdr64.p_flags != (PF_R | PF_X) || phdr64.p_offset != 0 ||
		    phdr64.p_vaddr != 0 || phdr64.p_filesz != elf->size ||
		    phdr64.p_memsz != elf->size)
			return false;
	}
	return loads == 1;
}

bool image_file_is_good(const struct image_arch *arch, const void *bytes, size_t size)
{
	struct vclock_elf elf;
	const void *address;

	return vclock_elf_open(bytes, size, 0, &elf) == 0 && elf.machine == arch->machine &&
	       elf.is_64 == arch->is_64 && has_one_segment(&elf) &&
	       vclock_elf_lookup(&elf, arch->own[VCLOCK_MONOTONIC], "VCLOCK_1", &address) == 0;
}

static int look_at(int fd, const struct image_arch *arch, size_t *ret_size)
{
	static unsigned char bytes[IMAGE_FILE_MAX];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -ENOEXEC;
	n = pread(fd, bytes, sizeof(bytes), 0);
	if (n < 0)
		return -errno;
	if (n != st.st_size || !image_file_is_good(arch, bytes, (size_t)n))
		return -ENOEXEC;
	*ret_size = (size_t)n;
	return 0;
}

int image_file_open(const char *folder, const struct image_arch *arch, size_t *ret_size)
{
	char path[PATH_MAX];
	int fd, r;

	if (snprintf(path, sizeof(path), "%s/vdso-%s.so", folder, arch->name) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	r = look_at(fd, arch, ret_size);
	if (r == 0)
		return fd;
	close(fd);
	return r;
}
