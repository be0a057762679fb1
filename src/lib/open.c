/* SPDX-License-Identifier: MIT */
/*
 * open.c - vclock_open(): from a page's file to the window.
 *
 * Nothing reaches the window before publish/page_judge.h has found it good. Must never wait: it
 * runs in a constructor, and the file may be what a dead writer left behind.
 */
#include "lib/open.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/guard.h"
#include "lib/kernel.h"
#include "lib/reopen.h"
#include "lib/setup.h"
#include "publish/page_judge.h"

#define DEFAULT_PATH "/run/vclock/page"

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
	int r;

	r = page_judge_file(fd, &st);
	if (r == 0)
		r = page_judge(fd, !lib_program.counter_forbidden,
			       VCLOCK_PAGE_CLOCKS & (~LIB_ALARM_CLOCKS | lib_kernel.alarm_clocks),
			       kernel_gettime, &is_verified);
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
