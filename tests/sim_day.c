/* SPDX-License-Identifier: MIT */
/* A steady clock for a long time: the page never drifts from it, not even by the 50 ns it states.
 */
#include "support_sim_tap.h"

static struct sim_run run;

static void steady(const char *what, uint64_t interval_ms, uint64_t steps, uint64_t seed)
{
	uint64_t hour = steps * interval_ms / 24 * SIM_MS;
	unsigned i;

	sim_run_init(&run, SIM_HZ, seed);
	run.config.page.interval_ns = (uint32_t)(interval_ms * SIM_MS);
	sim_run_restart(&run);
	sim_schedule(&run.sim, 0, SIM_RATE, 12345);
	sim_run(&run, 4 * SIM_SEC);
	sim_run_clear(&run);
	run.reads_per_10ms = 2;
	run.is_punctual = true;
	for (i = 0; i < 24; i++) {
		sim_run(&run, hour);
		if (run.over != 0 || run.back != 0)
			break;
	}
	sim_ok(&run, what, 995);
	tap_ok(run.worst_steady_ns <= 12, "%s: never more than 12 ns off", what);
	tap_ok(run.steps >= steps * 99 / 100, "%s: %" PRIu64 " steps", what, run.steps);
}

int main(void)
{
	uint64_t seed = sim_seed(8);

	steady("10 ms", 10, tap_is_long() ? 8640000 : sim_count(200000, 0), seed);
	steady("20 ms", 20, sim_count(20000, 1000000), seed);
	steady("1 ms", 1, sim_count(100000, 1000000), seed);
	return tap_done();
}
