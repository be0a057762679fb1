/* SPDX-License-Identifier: MIT */
/*
 * page_check(): each field of a page at the edge of its range and just past it.
 */
#include <errno.h>
#include <string.h>

#include "publish/page_check.h"
#include "support_lib.h"
#include "tap.h"

static struct vclock_page good, page;
static struct vclock_slot *live;
static struct vclock_line *line;

static void anew(void)
{
	page = good;
	live = &page.slot[page.generation & 1];
	line = &live->line[live->line[1].length_cyc != 0];
}

#define CHECK(want, change, what)                                                           \
	do {                                                                                \
		int r_;                                                                     \
		anew();                                                                     \
		change;                                                                     \
		r_ = page_check(&page);                                                     \
		tap_ok(r_ == (want), "%s: %s (%d)", what, (want) ? "refused" : "good", r_); \
	} while (0)

/* The second line of a slot, where it begins. */
static void second_line(void)
{
	uint64_t end_ns;
	unsigned clk;

	/* One more line, 10 ms long, at the end of the one that there is. */
	anew();
	if (live->line[1].length_cyc != 0)
		live->line[0] = live->line[1];
	live->line[1] = live->line[0];
	live->line[1].start_cyc += live->line[0].length_cyc;
	for (clk = 0; clk < VCLOCK_BASES; clk++) {
		struct vclock_base *base = &live->line[1].base[clk];
		uint32_t mult = live->line[0].mult[clk == VCLOCK_MONOTONIC_RAW];

		base->fns += (uint64_t)live->line[0].length_cyc * mult;
		end_ns = base->fns >> page.shift;
		for (; end_ns >= 1000000000; end_ns -= 1000000000, base->sec++)
			base->fns -= UINT64_C(1000000000) << page.shift;
	}
	good = page;
	CHECK(0, (void)0, "two lines that abut");
	CHECK(-EINVAL, live->line[1].base[1].sec = 0, "a second line that goes back by hours");
	CHECK(-EINVAL, live->line[1].base[VCLOCK_TAI].sec++, "... ahead by a second");
	CHECK(-EINVAL, live->line[0].base[4].sec++, "... of RAW, behind by a second");
	CHECK(-EINVAL, (live->line[1].start_cyc++, live->line[1].base[1].sec--),
	      "a line after a gap that goes back");
	CHECK(0,
	      (live->line[1].start_cyc++, live->line[1].base[1].fns += UINT64_C(50) << page.shift),
	      "... that goes on above");
	CHECK(-EINVAL, (live->line[1].start_cyc++, live->line[1].base[1].sec++),
	      "... far above, for the time that it took");
	CHECK(-EINVAL, live->line[1].start_cyc -= 1 << 24, "a second line that begins early");
	CHECK(-EINVAL, live->line[1].start_cyc--, "... by one cycle");
	CHECK(-EINVAL, live->line[1].start_cyc += page.counter_hz / 100, "... 10 ms late");
	CHECK(-EINVAL, live->line[1].start_cyc += UINT64_C(1) << 40, "... for ever");
	CHECK(-EINVAL, live->line[1].mult[0] += live->line[1].mult[0] / 10 * 9, "a rate of 1.9");
	CHECK(-EINVAL, live->line[1].mult[0] /= 4, "a quarter of the rate");
	CHECK(-EINVAL, live->line[1].mult[1] = 0xffffffff, "RAW's rate, all ones");
	CHECK(-EINVAL, live->line[0].mult[0] += live->line[0].mult[0] / 50,
	      "a first line 2 % fast");
	CHECK(0, live->line[1].mult[0] += live->line[1].mult[0] / 1000, "1000 ppm more");
	CHECK(0, (live->line[1].mult[0] += live->line[1].mult[0] / 10, live->error_ns = 3000000),
	      "a tenth more, with an error of 3 ms");
}

