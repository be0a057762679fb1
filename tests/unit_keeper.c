/* SPDX-License-Identifier: MIT */
/* src/keeper/keeper.c: what each sample is taken for, the line through a window, and offsets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "keeper/keeper.h"
#include "keeper/scale.h"
#include "support_wide.h"

#define HZ UINT64_C(2600000000)
#define NSEC UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define MS_CYC (HZ / 1000)

static struct keeper_clock kept;
static uint64_t cyc;	/* of the next sample */
static uint64_t now_ns; /* of the clock then */
static uint32_t width;	/* of the next bracket, in cycles */

static int start(void **unused)
{
	(void)unused;
	keeper_clock_reset(&kept);
	cyc = UINT64_C(1) << 40;
	now_ns = 1000 * NSEC;
	width = 100;
	return 0;
}

/* A sample now, whose clock is read `late` cycles after the middle of the bracket. */
static enum keeper_verdict sample_off(int32_t late)
{
	int64_t ns = (int64_t)now_ns + late * 10 / 26;
	struct keeper_bracket bracket = {cyc - width / 2, cyc + width / 2, (uint64_t)ns};

	return keeper_clock_add(&kept, &bracket);
}

static enum keeper_verdict sample(void)
{
	return sample_off(0);
}

/* ms pass; the clock runs at ppb against nominal. */
static void pass(uint64_t ms, int64_t ppb)
{
	cyc += ms * MS_CYC;
	now_ns += ms * MS + (uint64_t)((int64_t)ms * ppb / 1000);
}

/* n samples, 10 ms apart, all on one line. */
static void steady(unsigned n, int64_t ppb)
{
	while (n-- > 0) {
		assert_int_equal(sample(), KEEPER_STEADY);
		pass(10, ppb);
	}
}

static int64_t rate_ppb(void)
{
	uint64_t nominal = scale_shl_div(NSEC, KEEPER_RATE_SHIFT, HZ);

	return ((int64_t)kept.line.rate - (int64_t)nominal) * 1000000 / ((int64_t)nominal / 1000);
}

static int64_t line_off(void)
{
	return (int64_t)(keeper_line_ns(&kept.line, cyc) - now_ns);
}

static void a_steady_clock_gives_its_line(void **unused)
{
	(void)unused;
	steady(200, 12300);
	assert_int_equal(kept.count, KEEPER_WINDOW);
	assert_true(llabs(rate_ppb() - 12300) <= 1);
	assert_true(llabs(line_off()) <= 1);
	assert_int_equal(keeper_clock_span_cyc(&kept), 63 * 10 * MS_CYC);
}

static void the_line_is_there_with_two_samples(void **unused)
{
	(void)unused;
	assert_int_equal(keeper_clock_span_cyc(&kept), 0);
	steady(1, 0);
	assert_int_equal(kept.count, 1);
	assert_int_equal(keeper_clock_span_cyc(&kept), 0);
	steady(1, 0);
	assert_int_equal(keeper_clock_span_cyc(&kept), 10 * MS_CYC);
	assert_true(llabs(line_off()) <= 1);
}

/* 3 ns of noise on each sample: some 0.1 ppm with 10 samples, 0.005 with all. */
static void noise_is_averaged_out(void **unused)
{
	unsigned i;

	(void)unused;
	for (i = 0; i < 100; i++) {
		assert_int_equal(sample_off(i % 3 == 0 ? 8 : -4), KEEPER_STEADY);
		pass(10, 0);
	}
	assert_true(llabs(rate_ppb()) <= 6);
	assert_true(llabs(line_off()) <= 2);
}

static void a_change_of_rate_is_seen_whole(void **unused)
{
	(void)unused;
	steady(80, 0);
	assert_int_equal(sample(), KEEPER_STEADY);
	pass(10, 500000); /* right after a sample */
	assert_int_equal(sample(), KEEPER_CHANGED);
	assert_int_equal(kept.count, 2);
	assert_true(llabs((int64_t)kept.rate_change_ppb - 500000) < 500);
	assert_true(llabs(rate_ppb() - 500000) < 500);
	pass(10, 500000);
	assert_int_equal(sample(), KEEPER_CHANGED); /* the window starts once more */
	assert_int_equal(kept.count, 2);
	pass(10, 500000);
	steady(20, 500000);
	assert_true(llabs(rate_ppb() - 500000) <= 20);
}

