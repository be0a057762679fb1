/* SPDX-License-Identifier: MIT */
/*
 * page_file.c - see page_file.h. Must never remove a file that somebody else has put in PATH since.
 */
#include "publish/page_file.h"

#include "publish/page_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX_MAX 8
#define LOCK_TRIES 8

static const char zero[VCLOCK_PAGE_SIZE];

static void path_with(const struct page_file *file, const char *suffix,
		      char ret_path[PAGE_FILE_PATH_MAX + SUFFIX_MAX])
{
	snprintf(ret_path, PAGE_FILE_PATH_MAX + SUFFIX_MAX, "%s%s", file->path, suffix);
}

static bool is_at(int fd, const char *path)
{
	struct stat own, found;

	return fstat(fd, &own) == 0 && lstat(path, &found) == 0 && own.st_dev == found.st_dev &&
	       own.st_ino == found.st_ino;
}

/* Only owner, and root, may write it, or let others do so. */
static bool is_private(const struct stat *st, uid_t owner)
{
	return st->st_uid == owner && (st->st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/*
 * A lock of the process, not of the open file: a forked child holds a copy of the descriptor, and
 * must not keep the next writer out when this one has died.
 */
static int lock_whole(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (fcntl(fd, F_SETLK, &lock) == 0)
		return 0;
	return errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
}

/* What is there already has to be a regular file: others can be locked, too, by whom nobody sees.
 */
static int open_lock(struct page_file *file, const char *path)
{
	struct stat st;
	int r = 0;

	if (lstat(path, &st) == 0) {
		file->fault = ".lock";
		if (!S_ISREG(st.st_mode))
			r = S_ISDIR(st.st_mode) ? -EISDIR : S_ISLNK(st.st_mode) ? -ELOOP : -EEXIST;
	}
	if (r == 0)
		r = page_fd_keep(open(
			path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY,
			0600));
	file->lock_fd = r < 0 ? -1 : r;
	if (r >= 0)
		file->fault = "";
	return r < 0 ? r : 0;
}

/* Whoever locks a file that somebody has just removed holds nothing. */
static int take_lock(struct page_file *file)
{
	char path[PAGE_FILE_PATH_MAX + SUFFIX_MAX];
	int r = -EBUSY, i;

	path_with(file, ".lock", path);
	for (i = 0; i < LOCK_TRIES; i++) {
		r = open_lock(file, path);
		if (r != 0)
			return r;
		r = lock_whole(file->lock_fd);
		if (r == 0 && is_at(file->lock_fd, path))
			return 0;
		close(file->lock_fd);
		file->lock_fd = -1;
		if (r != 0)
			return r;
	}
	return -EBUSY;
}

/*
 * The page itself is locked as well: somebody may remove the lock file. A lock for writing takes a
 * descriptor for writing, so that a reader cannot keep a writer out; locks for reading of theirs
 * are nothing to us.
 */
static int lock_page(int fd)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};

	if (lock_whole(fd) == 0)
		return 0;
	return fcntl(fd, F_GETLK, &lock) == 0 && lock.l_type == F_WRLCK ? -EBUSY : 0;
}

/* Written, not only sized: on a full file system this fails, and not the first store. */
static int fill(struct page_file *file)
{
	ssize_t n = pwrite(file->fd, zero, sizeof(zero), 0);
	struct stat st;

	if (n != (ssize_t)sizeof(zero))
		return n < 0 ? -errno : -ENOSPC;
	if (fchmod(file->fd, 0644) != 0 || fstat(file->fd, &st) != 0)
		return -errno;
	file->owner = st.st_uid;
	return 0;
}

