/* SPDX-License-Identifier: MIT */
/*
 * The exception of the design, 6: a writer that is held up between its last look at the counter and
 * its store, while the line ends and the rate changes. Readers went to the kernel meanwhile, and
 * the line that appears late was made before the change. It is forced here, it does show, and it is
 * never more than the change of rate makes of two lines, and what MONOTONIC may stand at an end.
 */
#include "support_sim_tap.h"

static struct sim_run run;

/* The second look of a step is the last before the store. */
static int stalled_step(struct sim_run *stalled, uint64_t *ret_sleep_ns,
			enum vclock_retired *ret_reason)
{
	if (stalled->stall_ns != 0)
		stalled->stall_at_look = stalled->sim.looks + 2;
	return publisher_step(&stalled->publisher, ret_sleep_ns, ret_reason);
}

static void rounds(int64_t ppb, bool rate_changes, uint64_t seed)
{
	unsigned i, count = sim_count(1000, 5000);

	sim_run_init(&run, SIM_HZ, seed);
	run.step = stalled_step;
	run.stalls_after = true;
	run.is_punctual = true;
	run.ignores_stated_error = true; /* it states what was true before the stall */
	run.reads_per_10ms = 40;
	sim_run(&run, SIM_SEC / 2);
	sim_run_clear(&run);
	for (i = 0; i < count; i++) {
		run.stall_ns = 0;
		sim_run(&run, 150 * SIM_MS);
		if (rate_changes)
			sim_schedule(&run.sim, 10 * SIM_MS, SIM_STORM, ppb);
		run.stall_ns = 10 * SIM_MS + sim_random(&run.sim, 20 * SIM_MS);
		sim_run(&run, 12 * SIM_MS);
	}
}

int main(void)
{
	uint64_t seed = sim_seed(11), bound;

	rounds(500000, false, seed);
	sim_diag(&run, "stalls, steady rate");
	/* The line that appears late may have ended too, and MONOTONIC stands at its end, although
	 * readers have asked the kernel: for as long as it may, 40 us. */
	tap_ok(run.worst_back_ns <= 41 * SIM_US,
	       "with a steady rate: by %" PRIu64 " ns at most, not more than it stands",
	       run.worst_back_ns);
	rounds(500000, true, seed);
	sim_diag(&run, "stalls while the rate changes by 1000 ppm");
	tap_ok(run.back > 0, "it does step back: the exception is real");
	/* 1000 ppm of a line of 10 ms that is published 10 ms ahead; 40 us where it has ended too.
	 */
	bound = 1000 * 20 / 1000 * SIM_US + 40 * SIM_US;
	tap_ok(run.worst_back_ns <= bound, "by %" PRIu64 " ns at most, below %" PRIu64,
	       run.worst_back_ns, bound);
	return tap_done();
}
