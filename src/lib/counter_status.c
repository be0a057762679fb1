/* SPDX-License-Identifier: MIT */
/*
 * counter_status.c - what the counter of this machine is worth.
 */
#include <string.h>

#include "lib/guard.h"
#include "lib/kernel.h"
#include "publish/trust.h"
#include "vclock/counter.h"

/* The reads at both ends are some 100 ns wide: 10^-5 of this. */
#define MEASURE_NS 10000000

static bool read_both(uint64_t *ret_cyc, uint64_t *ret_ns)
{
	struct vclock_timespec ts;
	uint64_t before = vclock_counter_ordered(), after;

	if (kernel_gettime(VCLOCK_MONOTONIC_RAW, &ts) != 0)
		return false;
	after = vclock_counter_ordered();
	*ret_cyc = before + (after - before) / 2;
	*ret_ns = (uint64_t)ts.tv_sec * VCLOCK_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
	return true;
}

/* To some 10 ppm; 0 where it cannot be told. */
static uint64_t measure_hz(void)
{
	long pause[2] = {0, MEASURE_NS};
	uint64_t cyc0, ns0, cyc1, ns1;

	if (!read_both(&cyc0, &ns0))
		return 0;
	(void)raw_syscall2(SYS_nanosleep, (long)pause, 0);
	if (!read_both(&cyc1, &ns1) || ns1 - ns0 < MEASURE_NS / 10 || ns1 <= ns0)
		return 0;
	/* Per microsecond first: the product then fits for hours, however long the sleep was. */
	return (cyc1 - cyc0) * 1000 / ((ns1 - ns0) / 1000) * 1000;
}

int vclock_counter_status(const char *sysfs, struct vclock_counter_status *ret_status)
{
	struct vclock_counter_status status = {.size = sizeof(status)};
	struct guard guard;
	struct trust trust;

	if (ret_status->size > sizeof(status))
		return -E2BIG;
	if (ret_status->size < sizeof(status))
		return -EINVAL;
	guard = guard_enter();
	trust_read(sysfs, &trust);
	status.kind = VCLOCK_COUNTER_KIND;
	status.trust = trust.verdict;
	status.is_readable = lib_program.is_set_up && !lib_program.counter_forbidden;
	status.is_invariant = status.is_readable && raw_counter_is_invariant();
	if (status.is_readable)
		status.hz = measure_hz();
	memcpy(status.current, trust.current, sizeof(status.current));
	memcpy(status.available, trust.available, sizeof(status.available));
	strncpy(status.reason, trust.reason, sizeof(status.reason) - 1);
	*ret_status = status;
	guard_leave(&guard);
	return 0;
}
