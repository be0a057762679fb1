/* SPDX-License-Identifier: MIT */
/*
 * page_check.h - whether the fields of a page are in range.
 */
#ifndef PAGE_CHECK_H
#define PAGE_CHECK_H

#include "vclock/page.h"

/*
 * page: a copy that nobody writes to, of which the live slot was whole when it was taken. The other
 * slot, and the history entry that the next update may overwrite, may be half written and are not
 * looked at. Never published (generation 0) and retired pages pass. Pure.
 *   0         what a reader may use is in range: its arithmetic is exact and short
 *   -EINVAL   not a page, or a field out of range
 *   -EPROTO   another version
 */
int page_check(const struct vclock_page *page);

/* A field that is out of range, for people: "multiplier", 0. */
struct page_fault {
	const char *field;
	int64_t value; /* the nearest there is, where it does not fit */
};

/* As page_check(); *ret_fault is set with -EINVAL. The magic is the first field looked at, the
 * version the second: the others mean something only in a page of this version. */
int page_check_fault(const struct vclock_page *page, struct page_fault *ret_fault);

/* Copies the page at shared under the reader's protocol, to check it. 0; -EAGAIN: updates kept
 * coming in between, which a writer of this kind never does. */
int page_copy(const struct vclock_page *shared, struct vclock_page *ret_page);

#endif /* PAGE_CHECK_H */
