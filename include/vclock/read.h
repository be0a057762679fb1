/* SPDX-License-Identifier: MIT */
/*
 * read.h - page + counter -> time: the hot path.
 *
 * Every function takes the page first and returns 0, or -VCLOCK_EAGAIN (= -EAGAIN) when the page
 * does not cover the counter: it was never written, it ended, the counter jumped, or the clock is
 * not on it. Ask the library then (vclock_gettime and its kin do all of this). ret_ parameters are
 * untouched on failure. No function here makes a call, a division, a system call or an unbounded
 * loop, or touches anything but its arguments; all are thread-, async-signal- and fork-safe.
 *
 * clk is a kernel clock id out of VCLOCK_PAGE_CLOCKS; any other value gives -VCLOCK_EAGAIN, except
 * where a function says that it does not look. With a constant clk the test costs nothing.
 *
 * What the values promise (docs/page-format.md): a value lies within the page's stated error of the
 * kernel's clock, and MONOTONIC, BOOTTIME and MONOTONIC_RAW never go back from one read to a later
 * one on any CPU, "later" in the order that memory gives.
 */
#ifndef VCLOCK_READ_H
#define VCLOCK_READ_H

#include "compiler.h"
#include "counter.h"
#include "page.h"

VCLOCK_BEGIN_DECLS

/* A generation changes once in an interval of some 10 ms; a second retry was never seen. */
#define VCLOCK_READ_TRIES 3

/*
 * The line of a slot that covers cyc, and how far into it cyc is. A steady clock (see page.h)
 * stands still at a line's end for the slot's clamp_cyc: until then the kernel's clock might be
 * below what this page has already given out. Returns NULL when the slot does not answer. The
 * common case, the first line, is two loads and a compare: a subtraction that wraps serves as the
 * test for "before the start" too.
 */
VCLOCK_ALWAYS_INLINE const struct vclock_line *vclock_slot_line(const struct vclock_slot *slot,
								uint64_t cyc, int clamps,
								uint32_t *ret_delta)
{
	const struct vclock_line *line;
	uint64_t past;
	uint32_t length;
	int i;

	for (i = 0; i < 2; i++) {
		line = &slot->line[i];
		past = cyc - VCLOCK_LOAD64(&line->start_cyc);
		if (VCLOCK_LIKELY(past < VCLOCK_LOAD32(&line->length_cyc))) {
			*ret_delta = (uint32_t)past;
			return line;
		}
	}
	if (!clamps)
		return NULL;
	for (i = 1; i >= 0; i--) {
		line = &slot->line[i];
		length = VCLOCK_LOAD32(&line->length_cyc);
		past = cyc - VCLOCK_LOAD64(&line->start_cyc) - length;
		if (length != 0 && past < VCLOCK_LOAD32(&slot->clamp_cyc)) {
			*ret_delta = length;
			return line;
		}
	}
	return NULL;
}

/*
 * One clock of a line at delta. The sum cannot overflow, see struct vclock_line. At most two
 * carries: base < 1 s and delta * mult / 2^shift < 2^30 ns on a page that vclock_page_check() let
 * through. The asm keeps compilers from making a division out of the carry (clang did, on i386).
 */
VCLOCK_ALWAYS_INLINE void vclock_line_value(const struct vclock_line *line, uint32_t clk,
					    uint32_t delta, uint32_t shift, int64_t *ret_sec,
					    uint32_t *ret_nsec)
{
	const struct vclock_base *base = &line->base[clk];
	uint32_t mult = VCLOCK_LOAD32(&line->mult[clk == VCLOCK_MONOTONIC_RAW]);

	*ret_sec = (int64_t)VCLOCK_LOAD64(&base->sec);
	*ret_nsec = (uint32_t)(((uint64_t)delta * mult + VCLOCK_LOAD64(&base->fns)) >> shift);
}

VCLOCK_ALWAYS_INLINE void vclock_carry(int64_t *sec, uint32_t *nsec)
{
	int i;

	for (i = 0; i < 2 && VCLOCK_UNLIKELY(*nsec >= VCLOCK_NSEC_PER_SEC); i++) {
		*nsec -= VCLOCK_NSEC_PER_SEC;
		/* Any bytes may stand on a page that was never checked. */
		*sec = (int64_t)((uint64_t)*sec + 1);
		__asm__("" : "+r"(*nsec));
	}
}

/*
 * The time of one clock at a counter value that the caller read, or stamped, himself. Time is a
 * function of the counter alone, so it does not matter when, or on which generation, this runs.
 * Only the live slot is asked; for older values see vclock_read_stamp().
 */
