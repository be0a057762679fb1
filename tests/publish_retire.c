/* SPDX-License-Identifier: MIT */
/*
 * The end of a page: an orderly one lets the line run for 100 us, so that MONOTONIC goes on to the
 * kernel's clock; for any other reason it ends at once. Updates are refused until it is revived.
 */
#include "support_byo.h"
#include "tap.h"

#include <errno.h>

#define US 2600u /* cycles */

static struct byo byo;

/* The first line runs, the second has not begun. */
static void start(void)
{
	byo_init(&byo, 2600000000, 1000000, 50, 0, 1700000000);
	byo_run(&byo, 5);
	byo_update(&byo);
}

static int64_t mono(void)
{
	return byo_read_ns(&byo.page, byo.cyc, VCLOCK_MONOTONIC);
}

static void retire(enum vclock_retired reason)
{
	vclock_page_retire(&byo.page, reason, byo.tk.read_counter, &byo);
}

static void orderly(enum vclock_retired reason)
{
	int64_t before, at_end;
	uint64_t end;

	start();
	before = mono();
	retire(reason);
	tap_ok(byo_live(&byo)->retired == reason, "%d: the page says why", (int)reason);
	tap_ok(mono() == before, "%d: and answers as before", (int)reason);
	byo.cyc += 99 * US;
	at_end = mono();
	tap_ok(at_end >= before + 98999, "%d: for 100 us", (int)reason);
	tap_ok(byo_read_ns(&byo.page, byo.cyc, VCLOCK_REALTIME) != INT64_MIN, "%d: REALTIME too",
	       (int)reason);
	byo.cyc += 2 * US;
	tap_ok(byo_read_ns(&byo.page, byo.cyc, VCLOCK_REALTIME) == INT64_MIN,
	       "%d: then REALTIME is the kernel's", (int)reason);
	tap_ok(mono() >= at_end && mono() <= at_end + 1100, "%d: MONOTONIC stands for a while",
	       (int)reason);
	end = byo_live(&byo)->line[0].start_cyc + byo_live(&byo)->line[0].length_cyc;
	byo.cyc = end + byo_live(&byo)->clamp_cyc;
	tap_ok(mono() == INT64_MIN, "%d: and is then the kernel's too", (int)reason);
	byo.cyc += 26000000;
	tap_ok(mono() == INT64_MIN, "%d: the line that had not begun never does", (int)reason);
}

static void at_once(enum vclock_retired reason)
{
	start();
	retire(reason);
	tap_ok(byo_live(&byo)->retired == reason && mono() == INT64_MIN,
	       "%d: the page ends at once, and says why", (int)reason);
}

static void revived(void)
{
	int64_t before;
	uint32_t generation;

	start();
	before = mono();
	retire(VCLOCK_RETIRED_STOPPED);
	byo_advance_ns(&byo, 1000000);
	generation = byo.page.generation;
	tap_ok(byo_update(&byo) == -EPERM && byo.page.generation == generation,
	       "a retired page takes no update");
	vclock_page_revive(&byo.page);
	tap_ok(byo_live(&byo)->retired == VCLOCK_RETIRED_NOT && mono() == INT64_MIN,
	       "revived, it covers nothing yet");
	tap_ok(byo_update(&byo) == 0, "and takes one again");
	byo_advance_ns(&byo, 200000);
	tap_ok(mono() > before, "MONOTONIC goes on above what it was");

	start();
	retire(VCLOCK_RETIRED_CLOCKSOURCE);
	vclock_page_revive(&byo.page);
	tap_ok(byo_update(&byo) == 0, "one that ended at once likewise");
}

static void retired_twice(void)
{
	int64_t at_end;

	start();
	retire(VCLOCK_RETIRED_STOPPED);
	byo.cyc += 120 * US;
	at_end = mono();
	retire(VCLOCK_RETIRED_STOPPED);
	tap_ok(mono() == at_end, "retired again: the end does not move");
	byo_init(&byo, 2600000000, 1000000, 50, 0, 1700000000);
	retire(VCLOCK_RETIRED_STOPPED);
	tap_ok(byo_live(&byo)->retired == VCLOCK_RETIRED_STOPPED && mono() == INT64_MIN,
	       "a page that was never published can be retired");
}

/* The end lies ahead of every counter value that was read before it showed, also for a writer that
 * is held up; three tries, then it is as it is. */
static void held_up(void)
{
	start();
	byo.look_cyc = 50 * US;
	retire(VCLOCK_RETIRED_REPLACED);
	byo.look_cyc = 0;
	tap_ok(byo_read_ns(&byo.page, byo.cyc, VCLOCK_REALTIME) != INT64_MIN,
	       "held up for less than 100 us: the line still runs");
	start();
	byo.look_cyc = 500 * US;
	byo.looks = 0;
	retire(VCLOCK_RETIRED_REPLACED);
	tap_ok(byo.looks == 6 && byo_live(&byo)->retired == VCLOCK_RETIRED_REPLACED,
	       "held up ever again: it ends after three tries");
}

int main(void)
{
	orderly(VCLOCK_RETIRED_STOPPED);
	orderly(VCLOCK_RETIRED_REPLACED);
	orderly(VCLOCK_RETIRED_EXPOSED);
	at_once(VCLOCK_RETIRED_CLOCKSOURCE);
	at_once(VCLOCK_RETIRED_RATE);
	at_once(VCLOCK_RETIRED_BACKWARD);
	at_once(VCLOCK_RETIRED_SKEW);
	at_once(VCLOCK_RETIRED_REFERENCE);
	revived();
	retired_twice();
	held_up();
	return tap_done();
}
