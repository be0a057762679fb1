/* SPDX-License-Identifier: MIT */
/*
 * stamp.c - stamps: a counter value now, a time later.
 */
#include "lib/kernel.h"
#include "lib/miss.h"
#include "vclock/counter.h"
#include "vclock/read.h"

/* Marks a stamp that is MONOTONIC in ns instead of the counter. Neither reaches 2^63 in 100 years
 * of a 2.9 GHz counter. */
#define STAMP_IS_NS (UINT64_C(1) << 63)

static LIB_COLD uint64_t stamp_slow(void)
{
	if (lib_process.state == LIB_NEW)
		process_check();
	/* Not decided yet, or the page does not answer just now: a stamp of the counter could never
	 * be converted where the page turns out to be no page of this process's. */
	if (lib_process.page_clocks != 0)
		return vclock_counter_ordered();
	return miss_ns(VCLOCK_MONOTONIC) | STAMP_IS_NS;
}

uint64_t vclock_stamp(void)
{
	if (VCLOCK_LIKELY(VCLOCK_LOAD32(&lib_process.page_clocks) != 0))
		return vclock_counter_ordered();
	return stamp_slow();
}

static bool clock_ns(uint32_t clk, uint64_t *ret_ns)
{
	struct vclock_timespec ts;

	if (kernel_gettime((int32_t)clk, &ts) != 0)
		return false;
	*ret_ns = (uint64_t)ts.tv_sec * VCLOCK_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
	return true;
}

/* clk - MONOTONIC now, from the tightest of a few brackets. */
static int present_offset(uint32_t clk, uint64_t *ret_offset)
{
	uint64_t before, ns, after, best = UINT64_MAX;
	int i;

	for (i = 0; i < 5; i++) {
		if (!clock_ns(VCLOCK_MONOTONIC, &before) || !clock_ns(clk, &ns) ||
		    !clock_ns(VCLOCK_MONOTONIC, &after))
			return -ERANGE;
		if (after - before < best) {
			best = after - before;
			*ret_offset = ns - (before + best / 2);
		}
	}
	return 0;
}

static int from_monotonic(uint64_t mono, uint32_t clk, uint64_t *ret_ns)
{
	uint64_t offset = 0;
	int r = 0;

	/* Its rate is another one. */
	if (clk == VCLOCK_MONOTONIC_RAW)
		return -ERANGE;
	if (clk != VCLOCK_MONOTONIC)
		r = present_offset(clk, &offset);
	if (r == 0)
		*ret_ns = mono + offset;
	return r;
}

int vclock_stamp_ns(uint64_t stamp, int32_t clk, uint64_t *ret_ns)
{
	if ((uint32_t)clk >= VCLOCK_BASES || (VCLOCK_BIT((uint32_t)clk) & VCLOCK_PAGE_CLOCKS) == 0)
		return -EINVAL;
	if ((LIB_ALARM_CLOCKS & ~lib_kernel.alarm_clocks & VCLOCK_BIT((uint32_t)clk)) != 0)
		return -EINVAL;
	if ((stamp & STAMP_IS_NS) != 0)
		return from_monotonic(stamp & ~STAMP_IS_NS, (uint32_t)clk, ret_ns);
	if (vclock_read_stamp(vclock_page(), stamp, (uint32_t)clk, ret_ns) != 0)
		return -ERANGE;
	return 0;
}