VCLOCK_ALWAYS_INLINE int vclock_read_parts(const struct vclock_page *page, uint64_t cyc,
					   uint32_t clk, int64_t *ret_sec, uint32_t *ret_nsec)
{
	const struct vclock_slot *slot;
	const struct vclock_line *line;
	int64_t sec = 0;
	uint32_t nsec = 0, generation, delta = 0;
	int clamps = (VCLOCK_BIT(clk & 31) & VCLOCK_STEADY_CLOCKS) != 0, i;

	for (i = 0; i < VCLOCK_READ_TRIES; i++) {
		generation = VCLOCK_LOAD32(&page->generation);
		vclock_fence_acquire(); /* partner: the writer's release before its generation store
					 */
		slot = &page->slot[generation & 1];
		line = vclock_slot_line(slot, cyc, clamps, &delta);
		if (VCLOCK_LIKELY(line != NULL))
			vclock_line_value(line, clk, delta, VCLOCK_LOAD32(&page->shift) & 63, &sec,
					  &nsec);
		vclock_fence_acquire(); /* partner: the writer's release after its generation store
					 */
		if (VCLOCK_UNLIKELY(VCLOCK_LOAD32(&page->generation) != generation))
			continue;
		if (VCLOCK_UNLIKELY(line == NULL))
			return -VCLOCK_EAGAIN;
		vclock_carry(&sec, &nsec);
		*ret_sec = sec;
		*ret_nsec = nsec;
		return 0;
	}
	return -VCLOCK_EAGAIN;
}

/* Whether a page may be asked for clk at all: written once, and a clock that it has. */
VCLOCK_ALWAYS_INLINE int vclock_page_has(const struct vclock_page *page, uint32_t clk)
{
	return clk < VCLOCK_BASES && (VCLOCK_BIT(clk) & VCLOCK_PAGE_CLOCKS) != 0 &&
	       VCLOCK_LOAD32(&page->generation) != 0;
}

/* clk at counter value cyc, in the live slot. */
VCLOCK_INLINE int vclock_read_at(const struct vclock_page *page, uint64_t cyc, uint32_t clk,
				 struct vclock_timespec *ret_ts)
{
	int64_t sec;
	uint32_t nsec;

	if (VCLOCK_UNLIKELY(!vclock_page_has(page, clk)) ||
	    VCLOCK_UNLIKELY(vclock_read_parts(page, cyc, clk, &sec, &nsec) != 0))
		return -VCLOCK_EAGAIN;
	ret_ts->tv_sec = sec;
	ret_ts->tv_nsec = nsec;
	return 0;
}

/* clk now. The counter is read only when the page was written once, so an empty page is harmless
 * where the counter is forbidden. */
VCLOCK_INLINE int vclock_read_timespec(const struct vclock_page *page, uint32_t clk,
				       struct vclock_timespec *ret_ts)
{
	int64_t sec;
	uint32_t nsec;

	if (VCLOCK_UNLIKELY(!vclock_page_has(page, clk)) ||
	    VCLOCK_UNLIKELY(vclock_read_parts(page, vclock_counter_ordered(), clk, &sec, &nsec) !=
			    0))
		return -VCLOCK_EAGAIN;
	ret_ts->tv_sec = sec;
	ret_ts->tv_nsec = nsec;
	return 0;
}

/* clk now, in ns since the clock's epoch: good until the year 2554 for REALTIME. */
VCLOCK_INLINE int vclock_read_ns(const struct vclock_page *page, uint32_t clk, uint64_t *ret_ns)
{
	int64_t sec;
	uint32_t nsec;

	if (VCLOCK_UNLIKELY(!vclock_page_has(page, clk)) ||
	    VCLOCK_UNLIKELY(vclock_read_parts(page, vclock_counter_ordered(), clk, &sec, &nsec) !=
			    0))
		return -VCLOCK_EAGAIN;
	*ret_ns = (uint64_t)sec * VCLOCK_NSEC_PER_SEC + nsec;
	return 0;
}

/*
 * clk now, by a counter read that is not ordered against anything: about twice as fast. Two threads
 * that agree by memory on which of them read first can see the later one's time below the earlier
 * one's (by microseconds, where this was measured), and a loop may read it too early. For intervals
 * within one thread on one CPU.
 */
VCLOCK_INLINE int vclock_read_ns_unordered(const struct vclock_page *page, uint32_t clk,
					   uint64_t *ret_ns)
{
	int64_t sec;
	uint32_t nsec;

	if (VCLOCK_UNLIKELY(!vclock_page_has(page, clk)) ||
	    VCLOCK_UNLIKELY(vclock_read_parts(page, vclock_counter_unordered(), clk, &sec, &nsec) !=
			    0))
		return -VCLOCK_EAGAIN;
	*ret_ns = (uint64_t)sec * VCLOCK_NSEC_PER_SEC + nsec;
	return 0;
}

