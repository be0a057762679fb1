/* SPDX-License-Identifier: MIT */
/*
 * A stamp is convertible for 100 ms and more, to the value that the line gave then; the entry that
 * the next update overwrites is never read; a gap and a counter that began anew leave no nonsense.
 */
#include "support_byo.h"
#include "tap.h"
#include "vclock/read.h"

#include <errno.h>
#include <string.h>

#define MS 2600000u /* cycles */
#define STAMPS 4096

static struct byo byo;

static struct stamp {
	uint64_t cyc;
	int64_t mono, raw;
} stamps[STAMPS];
static unsigned count;

static void stamp(void)
{
	struct stamp *now = &stamps[count++ % STAMPS];

	now->cyc = byo.cyc;
	now->mono = byo_read_ns(&byo.page, byo.cyc, VCLOCK_MONOTONIC);
	now->raw = byo_read_ns(&byo.page, byo.cyc, VCLOCK_MONOTONIC_RAW);
}

static int convert(uint64_t cyc, uint32_t clk, int64_t *ret_ns)
{
	uint64_t ns;
	int r = vclock_read_stamp(&byo.page, cyc, clk, &ns);

	if (r == 0)
		*ret_ns = (int64_t)ns;
	return r;
}

/* How many of the stamps of the last `ms` do not convert to what was read then. */
static unsigned wrong_stamps(unsigned ms)
{
	unsigned wrong = 0, i;

	for (i = 0; i < STAMPS && i < count; i++) {
		int64_t mono = 0, raw = 0;

		if (stamps[i].mono == INT64_MIN || byo.cyc - stamps[i].cyc > (uint64_t)ms * MS)
			continue;
		wrong += convert(stamps[i].cyc, VCLOCK_MONOTONIC, &mono) != 0 ||
			 convert(stamps[i].cyc, VCLOCK_MONOTONIC_RAW, &raw) != 0 ||
			 mono != stamps[i].mono || raw != stamps[i].raw;
	}
	return wrong;
}

/* As a publisher does it: due times, and stamps in between. */
static unsigned follow(unsigned updates)
{
	unsigned wrong = 0, i, n;

	for (i = 0; i < updates; i++) {
		wrong += byo_update(&byo) != 0;
		for (n = 0; n < 20; n++) {
			byo.cyc += byo.page.interval_ns * 26u / 10 / 20;
			stamp();
			wrong += wrong_stamps(100);
		}
		byo_next(&byo);
	}
	return wrong;
}

static void start(uint64_t cyc)
{
	count = 0;
	byo_init(&byo, 2600000000, cyc, 50, 0, 1700000000);
	byo_update(&byo);
	byo_next(&byo);
}

static void hundred_ms(void)
{
	int64_t ns = 0;

	start(1000000);
	tap_ok(follow(60) == 0, "every stamp of the last 100 ms converts to what was read then");
	tap_ok(convert(byo.cyc - (uint64_t)250 * MS, VCLOCK_MONOTONIC, &ns) == -EAGAIN,
	       "one of 250 ms ago is no longer known");
	tap_ok(convert(byo.cyc + (uint64_t)250 * MS, VCLOCK_MONOTONIC, &ns) == -EAGAIN,
	       "one of the future is not known");
	tap_ok(convert(byo.cyc, VCLOCK_MONOTONIC_COARSE, &ns) == -EAGAIN,
	       "nor is a clock that the page does not have");
	tap_ok(convert(byo.cyc - (uint64_t)50 * MS, VCLOCK_REALTIME, &ns) == 0 &&
		       llabs(ns - byo_true_ns(&byo, VCLOCK_REALTIME, byo.cyc) + 50000000) <= 20,
	       "REALTIME of 50 ms ago");
}

/* A step changes what is live, not what is past. */
static void over_a_step(void)
{
	int64_t before = 0, after = 0;
	uint64_t cyc;

	start(1000000);
	follow(20);
	cyc = byo.cyc - (uint64_t)60 * MS;
	convert(cyc, VCLOCK_REALTIME, &before);
	byo_restate(&byo);
	byo.tk.xtime_sec += 1000;
	byo.tk.wall_to_monotonic.tv_sec -= 1000;
	byo.tk.clock_was_set_seq++;
	vclock_page_update(&byo.page, &byo.tk);
	tap_ok(convert(cyc, VCLOCK_REALTIME, &after) == 0 && after == before,
	       "REALTIME of before a step is what it was");
}

/* The entry that the next update may overwrite holds nonsense: no reader notices. */
static void torn(void)
{
	unsigned i, wrong = 0;

	start(1000000);
	for (i = 0; i < 40; i++) {
		wrong += follow(1);
		memset(&byo.page.history[byo_live(&byo)->history_count % VCLOCK_HISTORY], 0x55,
		       sizeof(byo.page.history[0]));
		memset(&byo.page.slot[(byo.page.generation + 1) & 1], 0x55,
		       sizeof(byo.page.slot[0]));
		wrong += wrong_stamps(90);
	}
	tap_ok(wrong == 0, "half-written words of the next update are never read");
	/* Must fail: one entry further, which is read. */
	memset(&byo.page.history[(byo_live(&byo)->history_count + 10) % VCLOCK_HISTORY], 0x55,
	       sizeof(byo.page.history[0]));
	tap_ok(wrong_stamps(90) > 0, "and a torn entry that is read would be noticed");
}

static void over_a_gap(void)
{
	unsigned wrong;
	int64_t ns = 0;
	uint64_t in_gap;

	start(1000000);
	wrong = follow(20);
	byo.cyc += 35 * MS;
	in_gap = byo.cyc;
	tap_ok(convert(in_gap, VCLOCK_MONOTONIC, &ns) == -EAGAIN, "a gap has no time");
	wrong += byo_update(&byo) != 0;
	wrong += wrong_stamps(90);
	byo_next(&byo);
	wrong += follow(2);
	tap_ok(wrong == 0, "stamps of before a gap of 35 ms convert after it");
	tap_ok(convert(in_gap, VCLOCK_MONOTONIC, &ns) == -EAGAIN, "those of the gap never do");
}

/* The counter starts again below all lines: none of them claims a value that is yet to come. */
static void counter_anew(void)
{
	unsigned claimed = 0, i;
	int64_t mono, ns = 0;

	start((uint64_t)200 * MS);
	follow(20);
	mono = stamps[(count - 1) % STAMPS].mono;
	byo.cyc = 5 * MS;
	byo.tk.cycle_last = byo.cyc;
	byo.tk.xtime_sec += 1;
	byo.tk.raw_sec += 1;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == 0,
	       "an update after the counter began anew");
	byo_next(&byo);
	for (i = 0; i < 600; i++)
		claimed += convert(byo.cyc + (uint64_t)(30 + i) * MS, VCLOCK_MONOTONIC, &ns) == 0;
	tap_ok(claimed == 0, "no old line claims counter values to come");
	tap_ok(byo_read_ns(&byo.page, byo.cyc, VCLOCK_MONOTONIC) > mono, "and MONOTONIC goes on");
}

int main(void)
{
	hundred_ms();
	over_a_step();
	torn();
	over_a_gap();
	counter_anew();
	return tap_done();
}
