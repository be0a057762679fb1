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

#include "keeper/scale.h"

/* The kernel's own limits: struct timezone within 15 hours, TAI - UTC up to 100,000 s, and time up
 * to 2^63 ns. */
#define TZ_MINUTES_MAX (15 * 60)
#define TAI_OFFSET_MAX 100000
#define SEC_MAX INT64_C(9223372036)
/* A line's length in time: vclock_line_value() then needs no more than two carries. */
#define LINE_NS_MAX (UINT64_C(1) << 30)
/* A clamp is the page's error and what 1000 ppm make of two lines of 40 ms, 80 us; here by the rate
 * of a line, which may be off by half while it catches up. */
#define CLAMP_SPARE_NS 200000
/* A line after a gap begins 100 us after its writer looked, which was within the clamp where the
 * old line is still there. */
#define GAP_NS_MAX 1000000
/* What a line alone may differ by from the counter's nominal rate: 110,000 ppm, as 1 / 8. */
#define RATE_SHIFT 3
/* Lines that abut fit to the last bit, but for the rounding of a page that was taken over with
 * another shift: some ns. */
#define SEAM_NS 1000
#define HZ_MIN INT64_C(1000)
#define HZ_MAX INT64_C(100000000000)
#define INTERVAL_NS_MAX 1000000000u

static uint64_t line_ns(uint64_t cyc, uint32_t mult, uint32_t shift)
{
	return cyc * mult >> shift;
}

/* Says which field is out of range, unless it is not. */
static bool is_in(int64_t value, int64_t min, int64_t max, const char *field,
		  struct page_fault *ret_fault)
{
	if (value >= min && value <= max)
		return true;
	ret_fault->field = field;
	ret_fault->value = value;
	return false;
}

static bool is_up_to(uint64_t value, uint64_t max, const char *field, struct page_fault *ret_fault)
{
	return is_in(value > INT64_MAX ? INT64_MAX : (int64_t)value, 0, (int64_t)max, field,
		     ret_fault);
}

static bool base_is_sane(const struct vclock_base *base, uint32_t shift,
			 struct page_fault *ret_fault)
{
	return is_up_to(base->fns >> shift, VCLOCK_NSEC_PER_SEC - 1, "nanoseconds of a base",
			ret_fault) &&
	       is_in(base->sec, -SEC_MAX, SEC_MAX, "seconds of a base", ret_fault);
}

static bool rate_is_sane(const struct vclock_line *line, uint32_t mult, uint32_t shift,
			 struct page_fault *ret_fault)
{
	return is_in(mult, 1, UINT32_MAX, "multiplier", ret_fault) &&
	       is_up_to(line_ns(line->length_cyc, mult, shift), LINE_NS_MAX,
			"nanoseconds of a line", ret_fault);
}

static bool line_is_sane(const struct vclock_line *line, uint32_t shift,
			 struct page_fault *ret_fault)
{
	uint32_t clk;

	if (line->length_cyc == 0)
		return true;
	if (!is_up_to(line->length_cyc, VCLOCK_LINE_CYC_MAX, "cycles of a line", ret_fault) ||
	    !rate_is_sane(line, line->mult[0], shift, ret_fault) ||
	    !rate_is_sane(line, line->mult[1], shift, ret_fault))
		return false;
	for (clk = 0; clk < VCLOCK_BASES; clk++)
		if ((VCLOCK_PAGE_CLOCKS & VCLOCK_BIT(clk)) != 0 &&
		    !base_is_sane(&line->base[clk], shift, ret_fault))
			return false;
	return true;
}

/*
 * Line 1's base less what line 0 has at its end, in ns; saturated, to some seconds. Both lines have
 * passed line_is_sane().
 */