/*
 * REALTIME and MONOTONIC of one and the same moment, from one counter read. Where MONOTONIC stands
 * still at a line's end, REALTIME is that moment's too.
 */
VCLOCK_INLINE int vclock_read_now(const struct vclock_page *page, struct vclock_timespec *ret_real,
				  struct vclock_timespec *ret_mono)
{
	const struct vclock_slot *slot;
	const struct vclock_line *line;
	int64_t real_sec = 0, mono_sec = 0;
	uint32_t real_nsec = 0, mono_nsec = 0, generation, delta = 0, shift;
	uint64_t cyc;
	int i;

	if (VCLOCK_UNLIKELY(VCLOCK_LOAD32(&page->generation) == 0))
		return -VCLOCK_EAGAIN;
	cyc = vclock_counter_ordered();
	for (i = 0; i < VCLOCK_READ_TRIES; i++) {
		generation = VCLOCK_LOAD32(&page->generation);
		vclock_fence_acquire(); /* partners: as in vclock_read_parts() */
		slot = &page->slot[generation & 1];
		line = vclock_slot_line(slot, cyc, 1, &delta);
		if (VCLOCK_LIKELY(line != NULL)) {
			shift = VCLOCK_LOAD32(&page->shift) & 63;
			vclock_line_value(line, VCLOCK_REALTIME, delta, shift, &real_sec,
					  &real_nsec);
			vclock_line_value(line, VCLOCK_MONOTONIC, delta, shift, &mono_sec,
					  &mono_nsec);
		}
		vclock_fence_acquire();
		if (VCLOCK_UNLIKELY(VCLOCK_LOAD32(&page->generation) != generation))
			continue;
		if (VCLOCK_UNLIKELY(line == NULL))
			return -VCLOCK_EAGAIN;
		vclock_carry(&real_sec, &real_nsec);
		vclock_carry(&mono_sec, &mono_nsec);
		ret_real->tv_sec = real_sec;
		ret_real->tv_nsec = real_nsec;
		ret_mono->tv_sec = mono_sec;
		ret_mono->tv_nsec = mono_nsec;
		return 0;
	}
	return -VCLOCK_EAGAIN;
}

/*
 * clk at an earlier counter value, in ns: the live slot, else the page's history of 100 ms and
 * more. -VCLOCK_EAGAIN when neither covers it. REALTIME and TAI are what the page says of that
 * moment now: a step within the line's lifetime moves the whole line. Not a hot path: up to 12
 * lines are looked at.
 */
VCLOCK_INLINE int vclock_read_stamp(const struct vclock_page *page, uint64_t cyc, uint32_t clk,
				    uint64_t *ret_ns)
{
	const struct vclock_slot *slot;
	const struct vclock_line *line;
	int64_t sec = 0;
	uint64_t past;
	uint32_t nsec = 0, generation, count, delta = 0, n;
	int i;

	if (!vclock_page_has(page, clk))
		return -VCLOCK_EAGAIN;
	for (i = 0; i < VCLOCK_READ_TRIES; i++) {
		generation = VCLOCK_LOAD32(&page->generation);
		vclock_fence_acquire(); /* partners: as in vclock_read_parts() */
		slot = &page->slot[generation & 1];
		count = VCLOCK_LOAD32(&slot->history_count);
		line = vclock_slot_line(slot, cyc, 0, &delta);
		/* The oldest entry is left out: the next update may be writing it. */
		for (n = 1; line == NULL && n < VCLOCK_HISTORY && n <= count; n++) {
			line = &page->history[(count - n) % VCLOCK_HISTORY];
			past = cyc - VCLOCK_LOAD64(&line->start_cyc);
			if (past < VCLOCK_LOAD32(&line->length_cyc))
				delta = (uint32_t)past;
			else
				line = NULL;
		}
		if (line != NULL)
			vclock_line_value(line, clk, delta, VCLOCK_LOAD32(&page->shift) & 63, &sec,
					  &nsec);
		vclock_fence_acquire();
		if (VCLOCK_LOAD32(&page->generation) != generation)
			continue;
		if (line == NULL)
			return -VCLOCK_EAGAIN;
		vclock_carry(&sec, &nsec);
		*ret_ns = (uint64_t)sec * VCLOCK_NSEC_PER_SEC + nsec;
		return 0;
	}
	return -VCLOCK_EAGAIN;
}

VCLOCK_END_DECLS

#endif /* VCLOCK_READ_H */
