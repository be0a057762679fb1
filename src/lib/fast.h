/* SPDX-License-Identifier: MIT */
/*
 * fast.h - one try at the page in the window, for a clock whose bit in lib_process.page_clocks was
 * just seen.
 *
 * The same steps as vclock_read_parts(), without the second try and without the stand-still past a
 * line's end: both happen once in thousands of calls, and miss.c does them. What is left needs few
 * enough registers that the functions built on it save none or few.
 */
#ifndef LIB_FAST_H
#define LIB_FAST_H

#include "lib/process.h"
#include "vclock/read.h"

VCLOCK_ALWAYS_INLINE bool has_bit(const uint32_t *word, uint32_t clk)
{
	return ((VCLOCK_LOAD32(word) >> clk) & 1) != 0;
}

enum fast {
	FAST_OK = 0,
	FAST_CHANGED,	 /* an update came in between: try again */
	FAST_NOT_COVERED /* the page does not answer at this counter value */
};

/* clamps: past the page's last end the clock stands still for a moment, see vclock_slot_line(). */
VCLOCK_ALWAYS_INLINE enum fast fast_parts(uint64_t cyc, uint32_t clk, int clamps, int64_t *ret_sec,
					  uint32_t *ret_nsec)
{
	const struct vclock_slot *slot;
	const struct vclock_line *line;
	uint32_t generation, delta = 0;

	generation = VCLOCK_LOAD32(&LIB_PAGE->generation);
	vclock_fence_acquire(); /* partners: as in vclock_read_parts() */
	slot = &LIB_PAGE->slot[generation & 1];
	line = vclock_slot_line(slot, cyc, clamps, &delta);
	if (VCLOCK_LIKELY(line != NULL))
		vclock_line_value(line, clk, delta, VCLOCK_LOAD32(&LIB_PAGE->shift) & 63, ret_sec,
				  ret_nsec);
	vclock_fence_acquire();
	if (VCLOCK_UNLIKELY(VCLOCK_LOAD32(&LIB_PAGE->generation) != generation))
		return FAST_CHANGED;
	if (VCLOCK_UNLIKELY(line == NULL))
		return FAST_NOT_COVERED;
	vclock_carry(ret_sec, ret_nsec);
	return FAST_OK;
}

VCLOCK_ALWAYS_INLINE enum fast fast_timespec(uint32_t clk, int clamps,
					     struct vclock_timespec *ret_ts)
{
	enum fast r;
	int64_t sec;
	uint32_t nsec;

	r = fast_parts(vclock_counter_ordered(), clk, clamps, &sec, &nsec);
	if (VCLOCK_LIKELY(r == FAST_OK)) {
		ret_ts->tv_sec = sec;
		ret_ts->tv_nsec = nsec;
	}
	return r;
}

VCLOCK_ALWAYS_INLINE enum fast fast_ns(uint64_t cyc, uint32_t clk, uint64_t *ret_ns)
{
	enum fast r;
	int64_t sec;
	uint32_t nsec;

	r = fast_parts(cyc, clk, 0, &sec, &nsec);
	if (VCLOCK_LIKELY(r == FAST_OK))
		*ret_ns = (uint64_t)sec * VCLOCK_NSEC_PER_SEC + nsec;
	return r;
}

/* As fast_parts(), for the two clocks of vclock_now64(). */
VCLOCK_ALWAYS_INLINE enum fast fast_now(int clamps, struct vclock_timespec *ret_real,
					struct vclock_timespec *ret_mono)
{
	const struct vclock_slot *slot;
	const struct vclock_line *line;
	int64_t real_sec, mono_sec;
	uint32_t real_nsec, mono_nsec, generation, shift, delta = 0;
	uint64_t cyc = vclock_counter_ordered();

	generation = VCLOCK_LOAD32(&LIB_PAGE->generation);
	vclock_fence_acquire(); /* partners: as in vclock_read_parts() */
	slot = &LIB_PAGE->slot[generation & 1];
	line = vclock_slot_line(slot, cyc, clamps, &delta);
	if (VCLOCK_UNLIKELY(line == NULL))
		return VCLOCK_LOAD32(&LIB_PAGE->generation) != generation ? FAST_CHANGED
									  : FAST_NOT_COVERED;
	shift = VCLOCK_LOAD32(&LIB_PAGE->shift) & 63;
	vclock_line_value(line, VCLOCK_REALTIME, delta, shift, &real_sec, &real_nsec);
	vclock_line_value(line, VCLOCK_MONOTONIC, delta, shift, &mono_sec, &mono_nsec);
	vclock_fence_acquire();
	if (VCLOCK_UNLIKELY(VCLOCK_LOAD32(&LIB_PAGE->generation) != generation))
		return FAST_CHANGED;
	vclock_carry(&real_sec, &real_nsec);
	vclock_carry(&mono_sec, &mono_nsec);
	ret_real->tv_sec = real_sec;
	ret_real->tv_nsec = real_nsec;
	ret_mono->tv_sec = mono_sec;
	ret_mono->tv_nsec = mono_nsec;
	return FAST_OK;
}

#endif /* LIB_FAST_H */
