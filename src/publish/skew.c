/* SPDX-License-Identifier: MIT */
/*
 * skew.c - see skew.h. Can only refuse a counter, never prove one: two CPUs that are off by less
 * than a clock read takes look the same.
 */
#include "publish/skew.h"

#include <errno.h>
#include <sched.h>
#include <stddef.h>
#include <time.h>

#include "vclock/counter.h"
#include "vclock/page.h"

#define TRIES 5

static uint64_t mono_ns(void)
{
	struct timespec ts = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * VCLOCK_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/* How far outside of two kernel reads around it this CPU's counter is, at its best of a few tries.
 */
static uint64_t here_ns(const struct keeper_line *line)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES && best != 0; i++) {
		uint64_t before = mono_ns();
		uint64_t here = keeper_line_ns(line, vclock_counter_ordered());
		uint64_t after = mono_ns(), off = 0;

		if (here + 1 < before)
			off = before - here - 1;
		else if (here > after + 1)
			off = here - after - 1;
		if (off < best)
			best = off;
	}
	return best;
}

int skew_measure(const struct keeper_line *line, uint64_t *ret_skew_ns)
{
	cpu_set_t home, one;
	uint64_t worst = 0, off;
	int cpu, r = 0;

	if (sched_getaffinity(0, sizeof(home), &home) != 0)
		return -errno;
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &home))
			continue;
		CPU_ZERO(&one);
		CPU_SET(cpu, &one);
		if (sched_setaffinity(0, sizeof(one), &one) != 0)
			continue; /* went off-line just now */
		off = here_ns(line);
		if (off > worst)
			worst = off;
	}
	if (sched_setaffinity(0, sizeof(home), &home) != 0)
		r = -errno;
	if (r == 0)
		*ret_skew_ns = worst;
	return r;
}
