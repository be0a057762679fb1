/* SPDX-License-Identifier: MIT */
/*
 * The counter jumps against the clocks. Until the next sample nobody can know; then the page that
 * is wrong ends, and comes back with what is right. Where the counter is not the clocksource, or
 * does it ever again, the page ends for good.
 */
#include "support_sim_tap.h"

#include <errno.h>

static struct sim_run run;

static uint32_t retired(void)
{
	return run.page.slot[run.page.generation & 1].retired;
}

static void jump(const char *what, int64_t ns)
{
	int64_t cycles = ns * 26 / 10, page = 0;
	uint64_t cyc;

	sim_run(&run, SIM_SEC / 2 + sim_random(&run.sim, 10 * SIM_MS));
	sim_schedule(&run.sim, 0, SIM_COUNTER_JUMP, cycles);
	sim_run(&run, 12 * SIM_MS);
	cyc = sim_counter(&run.sim);
	tap_ok(sim_reader_page(&run.page, cyc, VCLOCK_MONOTONIC, &page) != 0,
	       "%s: an interval later the page does not answer", what);
	sim_run(&run, SIM_SEC / 4);
	cyc = sim_counter(&run.sim);
	tap_ok(sim_reader_page(&run.page, cyc, VCLOCK_MONOTONIC, &page) == 0 &&
		       llabs(page - sim_clock_ns(&run.sim, VCLOCK_MONOTONIC)) <= 50,
	       "%s: it is back, and right", what);
	tap_ok(retired() == VCLOCK_RETIRED_NOT, "%s: not retired", what);
}

static void jumps_of_the_clocksource(uint64_t seed)
{
	sim_run_init(&run, SIM_HZ, seed);
	run.is_punctual = true;
	sim_run(&run, SIM_SEC / 2);
	sim_run_clear(&run);
	jump("5 ms forward", 5 * (int64_t)SIM_MS);
	jump("1 s forward", (int64_t)SIM_SEC);
	jump("a day forward", 86400 * (int64_t)SIM_SEC);
	jump("5 ms back", -5 * (int64_t)SIM_MS);
	jump("15 ms back", -15 * (int64_t)SIM_MS);
	jump("100 ms back", -100 * (int64_t)SIM_MS);
	jump("1 s back", -(int64_t)SIM_SEC);
	jump("a day back", -86400 * (int64_t)SIM_SEC);
	sim_ok(&run, "jumps", 700);
	tap_ok(run.last_result == 0 && run.retires == 0, "the publisher goes on all the time");
}

static void a_jump_of_another_counter(uint64_t seed)
{
	sim_run_init(&run, SIM_HZ, seed);
	run.config.counter_is_clocksource = false;
	sim_run_restart(&run);
	sim_run(&run, SIM_SEC / 2);
	sim_schedule(&run.sim, 0, SIM_COUNTER_JUMP, 13000000);
	while (run.last_result == 0 && run.steps < 1000)
		sim_run(&run, SIM_MS);
	tap_ok(run.last_result == -EBADMSG && run.last_reason == VCLOCK_RETIRED_BACKWARD,
	       "where the counter is not the clocksource, the first jump ends the page");
	tap_ok(retired() == VCLOCK_RETIRED_BACKWARD, "and the page says so");
}

static void a_counter_that_jumps_ever_again(uint64_t seed)
{
	sim_run_init(&run, SIM_HZ, seed);
	sim_run(&run, SIM_SEC / 2);
	sim_schedule_every(&run.sim, 0, 300 * SIM_MS, SIM_COUNTER_JUMP, 13000000);
	while (run.last_result == 0 && run.steps < 10000)
		sim_run(&run, SIM_MS);
	tap_ok(run.last_result == -EBADMSG && run.last_reason == VCLOCK_RETIRED_BACKWARD,
	       "a counter that jumps ever again is given up");
}

int main(void)
{
	uint64_t seed = sim_seed(5);

	jumps_of_the_clocksource(seed);
	a_jump_of_another_counter(seed);
	a_counter_that_jumps_ever_again(seed);
	return tap_done();
}
