/* SPDX-License-Identifier: MIT */
/*
 * A publisher that is late, held up at any of its looks at the counter, killed there, or absent:
 * lines end, MONOTONIC stands for a moment and goes on, and the next line starts above all that the
 * kernel can have said. The clock is slewed at moderate rates meanwhile.
 */
#include "support_sim_tap.h"

#include <setjmp.h>

static struct sim_run run;
static jmp_buf killed;
static uint64_t die_at_look;

static void start(uint64_t seed)
{
	sim_run_init(&run, SIM_HZ, seed);
	sim_schedule_every(&run.sim, 0, 3 * SIM_SEC, SIM_STORM, 400000);
	sim_run(&run, SIM_SEC / 2);
	sim_run_clear(&run);
}

static unsigned rounds(void)
{
	return sim_count(300, 5000);
}

/* Between the sample and the first look, between the two looks, and after the last. That the last
 * look misses it, is the exception of the design, 6, and has a test of its own. */
static void held_up(uint64_t seed)
{
	unsigned i;

	start(seed);
	run.held_up_ns = SIM_MS; /* longer ones take another sample */
	for (i = 0; i < rounds(); i++) {
		run.stall_at_look = run.sim.looks + 1 + sim_random(&run.sim, 6);
		run.stall_ns = i % 8 == 0 ? sim_random(&run.sim, 1500 * SIM_MS)
					  : sim_random(&run.sim, 40 * SIM_MS);
		sim_run(&run, 300 * SIM_MS);
	}
	sim_ok(&run, "held up", 650);
	tap_ok(run.gaps > rounds() / 8, "held up: there were gaps");
	tap_ok(run.retires == 0, "held up: never retired");
}

static void absent(uint64_t seed)
{
	unsigned i;

	start(seed);
	for (i = 0; i < rounds() / 4; i++) {
		sim_run(&run, SIM_SEC / 2 + sim_random(&run.sim, 20 * SIM_MS));
		run.is_stopped = true;
		sim_run(&run, SIM_SEC);
		run.is_stopped = false;
	}
	sim_ok(&run, "stopped for 1 s", 300);
	tap_ok(run.gaps >= rounds() / 4 - 1, "stopped for 1 s: it goes on after each");
	tap_ok(run.clamped_reads > 0, "stopped for 1 s: readers stood at an end");
}

static void die(struct sim_run *dying)
{
	if (die_at_look != 0 && dying->sim.looks >= die_at_look) {
		die_at_look = 0;
		longjmp(killed, 1);
	}
}

/* Killed where it looks, and started again. */
static void killed_and_restarted(uint64_t seed)
{
	volatile unsigned i;

	start(seed);
	run.before_look = die;
	for (i = 0; i < rounds(); i++) {
		if (setjmp(killed) == 0) {
			die_at_look = run.sim.looks + 20 + sim_random(&run.sim, 200);
			while (die_at_look != 0)
				sim_run(&run, 10 * SIM_MS);
		}
		run.is_stopped = true;
		sim_run(&run, sim_random(&run.sim, 100) * SIM_MS);
		run.is_stopped = false;
		sim_run_restart(&run);
	}
	sim_ok(&run, "killed and restarted", 600);
	tap_ok(run.gaps > rounds() * 9 / 10, "killed and restarted: it publishes each time");
}

static void very_late(uint64_t seed)
{
	unsigned i;

	start(seed);
	run.is_punctual = true;
	for (i = 0; i < rounds() * 10; i++) {
		sim_run(&run, 10 * SIM_MS);
		run.is_stopped = true;
		sim_run(&run, sim_random(&run.sim, 40 * SIM_MS));
		run.is_stopped = false;
	}
	sim_ok(&run, "later than a line lasts, half of the time", 500);
}

int main(void)
{
	uint64_t seed = sim_seed(7);

	held_up(seed);
	absent(seed);
	killed_and_restarted(seed);
	very_late(seed);
	return tap_done();
}
