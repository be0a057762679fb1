/* SPDX-License-Identifier: MIT */
/*
 * The rules by which the suites judge, on figures made up here: brackets to the nanosecond, what a
 * page's stated error excuses and when, standing still, the share of the page, steady time.
 */
#include <string.h>

#include "check/steady.h"
#include "check/tally.h"
#include "tap.h"

#define LINE_CYC 10000000u
#define ERROR_NS 300u
#define CLAMP_CYC 80000u /* 40 us at 2 GHz */

static struct vclock_page page;
static struct tally tally;
static struct check_subject subject;

/* Ten ended lines and two live ones that abut, at 2 GHz. */
static void make_page(void)
{
	uint64_t start = 1000;
	uint32_t i;

	memset(&page, 0, sizeof(page));
	page.generation = 2;
	page.counter_hz = 2000000000;
	for (i = 0; i < VCLOCK_HISTORY - 1; i++, start += LINE_CYC) {
		page.history[i].start_cyc = start;
		page.history[i].length_cyc = LINE_CYC;
	}
	for (i = 0; i < 2; i++, start += LINE_CYC) {
		page.slot[0].line[i].start_cyc = start;
		page.slot[0].line[i].length_cyc = LINE_CYC;
	}
	page.slot[0].history_count = VCLOCK_HISTORY - 1;
	page.slot[0].error_ns = ERROR_NS;
	page.slot[0].clamp_cyc = CLAMP_CYC;
}

static void begin(void)
{
	make_page();
	memset(&subject, 0, sizeof(subject));
	subject.route = VCLOCK_ROUTE_PAGE;
	subject.fallback_route = VCLOCK_ROUTE_VDSO;
	subject.page = &page;
	tally_init(&tally, &subject);
	tally_block_begin(&tally);
}

static struct check_result end(bool is_steady, bool is_void)
{
	struct check_result result;

	tally_block_end(&tally, is_steady, is_void);
	tally_result(&tally, &result);
	return result;
}

static void brackets(void)
{
	struct check_result r;

	begin();
	tally_bracket(&tally, 100, 100, 100);
	tally_bracket(&tally, 100, 120, 140);
	r = end(true, false);
	tap_ok(r.verdict == CHECK_PASS && r.reads == 2 && r.by_page == 2, "the edges are inside");
	tap_ok(r.below.min_ns == 0 && r.above.min_ns == 0, "... and the margin is 0 there");
	begin();
	tally_bracket(&tally, 100, 99, 140);
	r = end(true, false);
	tap_ok(r.verdict == CHECK_FAIL && r.outside == 1 && r.worst_ns == -1, "1 ns below fails");
	begin();
	tally_bracket(&tally, 100, 141, 140);
	r = end(true, false);
	tap_ok(r.verdict == CHECK_FAIL && r.worst_ns == 1, "1 ns above fails");
	begin();
	tally_bracket(&tally, 100, 90, 80);
	tally_bracket(&tally, 100, 300, 120);
	r = end(true, false);
	tap_ok(r.outside == 0 && r.steady == 0, "a block whose kernel reads go back is void");
	begin();
	tally_bracket(&tally, 0, 500, 1001);
	tally_bracket(&tally, 0, 500, 1000);
	r = end(true, false);
	tap_ok(r.wide == 1 && r.verdict == CHECK_PASS, "a wide bracket is counted, and judged");
}

