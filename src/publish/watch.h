/* SPDX-License-Identifier: MIT */
/*
 * watch.h - the trust table over time: whether a page may be published now.
 *
 * Asked before every step; reads the kernel's list of clocksources once in 250 ms. Pure but for
 * that.
 */
#ifndef WATCH_H
#define WATCH_H

#include "publish/trust.h"

enum watch_state {
	WATCH_FORBIDDEN = 0, /* the table says never: a running page has to end */
	WATCH_WAITING = 1,   /* not yet: sample, but publish nothing */
	WATCH_ALLOWED = 2
};

struct watch {
	const char *sysfs;  /* NULL: /sys */
	struct trust trust; /* as last read */
	uint64_t due_ns;    /* MONOTONIC at which the list is read next */
	uint64_t proven_ns; /* MONOTONIC at which counter and clock have agreed for long enough; 0:
			       not asked for */
	bool is_overridden; /* somebody said that the counter is to be trusted */
};

/* Reads the list for the first time. */
void watch_init(struct watch *watch, const char *sysfs, bool is_overridden, uint64_t now_ns);

/* now_ns: MONOTONIC. */
enum watch_state watch_check(struct watch *watch, uint64_t now_ns);

/* Counter and clock were seen to disagree at now_ns: proof starts anew. */
void watch_disagreed(struct watch *watch, uint64_t now_ns);

/* Whether the counter is the kernel's clocksource. */
bool watch_counter_is_clocksource(const struct watch *watch);

#endif /* WATCH_H */
