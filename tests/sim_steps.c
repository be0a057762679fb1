/* SPDX-License-Identifier: MIT */
/*
 * REALTIME steps, leap seconds, TAI changes and the year 2038: the next sample puts them on the
 * page whole, and MONOTONIC does not notice. Errors of REALTIME and TAI are judged from that update
 * on.
 */
#include "support_sim_tap.h"

#define YEAR (INT64_C(31556952) * (int64_t)SIM_SEC)
#define SECOND ((int64_t)SIM_SEC)

static struct sim_run run;

/* The difference of two clocks of the page, at the middle of the line that runs. */
static int64_t page_difference(uint32_t a, uint32_t b)
{
	uint64_t cyc = sim_counter(&run.sim);
	int64_t ns_a = 0, ns_b = 1;

	if (sim_reader_page(&run.page, cyc, a, &ns_a) != 0 ||
	    sim_reader_page(&run.page, cyc, b, &ns_b) != 0)
		return INT64_MIN;
	return ns_a - ns_b;
}

static void step(const char *what, enum sim_event_kind kind, int64_t value)
{
	uint64_t wait = 10 * SIM_MS + 2 * SIM_MS; /* an interval, and a little to be punctual in */

	sim_run(&run, 200 * SIM_MS + sim_random(&run.sim, 10 * SIM_MS));
	sim_schedule(&run.sim, 0, kind, value);
	sim_run(&run, wait);
	tap_ok(page_difference(VCLOCK_REALTIME, VCLOCK_MONOTONIC) == run.sim.real_minus_mono,
	       "%s: REALTIME - MONOTONIC is exact within one interval", what);
	tap_ok(page_difference(VCLOCK_TAI, VCLOCK_REALTIME) == run.sim.tai_offset * SECOND,
	       "%s: so is TAI - REALTIME", what);
}

int main(void)
{
	int64_t to_2038;

	sim_run_init(&run, SIM_HZ, sim_seed(3));
	run.is_punctual = true;
	sim_schedule_every(&run.sim, 0, 170 * SIM_MS, SIM_STORM, 250000);
	sim_run(&run, SIM_SEC / 2);
	sim_run_clear(&run);
	step("+1 s", SIM_REAL_STEP, SECOND);
	step("-1 s", SIM_REAL_STEP, -SECOND);
	step("+1 ns", SIM_REAL_STEP, 1);
	step("-1 ns", SIM_REAL_STEP, -1);
	step("+1 year", SIM_REAL_STEP, YEAR);
	step("-1 year", SIM_REAL_STEP, -YEAR);
	step("TAI 0 -> 37", SIM_TAI, 37);
	step("TAI 37 -> 38", SIM_TAI, 38);
	step("leap second inserted", SIM_LEAP, 1);
	step("leap second deleted", SIM_LEAP, -1);
	step("TAI 38 -> 0", SIM_TAI, 0);
	to_2038 = INT64_C(2147483647) * SECOND - sim_clock_ns(&run.sim, VCLOCK_REALTIME);
	step("a second before 2038-01-19T03:14:08", SIM_REAL_STEP, to_2038 - SECOND);
	sim_run(&run, 3 * SIM_SEC);
	tap_ok(sim_clock_ns(&run.sim, VCLOCK_REALTIME) > INT64_C(2147483649) * SECOND,
	       "2^31 s is passed");
	step("to 2040", SIM_REAL_STEP, 2 * YEAR);
	step("to 2200", SIM_REAL_STEP, 160 * YEAR);
	step("to 1970", SIM_REAL_STEP, -sim_clock_ns(&run.sim, VCLOCK_REALTIME) + SECOND);
	step("a step and a change of rate at once", SIM_REAL_STEP, SECOND / 3);
	run.sim.tz_minuteswest = -120;
	sim_run(&run, 2 * SIM_SEC);
	tap_ok(run.page.slot[run.page.generation & 1].tz_minuteswest == -120,
	       "a new time zone is on the page within two seconds");
	sim_ok(&run, "steps", 999);
	tap_ok(run.gaps == 0 && run.retires == 0, "no line ended over it");
	return tap_done();
}
