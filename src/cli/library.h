/* SPDX-License-Identifier: MIT */
/*
 * library.h - libvclock as a program sees it: the shared library where it lies beside the tool,
 * else the copy that the tool is linked with.
 *
 * Both have process state of their own. What is asked of a page must be asked of the same copy that
 * started its publisher: always go through one struct library.
 */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdbool.h>

#include "vclock.h"

struct library {
	const char *word; /* "so", or "lib" for the linked copy: for the names of rows */
	char *path;	  /* of the shared library; NULL for the linked copy */
	int (*gettime)(int32_t clk, struct vclock_timespec *ret_ts);
	int (*now)(struct vclock_timespec *ret_real, struct vclock_timespec *ret_mono);
	int (*gettimeofday)(struct vclock_timeval *ret_tv, struct vclock_timezone *ret_tz);
	int64_t (*time)(int64_t *ret_time);
	int (*getcpu)(unsigned *ret_cpu, unsigned *ret_node);
	uint64_t (*unordered_ns)(void);
	/* By clock id; NULL where there is no function of that clock's own. */
	int (*own[VCLOCK_BASES])(struct vclock_timespec *ret_ts);
	uint64_t (*own_ns[VCLOCK_BASES])(void);
	const volatile uint32_t *(*pid_word)(void);
	int32_t (*getpid_slow)(void);
	const struct vclock_page *(*page)(void);
	int (*publisher_start)(const struct vclock_publisher_options *options);
	void (*publisher_stop)(void);
	int (*status)(struct vclock_status *ret_status);
};

/* The shared library in the tool's own folder, or in the one above; else the linked copy. Never
 * fails. */
void library_open(struct library *ret_library);

/*
 * A second, separate instance of the shared library, limited to the kernel's vDSO by VCLOCK_ROUTE.
 * False: there is none, or it cannot be loaded twice here. Not thread-safe: changes the
 * environment for a moment.
 */
bool library_open_limited(const struct library *library, struct library *ret_limited);

#endif /* LIBRARY_H */
