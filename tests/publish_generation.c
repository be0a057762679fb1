/* SPDX-License-Identifier: MIT */
/* S03: generation counts over 2^32 past 0, which means "never written", and the slots go on in
 * turn. */
#include "support_byo.h"
#include "tap.h"

static struct byo byo;

/* The live slot of generation g lies at g & 1: a page whose next generation is `next`. */
static void start_at(uint32_t generation)
{
	byo_init(&byo, 2600000000, 1000000, 50, 0, 1700000000);
	byo_run(&byo, 2 + (generation & 1));
	byo.page.generation = generation;
}

int main(void)
{
	int64_t last;
	unsigned i, wrong = 0;
	uint32_t seen[6];

	start_at(UINT32_MAX - 3);
	last = byo_read_ns(&byo.page, byo.cyc, VCLOCK_MONOTONIC);
	tap_ok(last != INT64_MIN, "a page at 2^32 - 4");
	for (i = 0; i < 6; i++) {
		int64_t mono;

		wrong += byo_update(&byo) != 0;
		seen[i] = byo.page.generation;
		byo_next(&byo);
		mono = byo_read_ns(&byo.page, byo.cyc, VCLOCK_MONOTONIC);
		wrong += mono <= last;
		last = mono;
	}
	tap_ok(seen[0] == UINT32_MAX - 2 && seen[1] == UINT32_MAX - 1 && seen[2] == UINT32_MAX,
	       "it counts up to 2^32 - 1");
	tap_ok(seen[3] == 2 && seen[4] == 3 && seen[5] == 4, "then 2, 3, 4: never 0");
	tap_ok(wrong == 0, "and readers see MONOTONIC go on all the time");

	start_at(UINT32_MAX);
	tap_ok(vclock_page_update_tz(&byo.page, 60, 0) == 0 && byo.page.generation == 2,
	       "so does a timezone");
	start_at(UINT32_MAX);
	vclock_page_retire(&byo.page, VCLOCK_RETIRED_STOPPED, byo.tk.read_counter, &byo);
	tap_ok(byo.page.generation == 2 && byo_live(&byo)->retired == VCLOCK_RETIRED_STOPPED,
	       "and the end of a page");
	start_at(UINT32_MAX);
	byo_live(&byo);
	vclock_page_revive(&byo.page);
	tap_ok(byo.page.generation == 2, "and its revival");
	return tap_done();
}
