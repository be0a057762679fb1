/* SPDX-License-Identifier: MIT */
/*
 * measure_timer.h - what batches are timed with. A test brings a clock of its own.
 */
#ifndef MEASURE_TIMER_H
#define MEASURE_TIMER_H

#include <stdbool.h>
#include <stdint.h>

struct measure_timer {
	uint64_t (*read)(void *arg);
	void *arg;
	double ns_per_tick; /* 0: compared with CLOCK_MONOTONIC_RAW over the whole run */
	bool is_counter;    /* ticks are the counter's cycles */
	const char *name;
};

/* Whether this process may read the counter: the kernel can forbid it (prctl PR_SET_TSC), and a
 * read would then be a SIGSEGV. */
bool measure_counter_is_readable(void);

/* The counter where it is readable, ordered, else CLOCK_MONOTONIC_RAW. Static, never freed. */
const struct measure_timer *measure_timer_best(void);

/* CLOCK_MONOTONIC_RAW in ns; 0 where even that is refused. */
uint64_t measure_raw_ns(void);

#endif /* MEASURE_TIMER_H */
