/* SPDX-License-Identifier: MIT */
/*
 * open.h - from a page's file to the window.
 */
#ifndef LIB_OPEN_H
#define LIB_OPEN_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/*
 * vclock_open() for a descriptor, which stays the caller's: a passed memfd has no path of its own.
 * path: for vclock_status() only. Takes the lock.
 */
int open_page_fd(int fd, const char *path);

/*
 * Looks whether another file has taken the place of the one in the window, and takes that if it
 * passes. lib_process.lock is held. Waits for nobody; needs some 10 KiB of stack.
 */
void open_again(void);

#pragma GCC visibility pop

#endif /* LIB_OPEN_H */
