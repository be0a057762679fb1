/* SPDX-License-Identifier: MIT */
/*
 * The rate jumps by 1000 ppm every 13 ms while the publisher is late, held up, or killed and
 * started again: readers see no step back, and no error above formula or statement.
 */
#include "support_sim_tap.h"

static struct sim_run run;

enum trouble { NOTHING, STOPS, KILLS };

static void storm(const char *what, enum trouble trouble, uint64_t ahead_ms, uint64_t seed,
		  unsigned floor)
{
	unsigned i, count = sim_count(100, 2000);

	sim_run_init(&run, SIM_HZ, seed);
	run.config.page.ahead_ns = (uint32_t)(ahead_ms * SIM_MS);
	sim_run_restart(&run);
	sim_schedule_every(&run.sim, 0, 13 * SIM_MS, SIM_STORM, 500000);
	sim_run(&run, SIM_SEC / 2);
	sim_run_clear(&run);
	for (i = 0; i < count; i++) {
		sim_run(&run, SIM_SEC);
		run.is_stopped = trouble != NOTHING;
		if (trouble != NOTHING)
			sim_run(&run, sim_random(&run.sim, 60) * SIM_MS);
		run.is_stopped = false;
		if (trouble == KILLS)
			sim_run_restart(&run);
	}
	sim_ok(&run, what, floor);
	if (trouble == STOPS)
		tap_ok(run.clamped_reads > 0 && run.gaps > count / 3,
		       "%s: lines did end, and begin after a gap", what);
	if (trouble == KILLS)
		tap_ok(run.gaps > count * 9 / 10, "%s: each new publisher did publish", what);
}

int main(void)
{
	uint64_t seed = sim_seed(2);

	storm("storm", NOTHING, 10, seed, 990);
	storm("storm, 2 ms ahead", NOTHING, 2, seed, 900);
	storm("storm, stopped now and then", STOPS, 10, seed, 930);
	storm("storm, stopped now and then, 2 ms ahead", STOPS, 2, seed, 850);
	storm("storm, killed and started again", KILLS, 10, seed, 700);
	return tap_done();
}
