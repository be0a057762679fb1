/* SPDX-License-Identifier: MIT */
/*
 * Rates at the edge of what a page follows, from one edge to the other, and beyond: there the page
 * is retired, and taken up again when the rate is back.
 */
#include "support_sim_tap.h"

#include <string.h>

static struct sim_run run;

static uint32_t retired(void)
{
	return run.page.slot[run.page.generation & 1].retired;
}

/* 2.6 GHz, and rates whose mult is just below and just above half of 32 bits. */
static void edge_to_edge(uint64_t hz, uint64_t seed)
{
	char what[96];

	snprintf(what, sizeof(what), "%" PRIu64 " Hz, edge to edge", hz);
	sim_run_init(&run, hz, seed);
	sim_run(&run, SIM_SEC / 2);
	sim_run_clear(&run);
	sim_schedule_every(&run.sim, 0, 277 * SIM_MS + 1234567, SIM_STORM, 110000000);
	run.is_punctual = true;
	sim_run(&run, sim_count(60, 600) * SIM_SEC);
	sim_ok(&run, what, 1000);
	sim_run_clear(&run);
	run.is_punctual = false;
	run.allowed_back_ns = 220 * 1000 * 40; /* 220,000 ppm of two lines and their ahead */
	strcat(what, ", at times late");
	sim_run(&run, sim_count(60, 600) * SIM_SEC);
	sim_ok(&run, what, 950);
	tap_ok(run.retires == 0, "%s: never retired", what);
}

static void beyond(int64_t ppb, uint64_t seed)
{
	char what[64];
	int64_t page = 0;

	snprintf(what, sizeof(what), "%+ld ppm", (long)(ppb / 1000));
	sim_run_init(&run, SIM_HZ, seed);
	sim_run(&run, SIM_SEC / 2);
	sim_schedule(&run.sim, 0, SIM_RATE, ppb);
	sim_run(&run, 30 * SIM_MS);
	/* What is beyond 25 % looks like a jump of the counter from sample to sample. */
	tap_ok(retired() ==
		       (llabs(ppb) > 250000000 ? VCLOCK_RETIRED_BACKWARD : VCLOCK_RETIRED_RATE),
	       "%s: the page is retired, and says why", what);
	tap_ok(sim_reader_page(&run.page, sim_counter(&run.sim), VCLOCK_MONOTONIC, &page) != 0,
	       "%s: readers ask the kernel", what);
	sim_schedule(&run.sim, 0, SIM_RATE, ppb > 0 ? 100000000 : -100000000);
	sim_run(&run, SIM_SEC);
	sim_run_clear(&run);
	sim_run(&run, SIM_SEC);
	tap_ok(retired() == VCLOCK_RETIRED_NOT && run.last_result == 0,
	       "%s: it is taken up again when the rate is back", what);
	sim_ok(&run, what, 950);
}

int main(void)
{
	uint64_t seed = sim_seed(6);

	edge_to_edge(SIM_HZ, seed);
	edge_to_edge(UINT64_C(3000000000), seed);
	edge_to_edge(UINT64_C(2001000000), seed);
	edge_to_edge(UINT64_C(1999000000), seed);
	beyond(111000000, seed);
	beyond(-111000000, seed);
	beyond(200000000, seed);
	beyond(-500000000, seed);
	beyond(900000000, seed);
	return tap_done();
}
