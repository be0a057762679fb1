/* SPDX-License-Identifier: MIT */
/*
 * page_check.c - the ranges that make a reader's arithmetic safe, held against a copy of a page.
 *
 * A reader is safe on any bytes (no loop, no trap, no index from the page), so this is about right
 * values: sums that do not wrap and carries that end. Must never divide by a field.
 */
#include "publish/page_check.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

/* The kernel's own limits: struct timezone within 15 hours, TAI - UTC up to 100,000 s, and time up
 * to 2^63 ns. */
#define TZ_MINUTES_MAX (15 * 60)
#define TAI_OFFSET_MAX 100000
#define SEC_MAX INT64_C(9223372036)
/* A line's length in time: vclock_line_value() then needs no more than two carries. */
#define LINE_NS_MAX (UINT64_C(1) << 30)
/* A clamp is the page's error and what 1000 ppm make of two lines of 40 ms, 80 us. */
#define CLAMP_SPARE_NS 1000000
#define HZ_MIN UINT64_C(1000)
#define HZ_MAX UINT64_C(100000000000)
#define INTERVAL_NS_MAX 1000000000u

static uint64_t line_ns(uint64_t cyc, uint32_t mult, uint32_t shift)
{
	return cyc * mult >> shift;
}

static bool base_is_sane(const struct vclock_base *base, uint32_t shift)
{
	return base->fns < (uint64_t)VCLOCK_NSEC_PER_SEC << shift && base->sec >= -SEC_MAX &&
	       base->sec <= SEC_MAX;
}

static bool line_is_sane(const struct vclock_line *line, uint32_t shift)
{
	uint32_t clk;

	if (line->length_cyc == 0)
		return true;
	if (line->length_cyc > VCLOCK_LINE_CYC_MAX || line->mult[0] == 0 || line->mult[1] == 0 ||
	    line_ns(line->length_cyc, line->mult[0], shift) > LINE_NS_MAX ||
	    line_ns(line->length_cyc, line->mult[1], shift) > LINE_NS_MAX)
		return false;
	for (clk = 0; clk < VCLOCK_BASES; clk++)
		if ((VCLOCK_PAGE_CLOCKS & VCLOCK_BIT(clk)) != 0 &&
		    !base_is_sane(&line->base[clk], shift))
			return false;
	return true;
}

static bool clamp_is_sane(const struct vclock_slot *slot, uint32_t shift)
{
	uint32_t mult = slot->line[1].length_cyc != 0 ? slot->line[1].mult[0]
						      : slot->line[0].mult[0];

	return line_ns(slot->clamp_cyc, mult, shift) <= (uint64_t)slot->error_ns + CLAMP_SPARE_NS;
}

static bool slot_is_sane(const struct vclock_slot *slot, uint32_t shift)
{
	return line_is_sane(&slot->line[0], shift) && line_is_sane(&slot->line[1], shift) &&
	       clamp_is_sane(slot, shift) && slot->retired <= VCLOCK_RETIRED_REPLACED &&
	       slot->tz_minuteswest >= -TZ_MINUTES_MAX && slot->tz_minuteswest <= TZ_MINUTES_MAX &&
	       slot->tai_offset_sec >= -TAI_OFFSET_MAX && slot->tai_offset_sec <= TAI_OFFSET_MAX;
}

static bool history_is_sane(const struct vclock_page *page, const struct vclock_slot *slot)
{
	uint32_t n;

	for (n = 1; n < VCLOCK_HISTORY && n <= slot->history_count; n++)
		if (!line_is_sane(&page->history[(slot->history_count - n) % VCLOCK_HISTORY],
				  page->shift))
			return false;
	return true;
}

int page_check(const struct vclock_page *page)
{
	const struct vclock_slot *slot = &page->slot[page->generation & 1];

	if (page->magic != VCLOCK_PAGE_MAGIC)
		return -EINVAL;
	if (page->version != VCLOCK_PAGE_VERSION)
		return -EPROTO;
	if (page->size != VCLOCK_PAGE_SIZE || page->shift > VCLOCK_SHIFT_MAX ||
	    page->counter_kind == VCLOCK_COUNTER_NONE || page->counter_kind > VCLOCK_COUNTER_CALLER)
		return -EINVAL;
	if (page->counter_hz < HZ_MIN || page->counter_hz > HZ_MAX ||
	    page->interval_ns > INTERVAL_NS_MAX || page->ahead_ns > INTERVAL_NS_MAX ||
	    page->coarse_ns > VCLOCK_NSEC_PER_SEC)
		return -EINVAL;
	if (page->generation == 0)
		return 0;
	return slot_is_sane(slot, page->shift) && history_is_sane(page, slot) ? 0 : -EINVAL;
}

int page_copy(const struct vclock_page *shared, struct vclock_page *ret_page)
{
	uint32_t generation;
	int i;

	/* An update comes every 10 ms or so; a copy takes less than a microsecond. */
	for (i = 0; i < 10; i++) {
		generation = VCLOCK_LOAD32(&shared->generation);
		vclock_fence_acquire(); /* partners: as for every reader, see read.h */
		memcpy(ret_page, (const void *)shared, sizeof(*ret_page));
		vclock_fence_acquire();
		if (VCLOCK_LOAD32(&shared->generation) == generation) {
			ret_page->generation = generation;
			return 0;
		}
	}
	return -EAGAIN;
}