int main(void)
{
	static uint8_t noise[VCLOCK_PAGE_SIZE];
	unsigned i;

	if (support_make_page(&good, 0) != 0)
		return 99;
	CHECK(0, (void)0, "a page as it is made");
	CHECK(0, page.generation = 0, "never published");
	CHECK(0, live->retired = VCLOCK_RETIRED_STOPPED, "retired");
	CHECK(-EINVAL, page.magic ^= 1, "magic");
	CHECK(-EPROTO, page.version++, "version");
	CHECK(-EINVAL, page.size = 0, "size");
	CHECK(-EINVAL, page.shift = VCLOCK_SHIFT_MAX + 1, "shift");
	CHECK(-EINVAL, page.shift = 0xffffffff, "shift, all ones");
	CHECK(-EINVAL, page.counter_kind = 0, "counter kind 0");
	CHECK(-EINVAL, page.counter_kind = 99, "counter kind 99");
	CHECK(-EINVAL, page.counter_hz = 999, "999 Hz");
	CHECK(-EINVAL, page.counter_hz = UINT64_C(100000000001), "more than 100 GHz");
	CHECK(-EINVAL, page.coarse_ns = 1000000001, "coarse resolution");
	CHECK(-EINVAL, line->mult[0] = 0, "mult 0");
	CHECK(-EINVAL, line->mult[1] = 0, "raw mult 0");
	CHECK(0, line->length_cyc = 0, "a line that covers nothing");
	CHECK(-EINVAL, line->length_cyc = VCLOCK_LINE_CYC_MAX + 1, "length");
	CHECK(-EINVAL, line->length_cyc = 0xffffffff, "length, all ones");
	CHECK(-EINVAL, (line->mult[0] = 0xffffffff, line->length_cyc = 0x80000000),
	      "a line of more than a second");
	CHECK(0, line->base[0].fns = (UINT64_C(1000000000) << page.shift) - 1, "fns, the largest");
	CHECK(-EINVAL, line->base[0].fns = UINT64_C(1000000000) << page.shift, "fns, a second");
	CHECK(-EINVAL, line->base[VCLOCK_TAI].fns = UINT64_MAX, "fns of TAI, all ones");
	CHECK(0, line->base[2].fns = UINT64_MAX, "a base that nobody reads");
	CHECK(-EINVAL, line->base[1].sec = INT64_MAX, "seconds past 2^63 ns");
	CHECK(-EINVAL, line->base[1].sec = INT64_MIN, "seconds, the least");
	CHECK(-EINVAL, live->clamp_cyc = 0xffffffff, "a clamp of a second");
	CHECK(-EINVAL, live->clamp_cyc = (uint32_t)(page.counter_hz / 2000), "a clamp of 500 us");
	CHECK(-EINVAL, line->mult[0] += line->mult[0] / 7, "a line alone, a seventh fast");
	CHECK(-EINVAL, line->mult[1] -= line->mult[1] / 7, "... of RAW, a seventh slow");
	CHECK(0, line->mult[0] += line->mult[0] / 9, "... a ninth fast");
	CHECK(-EINVAL, live->tai_offset_sec = INT32_MAX, "TAI offset 2^31 - 1");
	CHECK(-EINVAL, live->tai_offset_sec = -100001, "TAI offset");
	CHECK(0, live->tai_offset_sec = 100000, "TAI offset, the largest");
	CHECK(-EINVAL, live->tz_minuteswest = 15 * 60 + 1, "timezone");
	CHECK(0, live->tz_minuteswest = -15 * 60, "timezone, the largest");
	CHECK(-EINVAL, live->retired = 99, "a reason that there is not");
	CHECK(0, page.slot[(page.generation & 1) ^ 1].line[0].length_cyc = 0xffffffff,
	      "the slot that nobody reads");
	CHECK(-EINVAL, (live->history_count = 5, page.history[4].length_cyc = 0xffffffff),
	      "history that is read");
	CHECK(0, (live->history_count = 5, page.history[5].length_cyc = 0xffffffff),
	      "history that is not");
	for (i = 0; i < sizeof(noise); i++)
		noise[i] = (uint8_t)(i * 167 + 13);
	memcpy(&page, noise, sizeof(page));
	tap_ok(page_check(&page) == -EINVAL, "noise");
	memset(&page, 0, sizeof(page));
	tap_ok(page_check(&page) == -EINVAL, "zeros");
	second_line();
	return tap_done();
}
