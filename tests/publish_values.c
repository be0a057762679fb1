/* SPDX-License-Identifier: MIT */
/*
 * What a page answers, against 128-bit arithmetic: to the ns what its line says, and at the end of
 * each line but the first what the timekeeper says. Slow and fast counters, values near 2^62, dates
 * past 2038.
 */
#include "support_byo.h"
#include "tap.h"
#include "vclock/read.h"

#include <inttypes.h>
#include <stdlib.h>

static struct byo byo;

static const uint32_t clocks[] = {VCLOCK_REALTIME, VCLOCK_MONOTONIC,	  VCLOCK_MONOTONIC_RAW,
				  VCLOCK_BOOTTIME, VCLOCK_REALTIME_ALARM, VCLOCK_BOOTTIME_ALARM,
				  VCLOCK_TAI};
#define CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

static uint64_t random_state = 1;

static uint64_t random_below(uint64_t n)
{
	random_state = random_state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (random_state >> 11) % n;
}

/* Every clock at many counter values of both live lines, their first and last ones too. */
static unsigned wrong_values(unsigned *ret_reads)
{
	const struct vclock_slot *live = byo_live(&byo);
	unsigned wrong = 0, i, n, l;

	for (l = 0; l < 2; l++) {
		const struct vclock_line *line = &live->line[l];

		for (n = 0; line->length_cyc != 0 && n < 40; n++) {
			uint64_t cyc = line->start_cyc + random_below(line->length_cyc);

			if (n == 0)
				cyc = line->start_cyc;
			if (n == 1)
				cyc = line->start_cyc + line->length_cyc - 1;
			for (i = 0; i < CLOCKS; i++, ++*ret_reads)
				wrong += byo_read_ns(&byo.page, cyc, clocks[i]) !=
					 byo_line_ns(&byo.page, line, clocks[i], cyc);
		}
	}
	return wrong;
}

/* The worst distance from the timekeeper at the end of the second line: it is steered there. */
static uint64_t worst_at_end(void)
{
	const struct vclock_line *line = &byo_live(&byo)->line[1];
	uint64_t end = line->start_cyc + line->length_cyc, worst = 0;
	unsigned i;

	for (i = 0; i < CLOCKS; i++) {
		int64_t off = byo_line_ns(&byo.page, line, clocks[i], end) -
			      byo_true_ns(&byo, clocks[i], end);

		if ((uint64_t)llabs(off) > worst)
			worst = (uint64_t)llabs(off);
	}
	return worst;
}

static void follow(const char *what, unsigned updates)
{
	unsigned wrong = 0, reads = 0, failed = 0, backward = 0, i;
	uint64_t worst = 0;
	int64_t last = INT64_MIN;

	for (i = 0; i < updates; i++) {
		int64_t mono;

		failed += byo_update(&byo) != 0;
		wrong += wrong_values(&reads);
		if (i > 0 && worst_at_end() > worst) /* the first runs beside it: publish_gap */
			worst = worst_at_end();
		byo_next(&byo);
		mono = byo_read_ns(&byo.page, byo.cyc, VCLOCK_MONOTONIC);
		backward += mono < last || mono == INT64_MIN;
		last = mono;
	}
	tap_ok(failed == 0, "%s: %u updates", what, updates);
	tap_ok(reads > updates * CLOCKS && wrong == 0, "%s: %u reads as 128 bits have them", what,
	       reads);
	tap_ok(worst <= 1, "%s: each line but the first ends where the timekeeper is", what);
	tap_ok(backward == 0, "%s: MONOTONIC goes on", what);
}

static void at(const char *what, uint64_t hz, uint64_t cyc, int64_t mono_sec, uint32_t nsec,
	       int64_t real_sec)
{
	byo_init(&byo, hz, cyc, mono_sec, nsec, real_sec);
	byo.tk.tai_offset_sec = 37;
	byo.tk.monotonic_to_boot.tv_sec = 315569520; /* M17: suspended for ten years */
	byo.tk.monotonic_to_boot.tv_nsec = 999999999;
	follow(what, 40);
}

int main(void)
{
	static const uint64_t rates[] = {1000,	     10000,	 1000000,    24000000,	 998160346,
					 1000000000, 2600000000, 4294967296, 10000000000};
	static const uint32_t never[] = {2, 3, 5, 6, 10, 12, 31, 32, 64, UINT32_MAX};
	char what[64];
	size_t i;
	unsigned answered = 0;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		snprintf(what, sizeof(what), "%" PRIu64 " Hz", rates[i]);
		at(what, rates[i], 123456789, 1000, 5, 1700000000);
	}
	/* M08, M15: the error is that of a line's length, not of the counter's size. */
	at("a counter at 2^60", 2600000000, UINT64_C(1) << 60, 5, 0, 1700000000);
	at("a counter at 2^62", 3000000000, UINT64_C(1) << 62, 5, 0, 1700000000);
	at("a counter that wraps", 2600000000, UINT64_MAX - 130000000, 5, 0, 1700000000);
	/* T06, T07, T08 */
	at("1.9e9 s + 999,999,999 ns", 2600000000, 77, 1900000000, 999999999, 1900000000);
	at("2^31 s", 2600000000, 77, 100, 999999000, 2147483647);
	at("2040", 2600000000, 77, 2208988800, 0, 2208988800);
	at("2^32 s", 2600000000, 77, 4294967295, 999999999, 4294967295);
	at("before 1970", 2600000000, 77, 100, 0, -5000000000);
	for (i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		answered += byo_read_ns(&byo.page, byo_live(&byo)->line[0].start_cyc, never[i]) !=
			    INT64_MIN;
	tap_ok(answered == 0, "other clock ids are never answered");
	return tap_done();
}