/* The change comes in the middle between two samples: the first line is mixed, the second is not,
 * also where the rest of the change is small. */
static void a_mixed_rate_is_left_behind(void **unused)
{
	static const int64_t changes[] = {8000, 50000, 500000, -500000, 100000000, -100000000};
	size_t i;

	for (i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		start(unused);
		steady(80, 0);
		sample();
		pass(3, 0);
		pass(7, changes[i]);
		assert_int_equal(sample(), KEEPER_CHANGED);
		assert_true(llabs(rate_ppb() - changes[i] * 7 / 10) < 1000);
		pass(10, changes[i]);
		assert_int_equal(sample(), KEEPER_CHANGED);
		assert_true(llabs(rate_ppb() - changes[i]) < 1000);
	}
}

/* A change that hides in the brackets shows before it has made 50 ns of the page. */
static void a_small_change_shows_in_time(void **unused)
{
	int64_t ppb;

	for (ppb = 1000; ppb < 10000; ppb += 1000) {
		unsigned steps = 0;

		start(unused);
		steady(80, 0);
		while (sample() != KEEPER_CHANGED && steps++ < 100)
			pass(10, ppb);
		/* The last step is the one that shows it. */
		assert_true(steps > 0 && (steps - 1) * 10 * (uint64_t)ppb / 1000 <= 50);
	}
}

static void counter_and_clock_that_jump(void **unused)
{
	(void)unused;
	steady(40, 0);
	cyc += 5 * MS_CYC; /* the counter forward by half an interval */
	assert_int_equal(sample(), KEEPER_JUMPED);
	assert_int_equal(kept.count, 1);
	pass(10, 0);
	steady(40, 0);
	cyc -= 11 * MS_CYC; /* back, to before the last sample */
	assert_int_equal(sample(), KEEPER_JUMPED);
	pass(10, 0);
	steady(40, 0);
	now_ns += 3600 * NSEC; /* the clock forward */
	assert_int_equal(sample(), KEEPER_JUMPED);
	pass(10, 0);
	steady(40, 0);
	now_ns -= 11 * MS; /* back */
	assert_int_equal(sample(), KEEPER_JUMPED);
}

/* From one limit of the rate to the other is a change, not a jump. */
static void the_widest_slew_is_a_change(void **unused)
{
	(void)unused;
	steady(80, 110000000);
	sample();
	pass(10, -110000000);
	assert_int_equal(sample(), KEEPER_CHANGED);
	pass(10, -110000000);
	assert_int_equal(sample(), KEEPER_CHANGED);
	pass(10, 110000000);
	assert_int_equal(sample(), KEEPER_CHANGED);
}

/* M03 */
static void absurd_brackets_are_rejected(void **unused)
{
	struct keeper_bracket back = {1000, 999, 5}, same;
	unsigned count;

	(void)unused;
	assert_int_equal(keeper_clock_add(&kept, &back), KEEPER_REJECTED);
	assert_int_equal(kept.count, 0);
	steady(10, 0);
	count = kept.count;
	back.before_cyc = cyc;
	back.after_cyc = cyc - 1;
	assert_int_equal(keeper_clock_add(&kept, &back), KEEPER_REJECTED);
	/* A counter that has not moved since the last sample gives no rate. */
	same.before_cyc = kept.line.cyc - 50;
	same.after_cyc = kept.line.cyc + 49;
	same.ns = kept.line.ns;
	assert_int_equal(keeper_clock_add(&kept, &same), KEEPER_REJECTED);
	assert_int_equal(kept.count, count);
}

/* A clock that stands: a rate of 0, and a mult that no page takes. */
static void a_clock_that_stands_has_no_mult(void **unused)
{
	unsigned i;

	(void)unused;
	for (i = 0; i < 2; i++) {
		sample();
		cyc += 10 * MS_CYC;
	}
	assert_int_equal(kept.line.rate, 0);
	assert_int_equal(keeper_rate_to_mult(kept.line.rate, 32), 0);
}

