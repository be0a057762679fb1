/* SPDX-License-Identifier: MIT */
/* The statistics of src/measure: ranks, overhead, and the label of a loop that is not there. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "measure/measure_stats.h"

static void percentile_is_the_nearest_rank(void **state)
{
	static const double ten[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
	static const double one[] = {7};

	(void)state;
	assert_true(measure_percentile(ten, 10, 0) == 1);
	assert_true(measure_percentile(ten, 10, 500) == 5);
	assert_true(measure_percentile(ten, 10, 501) == 6);
	assert_true(measure_percentile(ten, 10, 990) == 10);
	assert_true(measure_percentile(ten, 10, 1000) == 10);
	assert_true(measure_percentile(one, 1, 0) == 7);
	assert_true(measure_percentile(one, 1, 990) == 7);
}

static void p99_leaves_one_in_a_hundred_out(void **state)
{
	double values[200];
	int i;

	(void)state;
	for (i = 0; i < 200; i++)
		values[i] = i < 198 ? 20 : 1000000;
	assert_true(measure_percentile(values, 200, 990) == 20);
	values[197] = 1000000;
	assert_true(measure_percentile(values, 200, 990) == 1000000);
}

/* 300, 100 and 200 ticks for 10 calls, 2 ns a tick, 1 tick a call for the loop. */
static void summary_takes_the_loop_out(void **state)
{
	uint64_t ticks[] = {300, 100, 200};
	struct measure_samples samples = {ticks, 3, 10, 0};
	struct measure_scale scale = {2, 1, true};
	struct measure_result result;

	(void)state;
	assert_int_equal(measure_summarise(&samples, &scale, &result), 0);
	assert_true(result.min_ns == 18);
	assert_true(result.median_ns == 38);
	assert_true(result.p99_ns == 58);
	assert_true(result.min_cyc == 9);
	assert_int_equal(result.rounds, 3);
	assert_int_equal(result.calls, 10);
	assert_true(result.sorted_ns[0] == 18 && result.sorted_ns[2] == 58);
	assert_true(result.ordered_ns[0] == 58 && result.ordered_ns[1] == 18);
	assert_false(result.is_gone);
	assert_int_equal(ticks[0], 300);
	measure_result_free(&result);
	assert_null(result.sorted_ns);
}

static void cycles_need_the_counter(void **state)
{
	uint64_t ticks[] = {100};
	struct measure_samples samples = {ticks, 1, 10, 0};
	struct measure_scale scale = {1, 1, false};
	struct measure_result result;

	(void)state;
	assert_int_equal(measure_summarise(&samples, &scale, &result), 0);
	assert_true(result.min_cyc == 0);
	measure_result_free(&result);
}

/* Must-fail twin: the same loop time with a body in it is not labelled. */
static void a_loop_that_is_gone_is_labelled(void **state)
{
	uint64_t gone[] = {4, 5, 3}, there[] = {1000, 1010, 990};
	struct measure_samples nothing = {gone, 3, 1000, 0}, something = {there, 3, 1000, 0};
	struct measure_scale scale = {1, 1, true};
	struct measure_result result;

	(void)state;
	assert_int_equal(measure_summarise(&nothing, &scale, &result), 0);
	assert_true(result.is_gone);
	measure_result_free(&result);
	assert_int_equal(measure_summarise(&something, &scale, &result), 0);
	assert_false(result.is_gone);
	/* As cheap as the loop around it is not gone, and may come out below zero. */
	assert_true(result.min_ns < 0 && result.min_ns > -0.1);
	measure_result_free(&result);
}

static void no_samples_are_no_figures(void **state)
{
	struct measure_samples samples = {NULL, 0, 1, 12};
	struct measure_scale scale = {1, 1, true};
	struct measure_result result;

	(void)state;
	assert_int_equal(measure_summarise(&samples, &scale, &result), 0);
	assert_int_equal(result.rounds, 0);
	assert_int_equal(result.negative, 12);
	assert_true(result.min_ns == 0 && result.median_ns == 0 && result.p99_ns == 0);
	assert_false(result.is_gone);
	measure_result_free(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percentile_is_the_nearest_rank),
		cmocka_unit_test(p99_leaves_one_in_a_hundred_out),
		cmocka_unit_test(summary_takes_the_loop_out),
		cmocka_unit_test(cycles_need_the_counter),
		cmocka_unit_test(a_loop_that_is_gone_is_labelled),
		cmocka_unit_test(no_samples_are_no_figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
