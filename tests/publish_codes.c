/* SPDX-License-Identifier: MIT */
/* What vclock_page_update() returns, when, and that a failed update shows readers nothing. */
#include "support_byo.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

#define MS 1000000u

static struct byo byo;

static void start(void)
{
	byo_init(&byo, 2600000000, 1000000, 50, 0, 1700000000);
}

/* The live slot, and what readers see in it now and a line later. */
struct view {
	uint32_t generation;
	struct vclock_slot slot;
};

static struct view view(void)
{
	struct view now = {byo.page.generation, *byo_live(&byo)};

	return now;
}

static int is_same(const struct view *before)
{
	struct view now = view();

	return now.generation == before->generation &&
	       memcmp(&now.slot, &before->slot, sizeof(now.slot)) == 0;
}

static void in_time(void)
{
	struct view before;

	start();
	tap_ok(byo_update(&byo) == 0 && byo.page.generation == 1, "the first update: 0");
	before = view();
	tap_ok(byo_update(&byo) == -EALREADY, "at once again: -EALREADY, its line has not begun");
	byo_advance_ns(&byo, 50000);
	tap_ok(byo_update(&byo) == -EALREADY && is_same(&before), "nothing changed by that");
	byo_next(&byo);
	tap_ok(byo_update(&byo) == 0, "when it has begun: 0");
	before = view();
	byo_advance_ns(&byo, MS);
	tap_ok(byo_update(&byo) == -EALREADY && is_same(&before),
	       "the second line has not begun: -EALREADY");
}

/* A caller who updates at fixed times, a little early or late. */
static void at_fixed_times(void)
{
	static const int32_t jitter_us[] = {0, 100, -300, 1000, 4000, -200, 0, -900, 7000, 0};
	unsigned i, failed = 0, gaps = 0;
	uint64_t origin;

	start();
	origin = byo.cyc;
	for (i = 0; i < 200; i++) {
		byo.cyc = origin + (uint64_t)i * 26000000 +
			  (uint64_t)((int64_t)jitter_us[i % 10] * 2600 * (i > 0));
		if (i > 0)
			gaps += byo_read_ns(&byo.page, byo.cyc, VCLOCK_REALTIME) == INT64_MIN;
		failed += byo_update(&byo) != 0;
	}
	tap_ok(failed == 0,
	       "updates at fixed intervals, up to 1 ms early and 7 ms late: 0, always");
	tap_ok(gaps == 0, "and the page never ended");
}

static void too_late(void)
{
	struct view before;
	int64_t end;

	start();
	byo_run(&byo, 4);
	before = view();
	byo.cyc = byo_live(&byo)->line[1].start_cyc + byo_live(&byo)->line[1].length_cyc;
	end = byo_read_ns(&byo.page, byo.cyc, VCLOCK_MONOTONIC);
	byo.cyc -= 260000; /* 100 us before the end, and held up for as long between two looks */
	byo.look_cyc = 130000;
	tap_ok(byo_update(&byo) == -ETIME && is_same(&before),
	       "held up until the line has ended: -ETIME, and nothing shows");
	byo.look_cyc = 0;
	byo_advance_ns(&byo, 3 * MS);
	tap_ok(byo_update(&byo) == 0, "the next call starts after a gap");
	tap_ok(byo_read_ns(&byo.page, byo.cyc, VCLOCK_MONOTONIC) == INT64_MIN,
	       "the gap is not covered");
	byo_advance_ns(&byo, 100001);
	tap_ok(byo_read_ns(&byo.page, byo.cyc, VCLOCK_MONOTONIC) > end,
	       "and the new line is above the old end");

	byo_run(&byo, 3);
	byo_advance_ns(&byo, 100 * MS);
	byo.look_cyc = 260000;
	tap_ok(byo_update(&byo) == -ETIME, "held up for 100 us after a gap: -ETIME");

	start();
	byo_run(&byo, 2);
	byo.tk.valid_ns = 500000;
	byo_restate(&byo);
	byo_advance_ns(&byo, MS);
	before = view();
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == -ETIME && is_same(&before),
	       "a timekeeper older than it says it is good for: -ETIME");
}

static void out_of_reach(void)
{
	struct view before;

	start();
	byo_run(&byo, 4);
	before = view();
	byo_restate(&byo);
	byo.tk.xtime_sec -= 1;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == -ERANGE && is_same(&before),
	       "MONOTONIC a second back: -ERANGE");
	byo.tk.xtime_sec += 2;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == -ERANGE && is_same(&before),
	       "a second forward within a line: -ERANGE");
	byo.tk.xtime_sec -= 1;
	byo.tk.raw_sec -= 1;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == -ERANGE && is_same(&before),
	       "RAW a second back: -ERANGE");
	byo.tk.raw_sec += 1;
	byo.tk.mult /= 16;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == -ERANGE && is_same(&before),
	       "a line that would have to run back: -ERANGE");
	byo.tk.mult *= 16;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == 0, "and then as it was: 0");

	/* After a gap a clock that is still below what the page gave out has to wait. */
	byo_advance_ns(&byo, 60 * MS);
	byo_restate(&byo);
	byo.tk.xtime_nsec = 0;
	byo.tk.xtime_sec -= 1;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == -ERANGE,
	       "after a gap, below the old end: -ERANGE");
	byo.tk.xtime_sec += 5;
	byo.tk.raw_sec += 5;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == 0, "after a gap, far above it: 0");
}

