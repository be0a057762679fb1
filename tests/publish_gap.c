/* SPDX-License-Identifier: MIT */
/*
 * The first line after a gap, shown late: its writer was held up between its last look and its
 * store. Readers have had the kernel's clock meanwhile, which may be ahead of what the writer made
 * of it by as much as the writer states. At any moment of the line, up to its end, the page must
 * not be behind that.
 */
#include "support_byo.h"
#include "tap.h"

#include <inttypes.h>

#define MS 1000000u

static struct byo byo;

/* How far the page is below the upper edge of what the timekeeper states, at worst, in ns. */
static int64_t worst_below(uint32_t clk)
{
	const struct vclock_line *line = &byo_live(&byo)->line[1];
	int64_t worst = INT64_MIN;
	unsigned i;

	for (i = 0; i <= 1000; i++) {
		uint64_t at = (uint64_t)(line->length_cyc - 1) * i / 1000;
		int64_t kernel = byo_true_ns(&byo, clk, line->start_cyc + at) + byo.tk.error_ns;
		int64_t page = byo_read_ns(&byo.page, line->start_cyc + at, clk);

		if (page == INT64_MIN)
			return INT64_MAX;
		if (kernel - page > worst)
			worst = kernel - page;
	}
	return worst;
}

static void line_after_gap(const char *what, uint64_t gap_ns, uint32_t error_ns)
{
	static const uint32_t clocks[] = {VCLOCK_MONOTONIC, VCLOCK_MONOTONIC_RAW, VCLOCK_BOOTTIME};
	static const char *const names[] = {"MONOTONIC", "MONOTONIC_RAW", "BOOTTIME"};
	uint64_t end;
	unsigned i;

	byo_init(&byo, 2600000000, 1000000, 50, 0, 1700000000);
	byo.tk.error_ns = error_ns;
	byo_run(&byo, gap_ns == 0 ? 0 : 4);
	end = byo_live(&byo)->line[1].start_cyc + byo_live(&byo)->line[1].length_cyc;
	if (gap_ns != 0)
		byo.cyc = end;
	byo_advance_ns(&byo, gap_ns);
	tap_ok(byo_update(&byo) == 0 && byo_live(&byo)->line[1].start_cyc != end,
	       "%s: a line after a gap", what);
	for (i = 0; i < 3; i++)
		tap_ok(worst_below(clocks[i]) <= 0,
		       "%s: %s is never below the upper edge (%" PRId64 " ns)", what, names[i],
		       worst_below(clocks[i]));
	byo_next(&byo);
	tap_ok(byo_update(&byo) == 0, "%s: the next line", what);
	end = byo_live(&byo)->line[1].start_cyc + byo_live(&byo)->line[1].length_cyc - 1;
	for (i = 0; i < 3; i++) {
		int64_t off =
			byo_read_ns(&byo.page, end, clocks[i]) - byo_true_ns(&byo, clocks[i], end);

		tap_ok(off >= -1 && off <= 1, "%s: at its end %s is the timekeeper's again", what,
		       names[i]);
	}
}

/*
 * A line after a gap that no other follows: readers stand at its end, and then ask the kernel,
 * which must have passed what they had. A timekeeper that was last sure of its clock a while ago
 * has the line begin far above it.
 */
static void end_without_a_next(uint64_t age_ns)
{
	static const uint32_t clocks[] = {VCLOCK_MONOTONIC, VCLOCK_MONOTONIC_RAW, VCLOCK_BOOTTIME};
	const struct vclock_slot *slot;
	uint64_t end;
	unsigned i;

	byo_init(&byo, 2600000000, 1000000, 50, 0, 1700000000);
	byo.tk.error_ns = 100;
	byo_run(&byo, 4);
	byo_advance_ns(&byo, 100 * MS);
	byo_restate(&byo);
	byo_advance_ns(&byo, age_ns);
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == 0,
	       "a line %" PRIu64 " ms after the sample", age_ns / MS);
	slot = byo_live(&byo);
	end = slot->line[1].start_cyc + slot->line[1].length_cyc + slot->clamp_cyc;
	for (i = 0; i < 3; i++) {
		int64_t page = byo_read_ns(&byo.page, end - 1, clocks[i]);
		int64_t kernel = byo_true_ns(&byo, clocks[i], end) - byo.tk.error_ns;

		tap_ok(page > 0 && page <= kernel,
		       "clock %u: nothing goes back from its end to the kernel (%" PRId64 " ns)",
		       clocks[i], page - kernel);
	}
}

int main(void)
{
	end_without_a_next(1 * MS);
	end_without_a_next(60 * MS);
	end_without_a_next(120 * MS);
	line_after_gap("first of all, 30 ns unsure", 0, 30);
	line_after_gap("first of all, 20 us unsure", 0, 20000);
	line_after_gap("3 ms without a page, 30 ns unsure", 3 * MS, 30);
	line_after_gap("3 ms without a page, 20 us unsure", 3 * MS, 20000);
	line_after_gap("10 us after the end, 20 us unsure", 10000, 20000);
	return tap_done();
}
