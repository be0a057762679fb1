/* SPDX-License-Identifier: MIT */
/*
 * measure_timer.c - see measure_timer.h.
 */
#include "measure/measure_timer.h"

#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "measure/rawcall.h"
#include "vclock/counter.h"
#include "vclock/page.h"

static uint64_t read_counter(void *arg)
{
	(void)arg;
	return vclock_counter_ordered();
}

static uint64_t read_raw(void *arg)
{
	(void)arg;
	return measure_raw_ns();
}

uint64_t measure_raw_ns(void)
{
	struct vclock_timespec ts;

	/* Not through libc: where the counter is forbidden its vDSO would be a SIGSEGV too. */
	if (syscall(RAWCALL_CLOCK_GETTIME, CLOCK_MONOTONIC_RAW, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

bool measure_counter_is_readable(void)
{
	int mode = PR_TSC_ENABLE;

	/* Kernels that do not know the call for this architecture never forbid the counter. */
	return prctl(PR_GET_TSC, &mode) != 0 || mode == PR_TSC_ENABLE;
}

const struct measure_timer *measure_timer_best(void)
{
	static const struct measure_timer counter = {
		.read = read_counter, .is_counter = true, .name = "counter"};
	static const struct measure_timer raw = {
		.read = read_raw, .ns_per_tick = 1, .name = "CLOCK_MONOTONIC_RAW"};

	return measure_counter_is_readable() ? &counter : &raw;
}
