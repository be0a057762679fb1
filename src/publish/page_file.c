/* SPDX-License-Identifier: MIT */
/*
 * page_file.c - see page_file.h. Must never remove a file that somebody else has put in PATH since.
 */
#include "publish/page_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SUFFIX_MAX 8

static void path_with(const struct page_file *file, const char *suffix,
		      char ret_path[PAGE_FILE_PATH_MAX + SUFFIX_MAX])
{
	snprintf(ret_path, PAGE_FILE_PATH_MAX + SUFFIX_MAX, "%s%s", file->path, suffix);
}

/*
 * A lock of the process, not of the open file: a forked child holds a copy of the descriptor, and
 * must not keep the next writer out when this one has died.
 */
static int take_lock(struct page_file *file)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char path[PAGE_FILE_PATH_MAX + SUFFIX_MAX];
	int r;

	path_with(file, ".lock", path);
	file->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (file->lock_fd < 0)
		return -errno;
	if (fcntl(file->lock_fd, F_SETLK, &lock) == 0)
		return 0;
	r = errno == EAGAIN || errno == EACCES ? -EBUSY : -errno;
	close(file->lock_fd);
	return r;
}

/* Written, not only sized: on a full file system this fails, and not the first store. */
static int fill(int fd)
{
	static const char zero[VCLOCK_PAGE_SIZE];
	ssize_t n = pwrite(fd, zero, sizeof(zero), 0);

	if (n != (ssize_t)sizeof(zero))
		return n < 0 ? -errno : -ENOSPC;
	return fchmod(fd, 0644) != 0 ? -errno : 0;
}

static int make_new(struct page_file *file)
{
	char path[PAGE_FILE_PATH_MAX + SUFFIX_MAX];
	int r;

	path_with(file, ".new", path);
	/* Of a writer that died before its first line. */
	unlink(path);
	file->fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (file->fd < 0)
		return -errno;
	r = fill(file->fd);
	if (r != 0) {
		unlink(path);
		close(file->fd);
		file->fd = -1;
	}
	return r;
}

static bool is_ours(const struct page_file *file, const char *path)
{
	struct stat own, found;

	return fstat(file->fd, &own) == 0 && lstat(path, &found) == 0 &&
	       own.st_dev == found.st_dev && own.st_ino == found.st_ino;
}

static int begin(struct page_file *file, const char *path)
{
	memset(file, 0, sizeof(*file));
	file->fd = -1;
	if (strlen(path) >= sizeof(file->path))
		return -ENAMETOOLONG;
	strcpy(file->path, path);
	return take_lock(file);
}

int page_file_create(struct page_file *file, const char *path)
{
	int r = begin(file, path);

	if (r != 0)
		return r;
	r = make_new(file);
	if (r != 0)
		close(file->lock_fd);
	return r;
}

/* The page that lies in PATH, when it can only have been written by a writer like this one. */
static bool open_old(struct page_file *file)
{
	struct stat st;

	file->fd = open(file->path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (file->fd < 0)
		return false;
	if (fstat(file->fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() &&
	    (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 && st.st_nlink == 1 &&
	    st.st_size == (off_t)VCLOCK_PAGE_SIZE) {
		file->is_shown = true;
		return true;
	}
	close(file->fd);
	file->fd = -1;
	return false;
}

int page_file_take(struct page_file *file, const char *path, bool *ret_is_old)
{
	int r = begin(file, path);

	if (r != 0)
		return r;
	*ret_is_old = open_old(file);
	if (*ret_is_old)
		return 0;
	r = make_new(file);
	if (r != 0)
		close(file->lock_fd);
	return r;
}

int page_file_renew(struct page_file *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->is_shown = false;
	return make_new(file);
}

bool page_file_is_ours(const struct page_file *file)
{
	return is_ours(file, file->path);
}

int page_file_holder(const char *path)
{
	struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
	char name[PAGE_FILE_PATH_MAX + SUFFIX_MAX];
	int fd, r;

	snprintf(name, sizeof(name), "%s.lock", path);
	fd = open(name, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return 0;
	r = fcntl(fd, F_GETLK, &lock);
	close(fd);
	return r == 0 && lock.l_type != F_UNLCK && lock.l_pid > 0 ? lock.l_pid : 0;
}

void page_file_release(struct page_file *file)
{
	if (!file->is_shown)
		page_file_remove(file);
	else if (file->fd >= 0) {
		close(file->fd);
		close(file->lock_fd);
	}
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

void page_file_remove(struct page_file *file)
{
	char path[PAGE_FILE_PATH_MAX + SUFFIX_MAX];

	path_with(file, file->is_shown ? "" : ".new", path);
	if (is_ours(file, path))
		unlink(path);
	close(file->fd);
	close(file->lock_fd);
}
