/* SPDX-License-Identifier: MIT */
/*
 * A step is stated, never inferred: without a new clock_was_set_seq the page keeps its offsets,
 * with one both lines have the new ones at once, and only the clocks that step. Timezone likewise.
 */
#include "support_byo.h"
#include "tap.h"

#include <errno.h>
#include <string.h>

#define SEC INT64_C(1000000000)

static struct byo byo;

static int64_t read_clock(uint32_t clk)
{
	return byo_read_ns(&byo.page, byo.cyc, clk);
}

static void start(void)
{
	byo_init(&byo, 2600000000, 1000000, 50, 0, 1700000000);
	byo_run(&byo, 4);
}

/* REALTIME by sec and ns, MONOTONIC as it is. */
static void step_real(int64_t sec, int32_t nsec)
{
	struct vclock_timekeeper *tk = &byo.tk;
	int64_t ns = (int64_t)(tk->xtime_nsec >> tk->shift) + nsec;
	int64_t wall = tk->wall_to_monotonic.tv_nsec - nsec;
	uint64_t rest = tk->xtime_nsec & ((UINT64_C(1) << tk->shift) - 1);
	int64_t carry = ns < 0 ? -1 : ns >= SEC, wall_carry = wall < 0 ? -1 : wall >= SEC;

	tk->xtime_sec += sec + carry;
	tk->xtime_nsec = ((uint64_t)(ns - carry * SEC) << tk->shift) + rest;
	tk->wall_to_monotonic.tv_sec -= sec - wall_carry;
	tk->wall_to_monotonic.tv_nsec = wall - wall_carry * SEC;
}

static void stepped(const char *what, int64_t sec, int32_t nsec)
{
	int64_t real, mono, tai, raw;

	start();
	real = read_clock(VCLOCK_REALTIME);
	mono = read_clock(VCLOCK_MONOTONIC);
	tai = read_clock(VCLOCK_TAI);
	raw = read_clock(VCLOCK_MONOTONIC_RAW);
	byo_restate(&byo);
	step_real(sec, nsec);
	byo.tk.clock_was_set_seq++;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == 0, "%s: published", what);
	tap_ok(read_clock(VCLOCK_REALTIME) == real + sec * SEC + nsec &&
		       read_clock(VCLOCK_REALTIME_ALARM) == real + sec * SEC + nsec &&
		       read_clock(VCLOCK_TAI) == tai + sec * SEC + nsec,
	       "%s: REALTIME and TAI are there at once, to the ns", what);
	tap_ok(read_clock(VCLOCK_MONOTONIC) == mono && read_clock(VCLOCK_MONOTONIC_RAW) == raw,
	       "%s: MONOTONIC and RAW are not touched", what);
}

static void not_inferred(void)
{
	int64_t real, boot, tai;

	start();
	real = read_clock(VCLOCK_REALTIME);
	boot = read_clock(VCLOCK_BOOTTIME);
	tai = read_clock(VCLOCK_TAI);
	byo_restate(&byo);
	step_real(3600, 0);
	byo.tk.tai_offset_sec = 37;
	byo.tk.monotonic_to_boot.tv_sec = 3600;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == 0 && read_clock(VCLOCK_REALTIME) == real &&
		       read_clock(VCLOCK_BOOTTIME) == boot && read_clock(VCLOCK_TAI) == tai,
	       "offsets that changed without a new clock_was_set_seq are not looked at");
	byo.tk.clock_was_set_seq += 1000;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == 0 &&
		       read_clock(VCLOCK_REALTIME) == real + 3600 * SEC &&
		       read_clock(VCLOCK_BOOTTIME) == boot + 3600 * SEC &&
		       read_clock(VCLOCK_TAI) == tai + 3637 * SEC,
	       "with one they are, also where no new line is due");
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == -EALREADY, "and once only");
}

/* B07 */
static void tai(int32_t offset)
{
	int64_t real;

	start();
	byo.tk.tai_offset_sec = offset;
	byo.tk.clock_was_set_seq++;
	byo_update(&byo);
	real = read_clock(VCLOCK_REALTIME);
	tap_ok(read_clock(VCLOCK_TAI) == real + offset * SEC &&
		       byo_live(&byo)->tai_offset_sec == offset,
	       "TAI is REALTIME %+d s, and the page says so", offset);
}

static void a_step_while_a_line_cannot_follow(void)
{
	int64_t real, mono;

	start();
	real = read_clock(VCLOCK_REALTIME);
	mono = read_clock(VCLOCK_MONOTONIC);
	byo_restate(&byo);
	step_real(10, 0);
	/* MONOTONIC out of reach, and a step at the same time. */
	byo.tk.wall_to_monotonic.tv_sec -= 1;
	byo.tk.clock_was_set_seq++;
	tap_ok(vclock_page_update(&byo.page, &byo.tk) == 0 && read_clock(VCLOCK_MONOTONIC) == mono,
	       "a step does not wait for a line that cannot be made");
	tap_ok(read_clock(VCLOCK_REALTIME) == real + 11 * SEC,
	       "REALTIME is MONOTONIC and the stated offset");
}

static void timezone(void)
{
	struct vclock_slot before;
	int64_t mono;

	start();
	before = *byo_live(&byo);
	mono = read_clock(VCLOCK_MONOTONIC);
	tap_ok(vclock_page_update_tz(&byo.page, -120, 1) == 0 &&
		       byo_live(&byo)->tz_minuteswest == -120 && byo_live(&byo)->tz_dsttime == 1,
	       "a timezone is there at once");
	tap_ok(memcmp(byo_live(&byo)->line, before.line, sizeof(before.line)) == 0 &&
		       read_clock(VCLOCK_MONOTONIC) == mono,
	       "and no line moved");
	byo_run(&byo, 3);
	tap_ok(byo_live(&byo)->tz_minuteswest == -120, "updates keep it");
}

int main(void)
{
	stepped("+1 s", 1, 0);
	stepped("-1 s", -1, 0);
	stepped("+1 ns", 0, 1);
	stepped("-1 ns", 0, -1);
	stepped("+999,999,999 ns", 0, 999999999);
	stepped("-999,999,999 ns", 0, -999999999);
	stepped("a year on", 31556952, 5);
	stepped("a year back", -31556952, -5);
	stepped("past 2038", 600000000, 0);
	stepped("before 1970", -1800000000, 0);
	not_inferred();
	tai(37);
	tai(36);
	tai(-1);
	tai(0);
	tai(INT32_MAX);
	tai(INT32_MIN);
	a_step_while_a_line_cannot_follow();
	timezone();
	return tap_done();
}