static int64_t seam_ns(const struct vclock_slot *slot, uint32_t clk, uint32_t shift)
{
	const struct vclock_line *line = &slot->line[0];
	const struct vclock_base *base = &line->base[clk], *next = &slot->line[1].base[clk];
	uint32_t mult = line->mult[clk == VCLOCK_MONOTONIC_RAW];
	uint64_t end_ns = (base->fns + (uint64_t)line->length_cyc * mult) >> shift;
	int64_t sec = next->sec - base->sec;

	if (sec < -8 || sec > 8)
		sec = sec < 0 ? -8 : 8;
	return sec * (int64_t)VCLOCK_NSEC_PER_SEC + (int64_t)(next->fns >> shift) - (int64_t)end_ns;
}

/* How far the second line begins after the end of the first; 0 where they abut. */
static uint64_t gap_cyc(const struct vclock_slot *slot)
{
	return slot->line[1].start_cyc - slot->line[0].start_cyc - slot->line[0].length_cyc;
}

/* Lines that abut are one; after a gap the steady clocks go on above the line before it, by what
 * the gap took and both were off at most. */
static bool seam_is_sane(const struct vclock_slot *slot, uint32_t shift,
			 struct page_fault *ret_fault)
{
	uint64_t gap = gap_cyc(slot), gap_ns;
	uint32_t clocks = gap == 0
				  ? VCLOCK_PAGE_CLOCKS
				  : VCLOCK_BIT(VCLOCK_MONOTONIC) | VCLOCK_BIT(VCLOCK_MONOTONIC_RAW);
	uint32_t clk;
	int64_t most;

	if (!is_up_to(gap, VCLOCK_LINE_CYC_MAX, "cycles between a line's end and the next",
		      ret_fault))
		return false;
	gap_ns = line_ns(gap, slot->line[1].mult[0], shift);
	most = SEAM_NS + (gap == 0 ? 0 : 2 * (int64_t)gap_ns + 2 * (int64_t)slot->error_ns);
	if (!is_up_to(gap_ns, line_ns(slot->clamp_cyc, slot->line[1].mult[0], shift) + GAP_NS_MAX,
		      "nanoseconds without a line", ret_fault))
		return false;
	for (clk = 0; clk < VCLOCK_BASES; clk++)
		if ((clocks & VCLOCK_BIT(clk)) != 0 &&
		    !is_in(seam_ns(slot, clk, shift), -SEAM_NS, most,
			   "nanoseconds between a line's end and the next", ret_fault))
			return false;
	return true;
}

/*
 * How far the two rates take a line apart. A line's rate is that of the clock, and what takes it
 * back to the clock from where it was, which the page states; and the clock's own may change by
 * 1000 ppm that the line before did not know of, over both lines and their time ahead.
 */
static bool rates_are_sane(const struct vclock_page *page, const struct vclock_slot *slot,
			   struct page_fault *ret_fault)
{
	const struct vclock_line *line = slot->line;
	uint32_t spare_ns = (page->interval_ns + page->ahead_ns) / 500; /* both up to 10^9 */
	uint64_t most = 2 * (uint64_t)slot->error_ns + spare_ns;
	int i;

	for (i = 0; i < 2; i++) {
		uint32_t a = line[0].mult[i], b = line[1].mult[i];

		if (!is_up_to(line_ns(line[1].length_cyc, a > b ? a - b : b - a, page->shift), most,
			      "nanoseconds that two lines' rates make in one", ret_fault))
			return false;
	}
	return true;
}

/* A line alone, which runs as the clock does. */
static bool rate_is_nominal(const struct vclock_page *page, const struct vclock_line *line,
			    struct page_fault *ret_fault)
{
	int64_t nominal =
		(int64_t)scale_shl_div(VCLOCK_NSEC_PER_SEC, page->shift, page->counter_hz);
	int64_t spare = nominal >> RATE_SHIFT;

	return is_in(line->mult[0], nominal - spare, nominal + spare, "multiplier", ret_fault) &&
	       is_in(line->mult[1], nominal - spare, nominal + spare, "multiplier", ret_fault);
}

static bool lines_are_sane(const struct vclock_page *page, const struct vclock_slot *slot,
			   struct page_fault *ret_fault)
{
	const struct vclock_line *line = slot->line;

