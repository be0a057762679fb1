/* SPDX-License-Identifier: MIT */
/*
 * support_check.h - runs the suites of src/check in a test, and keeps their rows.
 */
#ifndef SUPPORT_CHECK_H
#define SUPPORT_CHECK_H

#include "check/check.h"
#include "support_lib.h"

struct support_rows {
	unsigned count, failed, unsteady, impossible;
	uint64_t least_reads; /* of any row */
	struct check_result row[64];
};

/*
 * Runs one suite over subject for time_ns at most, until each row has `reads` (0: all the time),
 * and prints every row as a TAP comment. clocks: 0, or VCLOCK_BIT of those wanted. Made again, up
 * to seven times, where nothing was wrong but the share of reads that the page answered; what the
 * other rows said stays, and whatever else is wrong in any try is wrong.
 */
void support_run(const char *suite, const struct check_subject *subject, uint64_t time_ns,
		 uint64_t reads, uint32_t clocks, struct support_rows *ret_rows);

/* One try. */
void support_run_once(const char *suite, const struct check_subject *subject, uint64_t time_ns,
		      uint64_t reads, uint32_t clocks, struct support_rows *ret_rows);

/* The report function behind it, for a struct check_run of one's own; arg: struct support_rows. */
void support_keep_row(void *arg, const struct check_result *result);

/* All suites, with their share of time_ns, each as by support_run(). */
void support_run_all(const struct check_subject *subject, uint64_t time_ns,
		     struct support_rows *ret_rows);

/* A pass: something was judged, nothing was wrong, and not too much could not be judged. */
int support_passes(const struct support_rows *rows);

/*
 * Starts this process's publisher, also where the kernel does not trust the counter, with real-time
 * priority where that is allowed. interval_ns 0: the default. 0 or -errno.
 */
int support_start_publisher(uint32_t interval_ns);
/* The same, and lets it settle. */
int support_start_page(uint32_t interval_ns);

#endif /* SUPPORT_CHECK_H */
