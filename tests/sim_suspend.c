/* SPDX-License-Identifier: MIT */
/*
 * Suspend: MONOTONIC and RAW stand, BOOTTIME goes on, and the counter goes on, starts at 0, or
 * stands. The line ends by itself; the page comes back above what it had given out.
 */
#include "support_sim_tap.h"

static struct sim_run run;

static void suspend(const char *what, enum sim_event_kind kind, int64_t ns)
{
	int64_t boot = run.sim.boot_minus_mono;
	int64_t page_boot = 0, page_mono = 1;
	uint64_t cyc, seconds = 0;

	sim_run(&run, SIM_SEC / 2 + sim_random(&run.sim, 10 * SIM_MS));
	sim_schedule(&run.sim, sim_random(&run.sim, 10 * SIM_MS), kind, ns);
	while (run.sim.boot_minus_mono == boot && seconds++ < 100)
		sim_run(&run, SIM_MS);
	sim_run(&run, SIM_SEC / 2);
	cyc = sim_counter(&run.sim);
	tap_ok(sim_reader_page(&run.page, cyc, VCLOCK_MONOTONIC, &page_mono) == 0 &&
		       sim_reader_page(&run.page, cyc, VCLOCK_BOOTTIME, &page_boot) == 0,
	       "%s: the page is back", what);
	tap_ok(llabs(page_boot - page_mono - run.sim.boot_minus_mono) <= 30,
	       "%s: BOOTTIME went on for %" PRId64 " ns", what, ns);
}

int main(void)
{
	const int64_t second = (int64_t)SIM_SEC;

	sim_run_init(&run, SIM_HZ, sim_seed(4));
	sim_run(&run, SIM_SEC / 2);
	sim_run_clear(&run);
	suspend("an hour, the counter goes on", SIM_SUSPEND, 3600 * second);
	suspend("10 days, the counter goes on", SIM_SUSPEND, 864000 * second);
	suspend("a second, the counter goes on", SIM_SUSPEND, second);
	suspend("an hour, the counter stands", SIM_SUSPEND_STOPPED, 3600 * second);
	suspend("50 ms, the counter stands", SIM_SUSPEND_STOPPED, 50 * second / 1000);
	suspend("an hour, the counter starts at 0", SIM_SUSPEND_RESTART, 3600 * second);
	suspend("a minute, the counter starts at 0 again", SIM_SUSPEND_RESTART, 60 * second);
	suspend("ten years, the counter goes on", SIM_SUSPEND, 315569520 * second);
	sim_ok(&run, "suspend", 800);
	tap_ok(run.retires == 0, "a suspend does not retire the page");
	return tap_done();
}