	if (!line_is_sane(&line[0], page->shift, ret_fault) ||
	    !line_is_sane(&line[1], page->shift, ret_fault))
		return false;
	if (line[0].length_cyc != 0 && line[1].length_cyc != 0)
		return seam_is_sane(slot, page->shift, ret_fault) &&
		       rates_are_sane(page, slot, ret_fault);
	if (line[0].length_cyc == 0 && line[1].length_cyc == 0)
		return true;
	return rate_is_nominal(page, &line[line[0].length_cyc == 0], ret_fault);
}

static bool clamp_is_sane(const struct vclock_slot *slot, uint32_t shift,
			  struct page_fault *ret_fault)
{
	uint32_t mult = slot->line[1].length_cyc != 0 ? slot->line[1].mult[0]
						      : slot->line[0].mult[0];

	return is_up_to(line_ns(slot->clamp_cyc, mult, shift),
			(uint64_t)slot->error_ns + CLAMP_SPARE_NS, "nanoseconds of the clamp",
			ret_fault);
}

static bool slot_is_sane(const struct vclock_page *page, const struct vclock_slot *slot,
			 struct page_fault *ret_fault)
{
	return lines_are_sane(page, slot, ret_fault) &&
	       clamp_is_sane(slot, page->shift, ret_fault) &&
	       is_up_to(slot->retired, VCLOCK_RETIRED_EXPOSED, "retired", ret_fault) &&
	       is_in(slot->tz_minuteswest, -TZ_MINUTES_MAX, TZ_MINUTES_MAX, "minutes west",
		     ret_fault) &&
	       is_in(slot->tai_offset_sec, -TAI_OFFSET_MAX, TAI_OFFSET_MAX, "TAI offset",
		     ret_fault);
}

static bool history_is_sane(const struct vclock_page *page, const struct vclock_slot *slot,
			    struct page_fault *ret_fault)
{
	uint32_t n;

	for (n = 1; n < VCLOCK_HISTORY && n <= slot->history_count; n++)
		if (!line_is_sane(&page->history[(slot->history_count - n) % VCLOCK_HISTORY],
				  page->shift, ret_fault))
			return false;
	return true;
}

static bool constants_are_sane(const struct vclock_page *page, struct page_fault *ret_fault)
{
	return is_in(page->size, VCLOCK_PAGE_SIZE, VCLOCK_PAGE_SIZE, "size", ret_fault) &&
	       is_up_to(page->shift, VCLOCK_SHIFT_MAX, "shift", ret_fault) &&
	       is_in(page->counter_kind, VCLOCK_COUNTER_NONE + 1, VCLOCK_COUNTER_CALLER,
		     "counter kind", ret_fault) &&
	       is_up_to(page->counter_hz, HZ_MAX, "counter Hz", ret_fault) &&
	       is_in((int64_t)page->counter_hz, HZ_MIN, HZ_MAX, "counter Hz", ret_fault) &&
	       is_up_to(page->interval_ns, INTERVAL_NS_MAX, "nanoseconds of the interval",
			ret_fault) &&
	       is_up_to(page->ahead_ns, INTERVAL_NS_MAX, "nanoseconds ahead", ret_fault) &&
	       is_up_to(page->coarse_ns, VCLOCK_NSEC_PER_SEC, "nanoseconds of the COARSE clocks",
			ret_fault);
}

int page_check_fault(const struct vclock_page *page, struct page_fault *ret_fault)
{
	const struct vclock_slot *slot = &page->slot[page->generation & 1];

	if (!is_in(page->magic, VCLOCK_PAGE_MAGIC, VCLOCK_PAGE_MAGIC, "magic", ret_fault))
		return -EINVAL;
	if (page->version != VCLOCK_PAGE_VERSION)
		return -EPROTO;
	if (!constants_are_sane(page, ret_fault))
		return -EINVAL;
	if (page->generation == 0)
		return 0;
	return slot_is_sane(page, slot, ret_fault) && history_is_sane(page, slot, ret_fault)
		       ? 0
		       : -EINVAL;
}

int page_check(const struct vclock_page *page)
{
	struct page_fault fault;

	return page_check_fault(page, &fault);
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
