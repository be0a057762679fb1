/* SPDX-License-Identifier: MIT */
/*
 * A publisher that starts on the page of an earlier one: of the same boot, with lines that ended
 * less than two seconds ago, it takes rate and window from them, and publishes when eight samples
 * agree. In every other case it samples a full window first.
 */
#include "support_sim_tap.h"

#define CONFIRMED 8
/* At most twice as many: one that disagrees by its noise does not count, and one comes too late. */
#define CONFIRMED_MAX 16
#define WINDOW 32

static struct sim_run run;
static enum vclock_retired retired_reason;

/* How many steps a new publisher takes to its first line, ms after the end of the last one. */
static uint64_t steps_to_publish(uint64_t ms)
{
	uint64_t before;
	uint32_t generation;
	unsigned i;

	run.is_stopped = true;
	sim_run(&run, ms * SIM_MS);
	if (retired_reason != 0)
		publisher_retire(&run.publisher, retired_reason);
	run.is_stopped = false;
	sim_run_restart(&run);
	before = run.steps;
	generation = run.page.generation;
	for (i = 0; i < 5000 && run.page.generation == generation; i++)
		sim_run(&run, SIM_MS / 10);
	return run.page.generation == generation ? 0 : run.steps - before;
}

static void start(void)
{
	sim_run_init(&run, SIM_HZ, sim_seed(21));
	run.is_punctual = true;
	sim_schedule(&run.sim, 0, SIM_RATE, 54321);
	sim_run(&run, 3 * SIM_SEC);
	sim_run_clear(&run);
	retired_reason = 0;
}

static void learns(uint64_t ms, const char *what)
{
	uint64_t steps = steps_to_publish(ms);

	tap_ok(steps >= CONFIRMED && steps <= CONFIRMED_MAX, "%s: %" PRIu64 " samples confirm",
	       what, steps);
	sim_run(&run, 3 * SIM_SEC);
	tap_ok(run.back == 0 && run.over == 0 && run.over_stated == 0, "... and time is right");
}

static void samples(uint64_t ms, const char *what)
{
	uint64_t steps = steps_to_publish(ms);

	tap_ok(steps >= WINDOW, "%s: %" PRIu64 " samples, a full window", what, steps);
	sim_run(&run, 3 * SIM_SEC);
	tap_ok(run.back == 0 && run.over == 0 && run.over_stated == 0, "... and time is right");
}

int main(void)
{
	start();
	learns(0, "at once");
	start();
	learns(100, "0.1 s later");
	start();
	learns(1800, "1.8 s later");
	start();
	samples(2200, "2.2 s later");
	start();
	samples(60000, "a minute later");
	start();
	retired_reason = VCLOCK_RETIRED_STOPPED;
	learns(100, "after an orderly end");
	start();
	retired_reason = VCLOCK_RETIRED_BACKWARD;
	samples(100, "after a page that had gone wrong");
	start();
	run.config.page.boot_id[5] ^= 1;
	samples(100, "a page of another boot");
	start();
	run.config.page.timens_ino ^= 1;
	samples(100, "a page of another time namespace");
	start();
	sim_schedule(&run.sim, 50 * SIM_MS, SIM_RATE, 54321 + 400000);
	samples(100, "another rate by now");
	return tap_done();
}