static void wide_brackets_are_left_out(void **unused)
{
	unsigned i;
	uint32_t head;

	(void)unused;
	steady(80, 0);
	head = kept.head;
	width = 3000;
	for (i = 0; i < 8; i++) {
		assert_int_equal(sample_off(1000), KEEPER_REJECTED);
		pass(10, 0);
	}
	assert_int_equal(kept.head, head);
	/* The clock has become slower to read: that is how it is now. */
	assert_int_equal(sample(), KEEPER_STEADY);
	assert_int_equal(kept.head, head + 1);
	pass(10, 0);
	steady(10, 0);
	width = 100;
	steady(1, 0);
	assert_true(kept.width_cyc <= 101);
}

/* A wide bracket that the line passes by says for sure that the rate has changed. */
static void a_wide_bracket_can_deny_the_line(void **unused)
{
	(void)unused;
	steady(80, 0);
	width = 3000;
	pass(10, 10000000);
	assert_int_equal(sample(), KEEPER_CHANGED);
}

static void slow_clock_reads_have_wider_tolerances(void **unused)
{
	unsigned i, changed = 0;

	(void)unused;
	width = 2600; /* 1 us */
	for (i = 0; i < 200; i++) {
		/* Anywhere in the middle two thirds. */
		changed += sample_off((int32_t)(i * 7919 % 1700) - 850) == KEEPER_CHANGED;
		pass(10, 0);
	}
	assert_true(changed <= 4);
	assert_int_equal(kept.count, KEEPER_WINDOW);
}

/* A 1 MHz counter: brackets of one cycle, before and after the same. */
static void slow_counters_are_taken(void **unused)
{
	struct keeper_bracket bracket;
	unsigned i, taken = 0;
	uint64_t nominal = scale_shl_div(NSEC, KEEPER_RATE_SHIFT, 1000000);

	(void)unused;
	for (i = 1; i < 300; i++) {
		uint64_t ns = i * 10 * MS + i * 7919 % 1000;

		bracket.before_cyc = bracket.after_cyc = ns / 1000;
		bracket.ns = ns;
		taken += keeper_clock_add(&kept, &bracket) == KEEPER_STEADY;
	}
	assert_true(taken > 290);
	assert_true(keeper_rate_difference_ppb(kept.line.rate, nominal) < 5000);
}

/* 10 MHz: a clock read while the counter moves is of either cycle; one read within a cycle tells.
 */
static void a_bracket_of_one_cycle_rules_out_doubtful_ones(void **unused)
{
	struct keeper_bracket bracket;
	unsigned i;

	(void)unused;
	for (i = 1; i < 300; i++) {
		bracket.before_cyc = i * UINT64_C(100000);
		bracket.after_cyc = bracket.before_cyc + (i % 4 == 0);
		bracket.ns = bracket.before_cyc * 100;
		assert_int_equal(keeper_clock_add(&kept, &bracket),
				 i % 4 == 0 ? KEEPER_REJECTED : KEEPER_STEADY);
	}
	assert_int_equal(keeper_line_ns(&kept.line, 40000000), UINT64_C(4000000000));
}

/* Before a line's own place as behind it. */
static void line_values_have_their_fraction(void **unused)
{
	struct keeper_line line = {1000, 5000, (UINT64_C(1) << 40) + (UINT64_C(1) << 38), 1u << 31};
	uint32_t frac;

	(void)unused;
	assert_int_equal(keeper_line_at(&line, 1001, &frac), 5001);
	assert_int_equal(frac, 3u << 30);
	assert_int_equal(keeper_line_at(&line, 999, &frac), 4999);
	assert_int_equal(frac, 1u << 30);
	assert_int_equal(keeper_line_at(&line, 997, &frac), 4996);
	assert_int_equal(frac, 3u << 30);
}

static void line_values_saturate(void **unused)
{
	struct keeper_line line = {UINT64_C(1) << 60, 1000, UINT64_C(1) << 40, 0};

	(void)unused;
	assert_int_equal(keeper_line_ns(&line, line.cyc), 1000);
	assert_int_equal(keeper_line_ns(&line, line.cyc + 5), 1005);
	assert_int_equal(keeper_line_ns(&line, line.cyc - 5), 995);
	assert_int_equal(keeper_line_ns(&line, line.cyc - 5000), 0);
	assert_int_equal(keeper_line_ns(&line, 0), 0);
	line.rate = UINT64_C(1) << 60;
	assert_int_equal(keeper_line_ns(&line, UINT64_MAX), UINT64_MAX);
}

