/* SPDX-License-Identifier: MIT */
/*
 * Counters from 1 MHz to 10 GHz. A slow counter stands still between its cycles, and so does the
 * page: the judge allows two of them, for a reader and a sample. Below 10 MHz eight more: the
 * bracket of a sample is then one cycle wide, and the rate that much less known. Slower ones are
 * tested without a keeper, in publish_rates.c.
 */
#include "support_sim_tap.h"

static struct sim_run run;

static void rate(uint64_t hz, uint64_t seed)
{
	char what[64];

	snprintf(what, sizeof(what), "%" PRIu64 " Hz", hz);
	sim_run_init(&run, hz, seed);
	if (hz < 10000000) {
		run.extra_allowed_ns = 8 * SIM_SEC / hz;
		run.is_punctual = true; /* late, the rate is two samples' for a while */
	}
	sim_run(&run, SIM_SEC);
	tap_ok(run.page.generation != 0, "%s: published", what);
	tap_ok(run.page.shift <= VCLOCK_SHIFT_MAX && run.page.slot[0].line[1].mult[0] != 0,
	       "%s: shift %u, mult %u", what, run.page.shift, run.page.slot[0].line[1].mult[0]);
	sim_run_clear(&run);
	sim_schedule_every(&run.sim, 0, SIM_SEC, SIM_STORM, 200000);
	sim_run(&run, sim_count(20, 200) * SIM_SEC);
	sim_ok(&run, what, 950);
}

int main(void)
{
	static const uint64_t rates[] = {1000000,    10000000,	 24000000,   62500000,	 100000000,
					 998160346,  1000000000, 1000000001, 2147483648, 2600000000,
					 4294967296, 5000000000, 10000000000};
	uint64_t seed = sim_seed(9);
	size_t i;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++)
		rate(rates[i], seed);
	return tap_done();
}
