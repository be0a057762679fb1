/* SPDX-License-Identifier: MIT */
/*
 * info_page.c - says in words what is wrong with a page file.
 *
 * The library refuses with a number; people want to know which field. The file is hostile: it is
 * copied once, and only looked at. Nothing here decides whether a page is used.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/info.h"

#define DEFAULT_PATH "/run/vclock/page"

/* Reads up to a page. How many bytes, or -errno. */
static ssize_t read_file(const char *path, struct vclock_page *ret_page)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		n = -errno;
	else if (!S_ISREG(st.st_mode))
		n = 0;
	else if ((n = pread(fd, ret_page, sizeof(*ret_page), 0)) < 0)
		n = -errno;
	close(fd);
	return n;
}

/* NULL: nothing is wrong with it. */
static char *check_line(const struct vclock_line *line, uint32_t shift)
{
	uint32_t clk;

	if (line->length_cyc == 0)
		return NULL;
	if (line->mult[0] == 0 || line->mult[1] == 0)
		return cli_format("invalid page: multiplier 0");
	if (line->length_cyc > VCLOCK_LINE_CYC_MAX)
		return cli_format("invalid page: a line of %u cycles", line->length_cyc);
	for (clk = 0; clk < VCLOCK_BASES; clk++) {
		if (line->base[clk].fns >> shift >= VCLOCK_NSEC_PER_SEC)
			return cli_format("invalid page: a base of a second or more");
	}
	return NULL;
}

/* The version before the size: a page of another release is told as such. NULL: nothing wrong. */
static char *check_fields(const struct vclock_page *page, ssize_t n)
{
	const struct vclock_slot *slot = &page->slot[page->generation & 1];
	char *wrong;

	if (n < (ssize_t)offsetof(struct vclock_page, generation) ||
	    page->magic != VCLOCK_PAGE_MAGIC)
		return cli_format("not a page");
	if (page->version != VCLOCK_PAGE_VERSION)
		return cli_format("page format %u, this is for format %u", page->version,
				  VCLOCK_PAGE_VERSION);
	if (page->size != VCLOCK_PAGE_SIZE || n < (ssize_t)VCLOCK_PAGE_SIZE)
		return cli_format("invalid page: %zd bytes, and it says %u", n, page->size);
	if (page->shift > VCLOCK_SHIFT_MAX)
		return cli_format("invalid page: shift %u", page->shift);
	if (page->counter_hz == 0)
		return cli_format("invalid page: counter of 0 Hz");
	wrong = check_line(&slot->line[0], page->shift);
	return wrong != NULL ? wrong : check_line(&slot->line[1], page->shift);
}

/* As in <vclock.h>. */
static const char *library_words(int error)
{
	switch (error) {
	case -EPERM:
		return "not owned by root or this user, or writable by others";
	case -EINVAL:
		return "invalid page: a field is out of range";
	case -EPROTO:
		return "another version of the page format";
	case -ESTALE:
		return "of another boot";
	case -EXDEV:
		return "of another time namespace";
	case -ENODATA:
		return "no line published yet";
	case -ETIME:
		return "ended: its writer has stopped or gone";
	case -EREMOTE:
		return "of a counter that this process cannot read";
	case -EDOM:
		return "farther from the kernel's clocks than it says";
	default:
		return strerror(-error);
	}
}

/* What waiting does not cure. */
static bool is_wrong(int error)
{
	return error == -EPERM || error == -EINVAL || error == -EPROTO || error == -EDOM;
}

const char *info_page_path(void)
{
	const char *path = secure_getenv("VCLOCK_PAGE");

	return path != NULL && path[0] != '\0' ? path : DEFAULT_PATH;
}

void info_page_file_check(int library_error, bool is_in_use, struct info_page_file *ret_file)
{
	struct vclock_page page;
	ssize_t n;

	memset(ret_file, 0, sizeof(*ret_file));
	memset(&page, 0, sizeof(page));
	ret_file->path = info_page_path();
	n = read_file(ret_file->path, &page);
	if (n < 0) {
		ret_file->error = (int)-n;
		ret_file->verdict = cli_format("%s", strerror((int)-n));
		return;
	}
	ret_file->verdict = check_fields(&page, n);
	ret_file->is_wrong = ret_file->verdict != NULL || is_wrong(library_error);
	if (ret_file->verdict == NULL)
		ret_file->verdict = cli_format("%s", library_error != 0
							     ? library_words(library_error)
						     : is_in_use ? "in use"
								 : "a page, but not asked for");
}