static void excuses(void)
{
	struct check_result r;

	begin();
	tally_bracket(&tally, 1000, 1000 - ERROR_NS, 2000);
	r = end(false, false);
	tap_ok(r.outside == 0 && r.excused == 1,
	       "unsteady: outside by the stated error is excused");
	begin();
	tally_bracket(&tally, 1000, 999 - ERROR_NS, 2000);
	r = end(false, false);
	tap_ok(r.outside == 1 && r.verdict == CHECK_FAIL, "unsteady: outside by more fails");
	begin();
	page.history[4].length_cyc--;
	tally_bracket(&tally, 1000, 2000 + ERROR_NS, 2000);
	r = end(true, false);
	tap_ok(r.outside == 0 && r.excused == 1, "after a gap: the stated error is excused");
	tap_ok(!r.has_margins, "... and is in no margin");
	begin();
	page.history[4].length_cyc--;
	tally_bracket(&tally, 1000, 2001 + ERROR_NS, 2000);
	r = end(true, false);
	tap_ok(r.outside == 1, "after a gap: more fails");
	begin();
	page.slot[0].history_count = 3;
	tally_bracket(&tally, 1000, 2001, 2000);
	r = end(true, false);
	tap_ok(r.outside == 0 && r.excused == 1, "a page that has just begun: likewise");
	begin();
	subject.page = NULL;
	tally_bracket(&tally, 1000, 2001, 2000);
	r = end(true, false);
	tap_ok(r.outside == 1, "the kernel is never excused");
	begin();
	tally_bracket(&tally, 1000, 2000000000, 2000);
	r = end(true, true);
	tap_ok(r.outside == 0 && r.verdict == CHECK_UNSTEADY, "a clock that was set is not judged");
}

/* All lines of make_page() as times of MONOTONIC from 5 s on, 5 ms each. */
static void give_times(struct vclock_line *line)
{
	line->mult[0] = 1;
	line->base[VCLOCK_MONOTONIC].sec = 5;
	line->base[VCLOCK_MONOTONIC].fns = line->start_cyc;
}

/*
 * A reader that is held up between its read and the judge finds a page that has gone on. Whether v,
 * of clk and below the one before it, is excused then.
 */
static bool is_held_up(int32_t clk, int64_t v, int64_t distance)
{
	struct check_result r;
	uint32_t i;

	begin();
	page.shift = 1; /* 2 GHz: a mult of 1 */
	for (i = 0; i < VCLOCK_HISTORY - 1; i++)
		give_times(&page.history[i]);
	tally.clk = clk;
	tally_outside(&tally, v, distance);
	r = end(true, false);
	return r.outside == 0 && r.excused == 1;
}

static void held_up(void)
{
	const int64_t third_ns = INT64_C(5000000000) + (1000 + 2 * LINE_CYC) / 2;

	tap_ok(is_held_up(VCLOCK_MONOTONIC, third_ns - 1, -164),
	       "whether a page's oldest two lines come after a gap is forgotten: excused");
	tap_ok(!is_held_up(VCLOCK_MONOTONIC, third_ns, -164),
	       "... that the third does not is known");
	tap_ok(!is_held_up(VCLOCK_MONOTONIC, third_ns - 1, -1 - (int64_t)ERROR_NS),
	       "... and none is farther off than is stated");
	tap_ok(!is_held_up(TALLY_NO_CLOCK, third_ns - 1, -164), "... nor is what is no clock's");
}

static void standing_still(void)
{
	make_page();
	tap_ok(tally_stands_still(&page, 1000, 900, 0, 900),
	       "the same value once more stands still");
	tap_ok(!tally_stands_still(&page, 1000, 900, 0, 925), "a clock that is behind does not");
	tap_ok(tally_stands_still(&page, 40500, 900, 0, 40600),
	       "... and one that then leaves for the kernel's");
	tap_ok(!tally_stands_still(&page, 50000, 900, 0, 900), "50 us is longer than it may");
	tap_ok(tally_stands_still(&page, 1000, 900, CHECK_UNCOVERED, 0), "a page that then ends");
	tap_ok(!tally_stands_still(&page, 1000, 900, -EINVAL, 0), "an error is no excuse");
}

static int soon_after(const struct check_subject *of, int32_t clk, struct vclock_timespec *ret_ts)
{
	(void)of;
	(void)clk;
	*ret_ts = (struct vclock_timespec){5, 1100};
	return 0;
}