static int update_with(void (*change)(struct vclock_timekeeper *))
{
	struct vclock_timekeeper good;
	int r;

	byo_restate(&byo);
	good = byo.tk;
	change(&byo.tk);
	r = vclock_page_update(&byo.page, &byo.tk);
	byo.tk = good;
	return r;
}

static void mult_0(struct vclock_timekeeper *tk)
{
	tk->mult = 0;
}

static void raw_mult_0(struct vclock_timekeeper *tk)
{
	tk->raw_mult = 0;
}

static void shift_34(struct vclock_timekeeper *tk)
{
	tk->shift = 34;
}

static void nsec_too_large(struct vclock_timekeeper *tk)
{
	tk->xtime_nsec = UINT64_C(1000000000) << tk->shift;
}

static void raw_nsec_too_large(struct vclock_timekeeper *tk)
{
	tk->raw_nsec = UINT64_MAX;
}

static void wall_negative(struct vclock_timekeeper *tk)
{
	tk->wall_to_monotonic.tv_nsec = -1;
}

static void boot_too_large(struct vclock_timekeeper *tk)
{
	tk->monotonic_to_boot.tv_nsec = 1000000000;
}

static void seconds_absurd(struct vclock_timekeeper *tk)
{
	tk->xtime_sec = INT64_MAX;
}

static void wall_absurd(struct vclock_timekeeper *tk)
{
	tk->wall_to_monotonic.tv_sec = INT64_MIN;
}

static void error_too_large(struct vclock_timekeeper *tk)
{
	tk->error_ns = 1000000000;
}

static void too_old(struct vclock_timekeeper *tk)
{
	tk->cycle_last -= UINT64_C(0x80000001);
}

static void from_the_future(struct vclock_timekeeper *tk)
{
	tk->cycle_last += 1000;
}

static void mult_that_does_not_fit(struct vclock_timekeeper *tk)
{
	tk->mult = UINT32_MAX;
	tk->shift = 10;
}

static void invalid(void)
{
	static const struct {
		const char *what;
		void (*change)(struct vclock_timekeeper *);
	} cases[] = {
		{"mult 0", mult_0},
		{"raw_mult 0", raw_mult_0},
		{"shift 34", shift_34},
		{"xtime_nsec of a second", nsec_too_large},
		{"raw_nsec absurd", raw_nsec_too_large},
		{"wall_to_monotonic with negative ns", wall_negative},
		{"monotonic_to_boot with 10^9 ns", boot_too_large},
		{"xtime_sec of 2^63", seconds_absurd},
		{"wall_to_monotonic of -2^63", wall_absurd},
		{"error_ns of a second", error_too_large},
		{"more than 2^31 cycles old", too_old},
		{"from the future", from_the_future},
		{"a rate that does not fit the page's shift", mult_that_does_not_fit},
	};
	struct view before;
	struct vclock_page none;
	size_t i;

	start();
	byo_run(&byo, 3);
	before = view();
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		tap_ok(update_with(cases[i].change) == -EINVAL && is_same(&before),
		       "%s: -EINVAL, and nothing shows", cases[i].what);
	memset(&none, 0, sizeof(none));
	tap_ok(vclock_page_update(&none, &byo.tk) == -EINVAL && none.generation == 0,
	       "a page that was never initialised: -EINVAL");
}

/* The timekeeper's shift need not be the page's. */
static void other_shifts(void)
{
	unsigned shift;

	for (shift = 20; shift <= VCLOCK_SHIFT_MAX; shift++) {
		uint64_t mult;
		int r;

		start();
		mult = ((uint64_t)byo.tk.mult << VCLOCK_SHIFT_MAX) >>
		       (byo.tk.shift + VCLOCK_SHIFT_MAX - shift);
		if (mult > UINT32_MAX)
			continue;
		byo.tk.mult = byo.tk.raw_mult = (uint32_t)mult;
		byo.tk.shift = shift;
		r = byo_run(&byo, 5);
		tap_ok(r == 0 && llabs(byo_read_ns(&byo.page, byo.cyc, VCLOCK_REALTIME) -
				       byo_true_ns(&byo, VCLOCK_REALTIME, byo.cyc)) <= 20,
		       "a timekeeper of shift %u", shift);
	}
}

int main(void)
{
	in_time();
	at_fixed_times();
	too_late();
	out_of_reach();
	invalid();
	other_shifts();
	return tap_done();
}
