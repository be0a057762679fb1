/* SPDX-License-Identifier: MIT */
/*
 * vdso_image.c - see vdso_image.h.
 *
 * What /proc says about another process is that process's own word: the address from its auxiliary
 * vector counts only where a mapping begins there, and that mapping's end gives the size. Nothing
 * is taken from neighbours. Never writes to the process, never stops it.
 */
#include "cli/vdso_image.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#include "attach/auxv.h"
#include "attach/maps.h"
#include "cli/cli.h"
#include "elf/elf_image.h"

/* A kernel's image has 2 to 4 pages. The limit is for files, which may be any library. */
#define IMAGE_MAX ((size_t)16 << 20)
/* The kernel keeps some 50 entries. */
#define AUXV_MAX 4096

/* One page, the smallest there is: the headers of a mapped image are in it. */
#define PAGE_MIN 4096

static int no_vdso(const char *object)
{
	return cli_error(CLI_IMPOSSIBLE, "vdso: %s: no vDSO", object);
}

int vdso_image_own(struct vdso_image *ret_image)
{
	const void *address = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	size_t size;
	int r;

	if (address == NULL)
		return no_vdso("this process");
	if ((uintptr_t)address % PAGE_MIN != 0)
		return cli_error(CLI_WRONG, "vdso: this process: %s",
				 vclock_elf_strerror(VCLOCK_ELF_ADDRESS));
	r = elf_mapped_size(address, PAGE_MIN, IMAGE_MAX, &size);
	if (r)
		return cli_error(CLI_WRONG, "vdso: this process: %s", vclock_elf_strerror(r));
	ret_image->bytes = cli_alloc(size ? size : 1);
	memcpy(ret_image->bytes, address, size);
	ret_image->size = size;
	ret_image->is_mapped = 1;
	ret_image->address = (uintptr_t)address;
	return CLI_GOOD;
}

/* All that fd gives, up to max bytes; -EFBIG: there is more. */
static int read_all(int fd, size_t max, unsigned char **ret_bytes, size_t *ret_size)
{
	size_t room = 65536, size = 0;
	unsigned char *bytes = cli_alloc(room), *more;
	ssize_t n;

	while ((n = read(fd, bytes + size, room - size)) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0 || size + (size_t)n > max) {
			n = n < 0 ? -errno : -EFBIG;
			free(bytes);
			return (int)n;
		}
		size += (size_t)n;
		if (size < room)
			continue;
		room *= 2;
		more = realloc(bytes, room);
		if (more == NULL) {
			free(bytes);
			return -ENOMEM;
		}
		bytes = more;
	}
	*ret_bytes = bytes;
	*ret_size = size;
	return 0;
}

static int unreadable(const char *object, const char *what, int error)
{
	return cli_error(CLI_USAGE, "vdso: %s: %s%s%s", object, what, *what ? ": " : "",
			 error == EFBIG	  ? "too large for a vDSO"
			 : error == ESRCH ? "no memory: it has ended, or is a kernel thread"
					  : strerror(error));
}

