/* SPDX-License-Identifier: MIT */
/*
 * page_words.c - says in words what is wrong with a page file.
 *
 * The library refuses with a number; people want to know which field. The file is hostile: it is
 * copied, never mapped, and the copy is only looked at. Nothing here decides whether a page is
 * used.
 */
#include "cli/page_words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "publish/machine.h"
#include "publish/page_check.h"

#define DEFAULT_PATH "/run/vclock/page"
/* An update comes every millisecond at the most, and a copy takes a few microseconds. */
#define READ_TRIES 10

/* The reader's protocol by read calls: the generation before and after. */
static ssize_t read_whole(int fd, struct vclock_page *page)
{
	uint32_t before, after;
	ssize_t n = 0;
	int i;

	for (i = 0; i < READ_TRIES; i++) {
		if (pread(fd, &before, sizeof(before), offsetof(struct vclock_page, generation)) !=
		    (ssize_t)sizeof(before))
			before = 0;
		n = pread(fd, page, sizeof(*page), 0);
		if (n < 0)
			return -errno;
		if (pread(fd, &after, sizeof(after), offsetof(struct vclock_page, generation)) !=
			    (ssize_t)sizeof(after) ||
		    before == after)
			break;
	}
	return n;
}

ssize_t page_words_read(const char *path, struct vclock_page *ret_page)
{
	int fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) != 0)
		n = -errno;
	else
		n = S_ISREG(st.st_mode) ? read_whole(fd, ret_page) : 0;
	close(fd);
	return n;
}

/* The version before the size: a page of another release is told as such. */
char *page_words_fault(const struct vclock_page *page, ssize_t n)
{
	struct page_fault fault;

	if (n < (ssize_t)offsetof(struct vclock_page, generation) ||
	    page->magic != VCLOCK_PAGE_MAGIC)
		return cli_format("not a page");
	if (page->version != VCLOCK_PAGE_VERSION)
		return cli_format("page format %u, this is for format %u", page->version,
				  VCLOCK_PAGE_VERSION);
	if (page->size != VCLOCK_PAGE_SIZE || n < (ssize_t)VCLOCK_PAGE_SIZE)
		return cli_format("invalid page: %zd bytes, and it says %u", n, page->size);
	if (page_check_fault(page, &fault) != 0)
		return cli_format("invalid page: %s %lld", fault.field, (long long)fault.value);
	return NULL;
}

const char *page_words_error(int error)
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
	case -ELOOP:
		return "a symbolic link, which no reader follows";
	default:
		return strerror(-error);
	}
}

bool page_words_is_wrong(int error)
{
	return error == -EPERM || error == -EINVAL || error == -EPROTO || error == -EDOM ||
	       error == -ELOOP;
}

enum page_same page_words_boot(const struct vclock_page *page)
{
	struct machine_identity here;

	machine_identify(&here);
	if (!machine_is_known_boot(page->boot_id) || !machine_is_known_boot(here.boot_id))
		return PAGE_UNKNOWN;
	return memcmp(page->boot_id, here.boot_id, sizeof(here.boot_id)) == 0 ? PAGE_SAME
									      : PAGE_OTHER;
}

const char *page_words_refusal(const struct vclock_page *page, int error)
{
	if (error != -ESTALE || page_words_boot(page) != PAGE_UNKNOWN)
		return page_words_error(error);
	return machine_is_known_boot(page->boot_id)
		       ? "of which boot cannot be told: this boot's id cannot be read: is /proc "
			 "mounted?"
		       : "does not say of which boot it is";
}

const char *page_words_path(void)
{
	const char *path = secure_getenv("VCLOCK_PAGE");

	return path != NULL && path[0] != '\0' ? path : DEFAULT_PATH;
}

const char *page_words_counter(uint32_t kind)
{
	switch (kind) {
	case VCLOCK_COUNTER_TSC:
		return "time-stamp counter (TSC)";
	case VCLOCK_COUNTER_CNTVCT:
		return "CNTVCT_EL0";
	case VCLOCK_COUNTER_RISCV:
		return "time CSR";
	case VCLOCK_COUNTER_CALLER:
		return "one of the publisher's own";
	default:
		return "none that vclock knows";
	}
}