static int make_new(struct page_file *file)
{
	char path[PAGE_FILE_PATH_MAX + SUFFIX_MAX];
	int r;

	path_with(file, ".new", path);
	/* Of a writer that died before its first line. */
	unlink(path);
	file->fd = page_fd_keep(open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	if (file->fd < 0) {
		r = file->fd;
		file->fd = -1;
		file->fault = r == -EEXIST ? ".new" : "";
		return r;
	}
	r = fill(file);
	if (r == 0)
		r = lock_page(file->fd);
	if (r != 0) {
		unlink(path);
		close(file->fd);
		file->fd = -1;
	}
	return r;
}

/*
 * Whether PATH may be replaced: there is nothing, or a page, of whatever version, or an empty file,
 * or zeros in a page's size, as a file system may leave of a page when the power fails. What else
 * stands there was put there by a mistake in PATH, and is not ours to remove. 0, -EEXIST, -EISDIR.
 */
static int may_replace(const char *path)
{
	struct vclock_page page;
	struct stat st;
	ssize_t n;
	int fd;

	if (lstat(path, &st) != 0)
		return errno == ENOENT ? 0 : -errno;
	/* The link is replaced, never what it names. */
	if (S_ISLNK(st.st_mode))
		return 0;
	if (!S_ISREG(st.st_mode))
		return S_ISDIR(st.st_mode) ? -EISDIR : -EEXIST;
	if (st.st_size == 0)
		return 0;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -errno;
	n = pread(fd, &page, sizeof(page), 0);
	close(fd);
	if (n >= (ssize_t)sizeof(page.magic) && page.magic == VCLOCK_PAGE_MAGIC)
		return 0;
	return n == (ssize_t)sizeof(page) && st.st_size == n &&
			       memcmp(&page, zero, sizeof(page)) == 0
		       ? 0
		       : -EEXIST;
}

/* Whether a file can have this name. */
static int check_path(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;

	if (*path == '\0')
		return -EINVAL;
	if (strlen(path) >= PAGE_FILE_PATH_MAX)
		return -ENAMETOOLONG;
	return *name == '\0' || strcmp(name, ".") == 0 || strcmp(name, "..") == 0 ? -EISDIR : 0;
}

static int begin(struct page_file *file, const char *path)
{
	int r = page_fd_allows(VCLOCK_PAGE_SIZE);

	memset(file, 0, sizeof(*file));
	file->fd = -1;
	file->lock_fd = -1;
	file->fault = "";
	if (r == 0)
		r = check_path(path);
	/* Before a lock is made beside what is no page; it is looked at again under the lock. */
	if (r == 0)
		r = may_replace(path);
	if (r != 0)
		return r;
	strcpy(file->path, path);
	return take_lock(file);
}

int page_file_create(struct page_file *file, const char *path)
{
	int r = begin(file, path);

	if (r != 0)
		return r;
	r = may_replace(path);
	if (r == 0)
		r = make_new(file);
	if (r != 0)
		close(file->lock_fd);
	return r;
}

/*
 * The page that lies in PATH, when it can only have been written by a writer like this one. 0;
 * -ENOENT: nothing of the kind; -EBUSY: its writer lives.
 */
static int open_old(struct page_file *file)
{
	struct stat st;
	int r = -ENOENT;

	file->fd = page_fd_keep(
		open(file->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
	if (file->fd < 0) {
		file->fd = -1;
		return -ENOENT;
	}
	if (fstat(file->fd, &st) == 0 && S_ISREG(st.st_mode) && is_private(&st, geteuid()) &&
	    st.st_nlink == 1 && st.st_size == (off_t)VCLOCK_PAGE_SIZE)
		r = lock_page(file->fd);
	if (r == 0) {
		file->owner = st.st_uid;
		file->is_shown = true;
		return 0;
	}
	close(file->fd);
	file->fd = -1;
	return r;
}

int page_file_take(struct page_file *file, const char *path, bool *ret_is_old)
{
	int r = begin(file, path);

	if (r != 0)
		return r;
	r = open_old(file);
	*ret_is_old = r == 0;
	if (r == -ENOENT)
		r = may_replace(path);
	if (r == 0 && !*ret_is_old)
		r = make_new(file);
	if (r != 0)
		close(file->lock_fd);
	return r;
}

int page_file_renew(struct page_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
	file->is_shown = false;
	return make_new(file);
}

bool page_file_is_ours(const struct page_file *file)
{
	return file->fd >= 0 && is_at(file->fd, file->path);
}

bool page_file_is_exposed(const struct page_file *file)
{
	struct stat st;

	return file->fd >= 0 && fstat(file->fd, &st) == 0 && !is_private(&st, file->owner);
}

int page_file_keep_lock(struct page_file *file)
{
	char path[PAGE_FILE_PATH_MAX + SUFFIX_MAX];

	path_with(file, ".lock", path);
	if (file->lock_fd >= 0) {
		if (is_at(file->lock_fd, path))
			return 0;
		close(file->lock_fd);
	}
	return take_lock(file);
}

/* A second lock of the same process is no conflict: holders are others. */
static int holder_of(const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	int fd, r;

	fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return 0;
	r = fcntl(fd, F_GETLK, &lock);
	close(fd);
	return r == 0 && lock.l_type == F_WRLCK && lock.l_pid > 0 ? lock.l_pid : 0;
}

int page_file_holder(const char *path)
{
	char name[PAGE_FILE_PATH_MAX + SUFFIX_MAX];
	int pid;

	snprintf(name, sizeof(name), "%s.lock", path);
	pid = holder_of(name);
	return pid != 0 ? pid : holder_of(path);
}

int page_file_show(struct page_file *file)
{
	char path[PAGE_FILE_PATH_MAX + SUFFIX_MAX];

	if (file->is_shown)
		return 0;
	path_with(file, ".new", path);
	if (rename(path, file->path) != 0)
		return -errno;
	file->is_shown = true;
	return 0;
}

static void close_both(struct page_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	if (file->lock_fd >= 0)
		close(file->lock_fd);
	file->fd = -1;
	file->lock_fd = -1;
}

void page_file_remove(struct page_file *file)
{
	char path[PAGE_FILE_PATH_MAX + SUFFIX_MAX];

	path_with(file, file->is_shown ? "" : ".new", path);
	if (file->fd >= 0 && is_at(file->fd, path))
		unlink(path);
	close_both(file);
}

void page_file_release(struct page_file *file)
{
	if (file->is_shown)
		close_both(file);
	else
		page_file_remove(file);
}
