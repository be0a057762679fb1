/* SPDX-License-Identifier: MIT */
/*
 * open.c - vclock_open(): everything that is looked at before a page is believed.
 *
 * The file is hostile until its owner, its fields, its boot, its time namespace and its clocks have
 * been checked; nothing of it is used before, and nothing reaches the window that failed. Must
 * never wait: it runs in a constructor, and the file may be what a dead writer left behind.
 */
#include "lib/open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/guard.h"
#include "lib/kernel.h"
#include "lib/reopen.h"
#include "lib/setup.h"
#include "publish/machine.h"
#include "publish/page_check.h"
#include "vclock/counter.h"
#include "vclock/read.h"

#define DEFAULT_PATH "/run/vclock/page"

/* Only root and this user may have written it, and nobody else may. */
static int check_file(int fd, struct stat *ret_st)
{
	if (fstat(fd, ret_st) != 0)
		return -errno;
	if (!S_ISREG(ret_st->st_mode))
		return -EINVAL;
	if ((ret_st->st_uid != 0 && ret_st->st_uid != geteuid() && ret_st->st_uid != getuid()) ||
	    (ret_st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return -EPERM;
	return ret_st->st_size < (off_t)VCLOCK_PAGE_SIZE ? -EINVAL : 0;
}

static int check_identity(const struct vclock_page *page)
{
	struct machine_identity here;

	machine_identify(&here);
	/* A file outlives a boot: one that does not say of which it is, is of another. */
	if (!machine_is_known_boot(here.boot_id) ||
	    memcmp(here.boot_id, page->boot_id, sizeof(here.boot_id)) != 0)
		return -ESTALE;
	if (page->timens_ino != 0 && here.timens_ino != 0 && page->timens_ino != here.timens_ino)
		return -EXDEV;
	return page->counter_kind != VCLOCK_COUNTER_KIND || lib_program.counter_forbidden ? -EREMOTE
											  : 0;
}

/*
 * A line that ended a moment ago has a writer that is late; one that ended a second ago has none.
 * Returns 0, or -ETIME.
 */
static int check_age(const struct vclock_page *page)
{
	const struct vclock_slot *slot = &page->slot[page->generation & 1];
	const struct vclock_line *last = &slot->line[slot->line[1].length_cyc != 0];
	uint64_t age = vclock_counter_ordered() - last->start_cyc;

	if (slot->retired != VCLOCK_RETIRED_NOT || last->length_cyc == 0)
		return -ETIME;
	/* A line that has not begun yet gives a huge unsigned age. */
	if ((int64_t)age >= 0 && age > page->counter_hz + last->length_cyc)
		return -ETIME;
	return 0;
}

/*
 * shared: the page, mapped elsewhere. *ret_verified: it agreed with the kernel's clocks; false
 * where its writer is late just now, and the first call that it covers will compare.
 */
static int check_page(const struct vclock_page *shared, bool *ret_verified)
{
	struct vclock_page page;
	int r;

	r = page_copy(shared, &page);
	if (r == 0)
		r = page_check(&page);
	if (r == 0)
		r = check_identity(&page);
	if (r == 0 && page.generation == 0)
		r = -ENODATA;
	if (r == 0)
		r = check_age(&page);
	if (r != 0)
		return r;
	r = process_compare(shared,
			    VCLOCK_PAGE_CLOCKS & (~LIB_ALARM_CLOCKS | lib_kernel.alarm_clocks),
			    LIB_OPEN_TOLERANCE_NS);
	*ret_verified = r == 0;
	return r == -EAGAIN ? 0 : r;
}

static void use_page(const char *path, const struct stat *st, bool is_verified)
{
	lib_program.page_source = VCLOCK_PAGE_FILE;
	lib_program.page_dev = st->st_dev;
	lib_program.page_ino = st->st_ino;
	lib_program.is_compared = is_verified;
	reopen_allow(path);
	process_set_path(path != NULL ? path : "");
	process_change_end(is_verified);
}

/* waits: for those who are comparing the page that is there. */
static int open_checked(int fd, const char *path, bool waits)
{
	bool is_verified = false;
	struct stat st;
	void *scratch;
	int r;

	r = check_file(fd, &st);
	if (r != 0)
		return r;
	scratch = mmap(NULL, VCLOCK_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (scratch == MAP_FAILED)
		return -errno;
	r = check_page(scratch, &is_verified);
	munmap(scratch, VCLOCK_PAGE_SIZE);
	if (r != 0 || lib_program.route_limit != VCLOCK_ROUTE_PAGE)
		return r;
	if (waits)
		process_change_begin();
	else if (!process_change_try())
		return -EAGAIN;
	r = process_map(fd);
	if (r == 0)
		use_page(path, &st, is_verified);
	else
		process_change_end(false);
	return r;
}

int open_page_fd(int fd, const char *path)
{
	struct guard guard = guard_enter();
	int r = -EOPNOTSUPP;

	if (lib_program.wipes) {
		process_lock();
		r = open_checked(fd, path, true);
		process_unlock();
	}
	guard_leave(&guard);
	return r;
}

static int open_file(const char *path)
{
	return open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* A writer that comes back takes the same file over, and there is nothing to do. */
static bool is_in_window(int fd)
{
	struct stat st;

	return fstat(fd, &st) != 0 ||
	       (st.st_dev == lib_program.page_dev && st.st_ino == lib_program.page_ino);
}

void open_again(void)
{
	struct guard guard = guard_enter();
	int fd = open_file(lib_program.page_path);

	if (fd >= 0 && !is_in_window(fd))
		(void)open_checked(fd, lib_program.page_path, false);
	if (fd >= 0)
		close(fd);
	guard_leave(&guard);
}

int vclock_open(const char *path)
{
	struct guard guard = guard_enter();
	int fd, r;

	if (path == NULL)
		path = setup_getenv("VCLOCK_PAGE", lib_program.is_secure);
	if (path == NULL)
		path = DEFAULT_PATH;
	fd = open_file(path);
	r = fd < 0 ? -errno : open_page_fd(fd, path);
	if (fd >= 0)
		close(fd);
	guard_leave(&guard);
	return r;
}
