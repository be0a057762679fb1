/* SPDX-License-Identifier: MIT */
/* own_image.c - see own_image.h. Must never touch the auxiliary vector. */
#include "attach/own_image.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "attach/image_arch.h"
#include "attach/image_file.h"
#include "elf/arch/host.h"

/* The second mapping of shared memory needs no descriptor. */
static int share_page(const struct vclock_page *page, unsigned char *at)
{
	void *from = (void *)(uintptr_t)page;

	return mremap(from, 0, VCLOCK_PAGE_SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, at) == at ? 0
											  : -errno;
}

static int fill(struct own_image *map, const struct image_arch *arch, int fd, size_t size,
		const struct vclock_page *page, const struct vclock_vdso *vdso)
{
	unsigned char *area = map->area, *image = area + (size_t)PROCESS_UNITS * arch->unit;
	struct process_page *process = (struct process_page *)(void *)(area + arch->unit);
	bool has_vdso = vdso != NULL && vdso->clock_gettime != NULL;
	int r;

	process_page_fill(process, arch, has_vdso ? &vdso->elf : NULL,
			  has_vdso ? (uintptr_t)vdso->elf.image : 0, process_page_flags());
	if (madvise(area + 2 * (size_t)arch->unit, arch->unit, MADV_WIPEONFORK) != 0 ||
	    mmap(image, size, (int)arch->prot, MAP_PRIVATE | MAP_FIXED, fd, 0) != image)
		return -errno;
	r = page != NULL ? share_page(page, area) : 0;
	if (r != 0)
		return r;
	return vclock_elf_open(image, size, 1, &map->elf) == 0 ? 0 : -ENOEXEC;
}

int own_image_open(const char *folder, const struct vclock_page *page,
		   const struct vclock_vdso *vdso, struct own_image *ret_image)
{
	const struct image_arch *arch = image_arch_of(ELF_HOST_MACHINE, sizeof(void *) == 8);
	struct own_image map = {.arch = arch};
	size_t size = 0;
	int fd, r;

	if (arch == NULL)
		return -ENOENT;
	fd = image_file_open(folder, arch, &size);
	if (fd < 0)
		return fd;
	map.area_size = (size_t)PROCESS_UNITS * arch->unit + size;
	map.area = mmap(NULL, map.area_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);
	r = map.area == MAP_FAILED ? -errno : fill(&map, arch, fd, size, page, vdso);
	close(fd);
	if (r != 0 && map.area != MAP_FAILED)
		munmap(map.area, map.area_size);
	if (r == 0)
		*ret_image = map;
	return r;
}

void own_image_close(struct own_image *map)
{
	munmap(map->area, map->area_size);
	memset(map, 0, sizeof(*map));
}

const void *own_image_entry(const struct own_image *map, const char *name)
{
	const void *address;

	if (name == NULL || vclock_elf_lookup(&map->elf, name, NULL, &address) != 0)
		return NULL;
	return address;
}
