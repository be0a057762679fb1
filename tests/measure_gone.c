/* SPDX-License-Identifier: MIT */
/*
 * A loop that the compiler took away is recognised, one that is there is not, in one thread and in
 * two. The loop that is gone is written as a compiler leaves it, so that -O0 builds see it too.
 */
#include "measure/measure.h"
#include "tap.h"

static volatile uint32_t word;

static void gone_loop(const void *subject, uint32_t calls)
{
	(void)subject;
	(void)calls;
	measure_keep_long((long)word);
}

MEASURE_LOOP(load_loop, , measure_keep_long((long)word))
MEASURE_LOOP(counter_loop, , measure_keep_u64(*(volatile uint64_t *)subject))

static void judge(uint32_t threads)
{
	uint64_t memory = 0;
	struct measure_candidate candidates[] = {
		{.loop = measure_empty_loop},
		{.loop = gone_loop},
		{.loop = load_loop},
		{.loop = counter_loop, .subject = &memory},
	};
	struct measure_options options = {.rounds = 40, .threads = threads};
	size_t i;
	int r;

	r = measure_run(&options, candidates, 4);
	if (!tap_ok(r == 0, "%u threads: it runs (%d)", threads, r))
		return;
	for (i = 0; i < 4; i++)
		tap_diag("candidate %zu: %.3f ns, %u calls a batch", i, candidates[i].result.min_ns,
			 candidates[i].result.calls);
	tap_ok(candidates[0].result.min_ns > 0, "the empty loop takes time");
	tap_ok(candidates[1].result.is_gone, "a loop that is gone is labelled");
	tap_ok(!candidates[0].result.is_gone && !candidates[2].result.is_gone &&
		       !candidates[3].result.is_gone,
	       "loops that are there are not");
	tap_ok(candidates[2].result.rounds + candidates[2].result.negative == 40 * threads,
	       "every round of every thread is counted");
	for (i = 0; i < 4; i++)
		measure_result_free(&candidates[i].result);
}

int main(void)
{
	judge(1);
	judge(2);
	return tap_done();
}
