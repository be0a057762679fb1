/* SPDX-License-Identifier: MIT */
/*
 * measure_stats.h - from samples to the figures that a table shows. Pure arithmetic.
 */
#ifndef MEASURE_STATS_H
#define MEASURE_STATS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The ticks of one candidate's batches, in the order they were taken. */
struct measure_samples {
	uint64_t *ticks;
	size_t count;
	uint32_t calls;	   /* in each batch; not 0 */
	uint32_t negative; /* batches that seemed to end before they began: not among the ticks */
};

struct measure_result {
	/* Per call, the empty loop's minimum taken out; may come out a little below zero. */
	double min_ns;
	double median_ns;
	double p99_ns;
	double min_cyc;	    /* of the counter; 0 where another clock timed it */
	double *sorted_ns;  /* every sample, rising; NULL without any; belongs to the result */
	double *ordered_ns; /* the same, in the order they were taken; thread after thread */
	size_t rounds;	    /* samples behind the figures; 0: all figures are 0 */
	uint32_t calls;
	uint32_t negative;
	/*
	 * The compiler took the loop away: even with its overhead it took less than half of the
	 * empty loop's time a call. Such a figure says nothing about what was to be measured.
	 */
	bool is_gone;
};

/* How ticks become figures. loop_ticks: the empty loop's minimum per call. */
struct measure_scale {
	double ns_per_tick;
	double loop_ticks;
	bool ticks_are_cycles;
};

/* Nearest rank: the smallest value that at least permille/1000 of them do not exceed. Values rise;
 * count is not 0; permille is 0 .. 1000. */
double measure_percentile(const double *sorted, size_t count, unsigned permille);

/* The smallest sample, in ticks per call. 0 without samples. */
double measure_fastest(const struct measure_samples *samples);

/* Fills *ret_result. 0, or -ENOMEM, and *ret_result is untouched then. */
int measure_summarise(const struct measure_samples *samples, const struct measure_scale *scale,
		      struct measure_result *ret_result);

void measure_result_free(struct measure_result *result);

#endif /* MEASURE_STATS_H */