int vdso_image_of_file(const char *path, struct vdso_image *ret_image)
{
	/* Without O_NONBLOCK a named pipe would be waited for. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	unsigned char *bytes;
	struct stat st;
	size_t size;
	int r;

	if (fd < 0)
		return unreadable(path, "", errno);
	if (fstat(fd, &st) == 0 && !S_ISREG(st.st_mode)) {
		close(fd);
		return cli_error(CLI_USAGE, "vdso: %s: %s", path,
				 S_ISDIR(st.st_mode) ? "is a directory" : "not a regular file");
	}
	r = read_all(fd, IMAGE_MAX, &bytes, &size);
	close(fd);
	if (r)
		return unreadable(path, "", -r);
	if (size == 0) {
		free(bytes);
		return cli_error(CLI_WRONG, "vdso: %s: empty file", path);
	}
	*ret_image = (struct vdso_image){.bytes = bytes, .size = size};
	return CLI_GOOD;
}

/* The process's vDSO address; 0 when it has none. */
static int read_address(int folder, const char *object, uint64_t *ret_address)
{
	int fd = openat(folder, "auxv", O_RDONLY | O_CLOEXEC), r;
	unsigned char *auxv;
	unsigned int word;
	size_t size;

	if (fd < 0)
		return unreadable(object, "auxv", errno);
	r = read_all(fd, AUXV_MAX, &auxv, &size);
	close(fd);
	if (r)
		return unreadable(object, "auxv", -r);
	word = auxv_word_size(auxv, size);
	*ret_address = 0;
	if (word)
		auxv_find(auxv, size, word, AT_SYSINFO_EHDR, ret_address);
	free(auxv);
	return CLI_GOOD;
}

/* The mapping that begins at address. */
static bool find_mapping(FILE *maps, uint64_t address, struct maps_line *ret_line)
{
	char *text = NULL;
	size_t room = 0;
	bool found = false;
	ssize_t length;

	while (!found && (length = getline(&text, &room, maps)) > 0)
		found = maps_parse(text, (size_t)length, ret_line) == 0 &&
			ret_line->start == address;
	free(text);
	/* The name went with the text. */
	ret_line->name = "";
	ret_line->name_length = 0;
	return found;
}

static int read_maps(int folder, const char *object, uint64_t address, uint64_t *ret_size)
{
	int fd = openat(folder, "maps", O_RDONLY | O_CLOEXEC);
	FILE *maps = fd < 0 ? NULL : fdopen(fd, "r");
	struct maps_line line;
	bool found;

	if (maps == NULL)
		return unreadable(object, "maps", errno);
	found = find_mapping(maps, address, &line);
	fclose(maps);
	if (!found)
		return cli_error(CLI_WRONG, "vdso: %s: nothing is mapped at 0x%" PRIx64, object,
				 address);
	*ret_size = line.end - line.start;
	return *ret_size <= IMAGE_MAX ? CLI_GOOD : unreadable(object, "", EFBIG);
}

static int read_memory(int folder, const char *object, struct vdso_image *image)
{
	int fd = openat(folder, "mem", O_RDONLY | O_CLOEXEC);
	size_t done = 0;
	ssize_t n = 0;
	int error;

	if (fd < 0)
		return unreadable(object, "mem", errno);
	while (done < image->size) {
		n = pread(fd, image->bytes + done, image->size - done,
			  (off_t)(image->address + done));
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	error = n < 0 ? errno : EIO;
	close(fd);
	return done == image->size ? CLI_GOOD : unreadable(object, "mem", error);
}

static int read_process(int folder, const char *object, struct vdso_image *image)
{
	uint64_t size = 0;
	int status = read_address(folder, object, &image->address);

	if (status != CLI_GOOD)
		return status;
	if (image->address == 0)
		return no_vdso(object);
	status = read_maps(folder, object, image->address, &size);
	if (status != CLI_GOOD)
		return status;
	image->size = (size_t)size;
	image->is_mapped = 1;
	image->bytes = cli_alloc(image->size);
	status = read_memory(folder, object, image);
	if (status != CLI_GOOD)
		free(image->bytes);
	return status;
}

/* One open folder for all files: the number cannot become another process's in between. */
int vdso_image_of_pid(uint64_t pid, struct vdso_image *ret_image)
{
	char path[40], object[40];
	struct vdso_image image;
	int folder, status;

	snprintf(path, sizeof(path), "/proc/%" PRIu64, pid);
	snprintf(object, sizeof(object), "process %" PRIu64, pid);
	folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder < 0)
		return cli_error(CLI_USAGE, "vdso: %s: %s", object,
				 errno == ENOENT ? "no such process" : strerror(errno));
	status = read_process(folder, object, &image);
	close(folder);
	if (status == CLI_GOOD)
		*ret_image = image;
	return status;
}
