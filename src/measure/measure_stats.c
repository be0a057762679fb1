/* SPDX-License-Identifier: MIT */
/*
 * measure_stats.c - see measure_stats.h. Reads no clock and knows no subject.
 */
#include "measure/measure_stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Below this part of the empty loop's time no loop can have run: the empty one is one jump. */
#define GONE_PART 0.5

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

double measure_percentile(const double *sorted, size_t count, unsigned permille)
{
	size_t rank = (count * permille + 999) / 1000;

	return sorted[rank == 0 ? 0 : rank - 1];
}

double measure_fastest(const struct measure_samples *samples)
{
	uint64_t fastest = UINT64_MAX;
	size_t i;

	for (i = 0; i < samples->count; i++) {
		if (samples->ticks[i] < fastest)
			fastest = samples->ticks[i];
	}
	return samples->count == 0 ? 0 : (double)fastest / samples->calls;
}

int measure_summarise(const struct measure_samples *samples, const struct measure_scale *scale,
		      struct measure_result *ret_result)
{
	struct measure_result result = {.calls = samples->calls, .negative = samples->negative};
	double fastest = measure_fastest(samples);
	double *ns;
	size_t i, n = samples->count;

	if (n == 0) {
		*ret_result = result;
		return 0;
	}
	ns = malloc(2 * n * sizeof(*ns));
	if (ns == NULL)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		ns[n + i] = ((double)samples->ticks[i] / samples->calls - scale->loop_ticks) *
			    scale->ns_per_tick;
	memcpy(ns, ns + n, n * sizeof(*ns));
	qsort(ns, n, sizeof(*ns), compare);
	result.min_ns = ns[0];
	result.median_ns = measure_percentile(ns, n, 500);
	result.p99_ns = measure_percentile(ns, n, 990);
	result.min_cyc = scale->ticks_are_cycles ? fastest - scale->loop_ticks : 0;
	result.sorted_ns = ns;
	result.ordered_ns = ns + n;
	result.rounds = n;
	result.is_gone = fastest < scale->loop_ticks * GONE_PART;
	*ret_result = result;
	return 0;
}

void measure_result_free(struct measure_result *result)
{
	free(result->sorted_ns);
	memset(result, 0, sizeof(*result));
}
