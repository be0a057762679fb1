/* SPDX-License-Identifier: MIT */
/*
 * page_words.h - a page file and what is wrong with it, in words: for `vclock info` and `vclock
 * page`.
 */
#ifndef PAGE_WORDS_H
#define PAGE_WORDS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "vclock.h"

/* $VCLOCK_PAGE, or the default. */
const char *page_words_path(void);

/*
 * Reads up to a page, of which the live slot is whole where the writer keeps to the protocol. How
 * many bytes: 0 also for what is no regular file; or -errno. The rest of *ret_page is untouched.
 */
ssize_t page_words_read(const char *path, struct vclock_page *ret_page);

/* What is wrong with the first n bytes of a page; NULL: every field is in range. For free(). */
char *page_words_fault(const struct vclock_page *page, ssize_t n);

enum page_same { PAGE_UNKNOWN, PAGE_SAME, PAGE_OTHER };

/* Whether the page is of this boot; unknown: it, or /proc, does not tell. */
enum page_same page_words_boot(const struct vclock_page *page);

/* What vclock_open() returned, as in <vclock.h>. */
const char *page_words_error(int error);

/* The same of a page that could be read, which tells more. */
const char *page_words_refusal(const struct vclock_page *page, int error);

/* Whether it is the page that is wrong: waiting does not cure it. */
bool page_words_is_wrong(int error);

const char *page_words_counter(uint32_t kind);

#endif /* PAGE_WORDS_H */