/* The writer was just in time: a reader saw the line's end, and the next line goes on at once. */
static void standing_still_for_a_moment(void)
{
	const int64_t end_ns = INT64_C(5000000000);
	struct vclock_line *line;

	begin();
	subject.gettime = soon_after;
	page.shift = 1; /* 2 GHz: a mult of 1 */
	line = &page.history[VCLOCK_HISTORY - 2];
	line->mult[0] = 1;
	line->base[VCLOCK_MONOTONIC].sec = 4;
	line->base[VCLOCK_MONOTONIC].fns = 2 * UINT64_C(1000000000) - LINE_CYC;
	tap_ok(tally_clock_stands_still(&subject, VCLOCK_MONOTONIC, end_ns + 164, end_ns),
	       "the value at a line's end stands still, whatever comes next");
	tap_ok(!tally_clock_stands_still(&subject, VCLOCK_MONOTONIC, end_ns + 164, end_ns - 1),
	       "... and no other does");
	tap_ok(!tally_clock_stands_still(&subject, VCLOCK_MONOTONIC, end_ns + 50000, end_ns),
	       "... and not for 50 us");
	tap_ok(!tally_clock_stands_still(&subject, VCLOCK_REALTIME, end_ns + 164, end_ns),
	       "... and REALTIME never");
}

static void shares(void)
{
	struct check_result r;
	int i;

	begin();
	r = end(true, false);
	tap_ok(r.verdict == CHECK_FAIL, "nothing read is a failure");
	begin();
	for (i = 0; i < 100; i++)
		tally_bracket(&tally, 0, 1, 2);
	tally.fallbacks = 5;
	r = end(true, false);
	tap_ok(r.verdict == CHECK_PASS && r.by_page == 95 && r.by_vdso == 5, "95 %% passes");
	begin();
	for (i = 0; i < 100; i++)
		tally_bracket(&tally, 0, 1, 2);
	tally.fallbacks = 6;
	r = end(true, false);
	tap_ok(r.verdict == CHECK_FAIL && r.by_page == 94, "94 %% fails");
	begin();
	for (i = 0; i < 94; i++)
		tally_bracket(&tally, 0, 1, 2);
	for (i = 0; i < 6; i++)
		tally_no_value(&tally, CHECK_UNCOVERED);
	r = end(true, false);
	tap_ok(r.verdict == CHECK_FAIL && r.reads == 100, "reads without a value are reads");
	begin();
	tally_bracket(&tally, 0, 1, 2);
	tally_no_value(&tally, -EPERM);
	r = end(true, false);
	tap_ok(r.verdict == CHECK_FAIL, "a call that fails is a failure");
}

static struct check_result blocks(int steady, int unsteady)
{
	begin();
	tally_bracket(&tally, 0, 1, 2);
	while (steady-- > 0)
		tally_block_end(&tally, true, false);
	while (--unsteady > 0)
		tally_block_end(&tally, false, false);
	return end(unsteady < 0, false);
}

static void steadiness(void)
{
	struct check_steady steady = {.has_looked = true, .rate_changed_ns = 5000000000u};
	uint64_t second = 1000000000;

	tap_ok(blocks(9, 1).verdict == CHECK_PASS, "90 %% of steady blocks pass");
	tap_ok(blocks(8, 1).verdict == CHECK_UNSTEADY, "less is no pass");
	tap_ok(!steady_rate(&steady, 5 * second), "a block in which the rate changed is unsteady");
	tap_ok(!steady_rate(&steady, 6 * second), "... and the second after it");
	tap_ok(steady_rate(&steady, 6 * second + 1), "... and no longer");
	steady.wall_changed_ns = 5 * second;
	tap_ok(!steady_wall(&steady, 5 * second), "a block in which the clock was set is void");
	tap_ok(steady_wall(&steady, 5 * second + 1), "... and no other");
}

/* This machine's own rate may be anything; that it can be looked at twice is what is asked. */
static void looking(void)
{
	struct check_steady steady;

	memset(&steady, 0, sizeof(steady));
	check_steady_look(&steady);
	steady.freq += 1;
	check_steady_look(&steady);
	tap_ok(steady.error != 0 || steady.rate_changed_ns != 0, "another frequency is noticed");
	steady.rate_changed_ns = 0;
	steady.tick -= 1;
	check_steady_look(&steady);
	tap_ok(steady.error != 0 || steady.rate_changed_ns != 0, "another tick is noticed");
	steady.real_minus_mono_ns -= 1;
	check_steady_look(&steady);
	tap_ok(steady.wall_changed_ns != 0, "another offset of REALTIME is noticed");
}

int main(void)
{
	brackets();
	excuses();
	held_up();
	standing_still();
	standing_still_for_a_moment();
	shares();
	steadiness();
	looking();
	return tap_done();
}
