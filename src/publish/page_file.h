/* SPDX-License-Identifier: MIT */
/*
 * page_file.h - the file in which other processes find a page, and who may write it.
 *
 * The page is the file's own first 4096 bytes, in shared memory from the start. Until the first
 * line is published it goes by PATH.new, so that PATH is always a page that a reader can use, or
 * one whose writer is gone. PATH.lock stays for ever; who holds its lock is the writer. The page is
 * locked too, so that nobody who takes it over can be a second writer.
 */
#ifndef PAGE_FILE_H
#define PAGE_FILE_H

#include <stdbool.h>
#include <sys/types.h>

#include "vclock/page.h"

#define PAGE_FILE_PATH_MAX 1024

struct page_file {
	char path[PAGE_FILE_PATH_MAX];
	int lock_fd; /* -1: there is none just now */
	int fd;	     /* of the page, readable and writable; -1: there is none */
	bool is_shown;
	uid_t owner;	   /* of the page, as it was made or found */
	const char *fault; /* what of PATH the last error is about: "", ".lock", ".new" */
};

/*
 * Takes the lock and makes PATH.new, zero, mode 0644 whatever the umask. 0; -EBUSY: another process
 * writes this page; -EINVAL: PATH is empty; -EISDIR: it can only be a folder's name, or a folder is
 * there; -ENAMETOOLONG; -EEXIST: in PATH is something that is no page, or in PATH.lock or PATH.new
 * what is no regular file, which stays; -EFBIG: this process may not have a file of that size;
 * -errno of the file system. Nothing but PATH.lock is left behind on failure, and not that either
 * where no file can be in PATH, or something that is no page is.
 */
int page_file_create(struct page_file *file, const char *path);

/*
 * As page_file_create(), but a page that an earlier writer left in PATH is opened instead, and
 * *ret_is_old set, where it is a regular file of this user's that nobody else may write. Whether
 * its contents are worth keeping is the caller's to see; page_file_renew() makes a new one.
 */
int page_file_take(struct page_file *file, const char *path, bool *ret_is_old);

/* Makes PATH.new in the place of file->fd, which is closed. 0 or -errno: file->fd is -1 then. */
int page_file_renew(struct page_file *file);

/* Whether PATH still is the page that was shown. */
bool page_file_is_ours(const struct page_file *file);

/*
 * Whether somebody else may have opened the page for writing: its owner or its mode was changed.
 * Who may only read it, or no longer may, is not looked at.
 */
bool page_file_is_exposed(const struct page_file *file);

/*
 * Whether PATH.lock still is the file whose lock we hold; a new one is made and locked where it is
 * gone. 0; -EBUSY: another process holds the lock now, and this one is no writer any more; -errno:
 * there can be no lock file just now.
 */
int page_file_keep_lock(struct page_file *file);

/* Another process that holds the lock of path, or of the page in it; 0: none, or it cannot be told.
 */
int page_file_holder(const char *path);

/* Lets the lock go. The page, if it was shown, stays for the next writer. */
void page_file_release(struct page_file *file);

/* Moves the page to its place; nothing to do when it is there. 0 or -errno. */
int page_file_show(struct page_file *file);

/* Removes what page_file_create() made, as far as it is still there, and lets the lock go. */
void page_file_remove(struct page_file *file);

#endif /* PAGE_FILE_H */
