/* SPDX-License-Identifier: MIT */
/*
 * Pages whose counter is not this one, or whose writer is silent: a reader falls back, and never
 * makes a huge or a wrapped time of it.
 */
#include "support_byo.h"
#include "tap.h"
#include "vclock/read.h"

#include <inttypes.h>

#define HOUR_CYC (UINT64_C(2600000000) * 3600)

static struct byo byo;

/* Before the page's lines by so much. */
static void before(const char *what, uint64_t cyc)
{
	uint64_t start = byo_live(&byo)->line[0].start_cyc;
	uint64_t ns = 7;

	tap_ok(byo_read_ns(&byo.page, start - cyc, VCLOCK_MONOTONIC) == INT64_MIN &&
		       byo_read_ns(&byo.page, start - cyc, VCLOCK_REALTIME) == INT64_MIN,
	       "M02, N04: %s before the first line: not covered", what);
	if (cyc > HOUR_CYC)
		tap_ok(vclock_read_stamp(&byo.page, start - cyc, VCLOCK_MONOTONIC, &ns) != 0 &&
			       ns == 7,
		       "M02: nor is it as a stamp, and the result is untouched");
}

static void after(const char *what, uint64_t cyc)
{
	const struct vclock_slot *live = byo_live(&byo);
	uint64_t end = live->line[1].start_cyc + live->line[1].length_cyc;

	tap_ok(byo_read_ns(&byo.page, end + cyc, VCLOCK_MONOTONIC) == INT64_MIN &&
		       byo_read_ns(&byo.page, end + cyc, VCLOCK_BOOTTIME) == INT64_MIN &&
		       byo_read_ns(&byo.page, end + cyc, VCLOCK_REALTIME) == INT64_MIN,
	       "M13, M17: %s after the last line: not covered", what);
}

int main(void)
{
	byo_init(&byo, 3000000000, UINT64_C(1) << 56, 50, 0, 1700000000);
	byo.tk.monotonic_to_boot.tv_sec = 315569520;
	byo_run(&byo, 20);
	before("1 cycle", 1);
	before("1000 cycles", 1000);
	before("2^40 cycles", UINT64_C(1) << 40);
	before("2^50 cycles", UINT64_C(1) << 50);
	before("2^63 cycles", UINT64_C(1) << 63);
	after("the clamp", byo_live(&byo)->clamp_cyc);
	after("2^31 cycles", UINT64_C(1) << 31);
	after("2^32 cycles", UINT64_C(1) << 32);
	after("1.8e10 cycles", UINT64_C(18000000000));
	after("an hour", HOUR_CYC);
	after("10 days", HOUR_CYC * 240);
	after("2^40 cycles", UINT64_C(1) << 40);
	after("2^56 cycles", UINT64_C(1) << 56);
	after("2^63 cycles", UINT64_C(1) << 63);
	return tap_done();
}
