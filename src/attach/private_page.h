/* SPDX-License-Identifier: MIT */
/*
 * private_page.h - the memory that a program under `vclock run` gets: a time page and its process
 * page, in one sealed memfd; and the loop that keeps the page while the program lives.
 */
#ifndef PRIVATE_PAGE_H
#define PRIVATE_PAGE_H

#include <stdbool.h>
#include <sys/types.h>

#include "image/process_page.h"
#include "vclock/page.h"

struct private_page {
	int fd; /* mode 0444; nobody who gets it can change its size or map it writable */
	struct vclock_page *page;     /* writable */
	struct process_page *process; /* writable */
};

/* 0 or -errno; nothing is left behind on failure. */
int private_page_open(struct private_page *ret_page);
/* The same in a file of two units that the caller made; fd is the page's from now on. */
int private_page_adopt(int fd, struct private_page *ret_page);
void private_page_close(struct private_page *page);

/* NULL, or why no page may be kept here, in plain words. Reads sysfs. Static text, until the next
 * call. */
const char *private_page_refusal(bool trusts_counter);

/*
 * Keeps the page until the process behind pidfd ends, then retires it. Returns at once where the
 * kernel does not trust the counter and trusts_counter is not set. Never touches anything else.
 */
void private_page_keep(const struct private_page *page, int pidfd, bool trusts_counter);

#endif /* PRIVATE_PAGE_H */
