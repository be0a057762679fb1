/* SPDX-License-Identifier: MIT */
/*
 * page_view.h - the parts of `vclock page`: one look at a page, and how it is shown.
 */
#ifndef PAGE_VIEW_H
#define PAGE_VIEW_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "cli/clocks.h"
#include "cli/page_words.h"
#include "vclock.h"

struct page_clock {
	const struct clock_name *name; /* NULL ends a shorter list */
	struct vclock_timespec base;   /* where the line starts */
	bool has_now;
	struct vclock_timespec now;
	bool has_kernel; /* a read of the page stood between two of the kernel's */
	int64_t low_ns;	 /* page - kernel is this at least, */
	int64_t high_ns; /* and this at the most */
	uint64_t at_ns;	 /* the kernel's clock then */
};

struct page_view {
	const char *path;
	struct vclock_page page; /* a copy */
	ssize_t bytes;		 /* of it that could be read, or -errno */
	bool has_fields;	 /* it is a page of this version; the rest is of its fields */
	int error;		 /* of vclock_open(); 0: readers use it */
	bool is_wrong;		 /* not a page that may ever be used */
	char *verdict;		 /* one line */
	enum page_same boot, timens;
	bool is_sane; /* all fields are in range; what follows is only set then */
	const struct vclock_slot *slot;
	const struct vclock_line *line; /* the one that covers now, else the first of the slot */
	bool may_count;			/* this process can read the page's counter */
	bool has_age;
	uint64_t age_ns; /* since the last update */
	int64_t raw_ppb; /* rate of the line's MONOTONIC against its MONOTONIC_RAW */
	bool has_rate;
	double rate_ppb, rate_within_ppb; /* the page's MONOTONIC against the kernel's */
	struct page_clock clock[CLOCK_NAMES];
};

/* One look. Never waits. */
void page_view_take(const char *path, struct page_view *ret_view);

/* Judges view's rate by an earlier look at the same page. */
void page_view_rate(const struct page_view *earlier, struct page_view *view);

/* Frees what a look has allocated. */
void page_view_drop(struct page_view *view);

void page_print_text(const struct page_view *view);
void page_print_json(const struct page_view *view);

#endif /* PAGE_VIEW_H */
