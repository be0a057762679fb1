/* SPDX-License-Identifier: MIT */
/*
 * A slow counter that is the kernel's clocksource: its clocks stand still between two cycles, as
 * the page does, and a read of the kernel before and one after can be of the same cycle as a read
 * of the page. So the page must be the kernel's clock; where a cycle is no whole number of ns, but
 * for what neither shows: both are cut off to whole ns. A cycle is longer here than it takes to
 * read a clock: of a shorter one no sample tells for sure that the kernel read in it.
 */
#include "support_sim_tap.h"

static struct sim_run run;

static void steady(uint64_t hz, int64_t ppb, uint64_t off_ns, uint64_t seed)
{
	char what[64];

	snprintf(what, sizeof(what), "%" PRIu64 " Hz, %" PRIi64 " ppb", hz, ppb);
	sim_run_init(&run, hz, seed);
	run.sim.is_clocksource = true;
	run.is_punctual = true;
	sim_schedule(&run.sim, 0, SIM_RATE, ppb);
	sim_run(&run, 4 * SIM_SEC);
	sim_run_clear(&run);
	sim_run(&run, sim_count(40, 400) * SIM_SEC);
	sim_ok(&run, what, 990);
	tap_ok(run.worst_steady_ns <= off_ns, "%s: never more than %" PRIu64 " ns off", what,
	       off_ns);
}

int main(void)
{
	static const uint64_t rates[] = {4000000, 10000000};
	uint64_t seed = sim_seed(10);
	size_t i;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		steady(rates[i], 0, 0, seed);
		steady(rates[i], 12345, 1, seed);
	}
	return tap_done();
}
