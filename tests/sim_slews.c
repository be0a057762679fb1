/* SPDX-License-Identifier: MIT */
/* Slews of every size that a page follows: error by the formula, followed, nothing steps back. */
#include "support_sim_tap.h"

static struct sim_run run;

static void slew(int64_t ppb, uint64_t seed, unsigned floor)
{
	char what[64];

	sim_run_init(&run, SIM_HZ, seed);
	if (ppb > 500000) /* the change is twice that */
		run.allowed_back_ns = 2 * (uint64_t)ppb * 40 / 1000;
	snprintf(what, sizeof(what), "slews of %+ld ppm", (long)(ppb / 1000));
	sim_run(&run, SIM_SEC / 4);
	sim_run_clear(&run);
	sim_schedule_every(&run.sim, 0, 1000 * SIM_MS + 1234567, SIM_RATE, ppb);
	sim_schedule_every(&run.sim, 310 * SIM_MS, 1000 * SIM_MS + 2345678, SIM_RATE, -ppb);
	sim_schedule_every(&run.sim, 620 * SIM_MS, 1000 * SIM_MS + 3456789, SIM_RATE, 0);
	sim_run(&run, sim_count(40, 400) * SIM_SEC);
	sim_ok(&run, what, floor);
	tap_ok(run.retires == 0, "%s: never retired", what);
}

int main(void)
{
	uint64_t seed = sim_seed(1);

	slew(200, seed, 950);
	slew(500, seed, 950);
	slew(1000, seed, 950);
	slew(2000, seed, 950);
	slew(10000, seed, 950);
	slew(500000, seed, 950);
	slew(50000000, seed, 950);
	slew(110000000, seed, 950);
	return tap_done();
}