static void rates_become_mults(void **unused)
{
	unsigned shift;
	uint64_t rate = scale_shl_div(NSEC, KEEPER_RATE_SHIFT, HZ);

	(void)unused;
	for (shift = 0; shift <= 33; shift++) {
		uint64_t exact = wide_mul_div(rate, UINT64_C(1) << shift, UINT64_C(1) << 39);
		uint64_t mult = (exact + 1) / 2;

		assert_int_equal(keeper_rate_to_mult(rate, shift), mult > UINT32_MAX ? 0 : mult);
	}
	assert_int_equal(keeper_rate_to_mult(UINT64_MAX, 33), 0);
}

static void rate_differences(void **unused)
{
	uint64_t rate = UINT64_C(1) << 40;

	(void)unused;
	assert_int_equal(keeper_rate_difference_ppb(rate, rate), 0);
	assert_true(llabs((int64_t)keeper_rate_difference_ppb(rate + rate / 1000, rate) - 1000000) <
		    3);
	assert_true(llabs((int64_t)keeper_rate_difference_ppb(rate - rate / 1000, rate) - 1000000) <
		    3);
	assert_int_equal(keeper_rate_difference_ppb(UINT64_MAX, 1), UINT32_MAX);
	assert_int_equal(keeper_rate_difference_ppb(rate, 0), UINT32_MAX);
}

static void an_offset_of_0_stays_0(void **unused)
{
	struct keeper_offset offset = {0};
	int i;

	(void)unused;
	for (i = 0; i < 200; i++)
		assert_int_equal(keeper_offset_add(&offset, -30 + i % 7, 25 - i % 5), i == 0);
	assert_int_equal(offset.value_ns, 0);
}

static void an_offset_closes_in(void **unused)
{
	struct keeper_offset offset = {0};
	int64_t before = 0;
	int i;

	(void)unused;
	assert_true(keeper_offset_add(&offset, 1000, 1060));
	assert_int_equal(offset.value_ns, 1000);
	for (i = 0; i < 62; i++) {
		before = offset.value_ns;
		keeper_offset_add(&offset, 1000 + i % 9, 1060 - i % 11);
		assert_true(offset.value_ns >= before);
	}
	assert_true(keeper_offset_add(&offset, 1000, 1060));
	assert_int_equal(offset.value_ns, 1029); /* the middle of 1008 and 1050 */
	assert_false(keeper_offset_add(&offset, 1000, 1060));
}

static void an_offset_jumps(void **unused)
{
	struct keeper_offset offset = {0};

	(void)unused;
	keeper_offset_add(&offset, -20, 20);
	assert_true(keeper_offset_add(&offset, 3600000000000, 3600000000040));
	assert_int_equal(offset.value_ns, 3600000000000);
	assert_int_equal(offset.count, 1);
	assert_true(keeper_offset_add(&offset, -10, 10));
	assert_int_equal(offset.value_ns, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(a_steady_clock_gives_its_line, start),
		cmocka_unit_test_setup(the_line_is_there_with_two_samples, start),
		cmocka_unit_test_setup(noise_is_averaged_out, start),
		cmocka_unit_test_setup(a_change_of_rate_is_seen_whole, start),
		cmocka_unit_test_setup(a_mixed_rate_is_left_behind, start),
		cmocka_unit_test_setup(a_small_change_shows_in_time, start),
		cmocka_unit_test_setup(counter_and_clock_that_jump, start),
		cmocka_unit_test_setup(the_widest_slew_is_a_change, start),
		cmocka_unit_test_setup(absurd_brackets_are_rejected, start),
		cmocka_unit_test_setup(a_clock_that_stands_has_no_mult, start),
		cmocka_unit_test_setup(wide_brackets_are_left_out, start),
		cmocka_unit_test_setup(a_wide_bracket_can_deny_the_line, start),
		cmocka_unit_test_setup(slow_clock_reads_have_wider_tolerances, start),
		cmocka_unit_test_setup(slow_counters_are_taken, start),
		cmocka_unit_test_setup(a_bracket_of_one_cycle_rules_out_doubtful_ones, start),
		cmocka_unit_test(line_values_have_their_fraction),
		cmocka_unit_test(line_values_saturate),
		cmocka_unit_test(rates_become_mults),
		cmocka_unit_test(rate_differences),
		cmocka_unit_test(an_offset_of_0_stays_0),
		cmocka_unit_test(an_offset_closes_in),
		cmocka_unit_test(an_offset_jumps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
