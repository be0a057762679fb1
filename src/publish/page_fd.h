/* SPDX-License-Identifier: MIT */
/*
 * page_fd.h - a descriptor that a page can be kept behind.
 *
 * A page is written through memory, and its descriptor stays open. At 0, 1 or 2, in a program that
 * was started with one of these closed, it would be what the program prints to.
 */
#ifndef PAGE_FD_H
#define PAGE_FD_H

#include <stddef.h>

/* fd, or a copy of it above 2 and closed on exec, fd being closed then. -errno: fd is closed. A
 * negative fd stands for errno. */
int page_fd_keep(int fd);

/* Whether a file of this process may have so many bytes: 0 or -EFBIG. Asked before the file is made
 * so long, since the kernel sends SIGXFSZ then. */
int page_fd_allows(size_t bytes);

#endif /* PAGE_FD_H */
