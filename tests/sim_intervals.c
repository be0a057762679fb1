/* SPDX-License-Identifier: MIT */
/* Every interval and ahead that a publisher takes, and those that it refuses. */
#include "support_sim_tap.h"

#include <errno.h>

static struct sim_run run;

static int init(uint64_t interval_us, uint64_t ahead_us, bool is_clocksource)
{
	struct publisher_config config = {0};

	config.page.interval_ns = (uint32_t)(interval_us * SIM_US);
	config.page.ahead_ns = (uint32_t)(ahead_us * SIM_US);
	config.page.counter_kind = VCLOCK_COUNTER_CALLER;
	config.counter_is_clocksource = is_clocksource;
	run.config = config;
	return publisher_init(&run.publisher, &run.sim.reference, &run.page, &config);
}

static void good(uint64_t interval_us, uint64_t ahead_us, bool is_clocksource, uint64_t seed)
{
	char what[64];

	snprintf(what, sizeof(what), "%" PRIu64 " us, %" PRIu64 " us ahead%s", interval_us,
		 ahead_us, is_clocksource ? "" : ", another clocksource");
	sim_run_init(&run, SIM_HZ, seed);
	tap_ok(init(interval_us, ahead_us, is_clocksource) == 0, "%s: taken", what);
	run.is_punctual = true;
	sim_run(&run, SIM_SEC / 2);
	sim_run_clear(&run);
	sim_schedule_every(&run.sim, 0, 333 * SIM_MS, SIM_STORM, 300000);
	sim_run(&run, sim_count(20, 200) * SIM_SEC);
	sim_ok(&run, what, 980);
}

static void refused(uint64_t interval_us, uint64_t ahead_us, bool is_clocksource)
{
	tap_ok(init(interval_us, ahead_us, is_clocksource) == -EINVAL,
	       "%" PRIu64 " us, %" PRIu64 " us ahead%s: refused", interval_us, ahead_us,
	       is_clocksource ? "" : ", another clocksource");
}

int main(void)
{
	uint64_t seed = sim_seed(10);

	good(1000, 1000, true, seed);
	good(1000, 500, true, seed);
	good(2000, 2000, true, seed);
	good(4000, 1000, true, seed);
	good(10000, 10000, true, seed);
	good(10000, 2000, true, seed);
	good(0, 0, true, seed);
	good(20000, 20000, true, seed);
	good(30000, 10000, true, seed);
	good(30000, 0, true, seed);
	good(39000, 0, true, seed);
	good(10000, 10000, false, seed);
	good(15000, 5000, false, seed);
	good(0, 0, false, seed);
	sim_run_init(&run, SIM_HZ, seed);
	refused(999, 0, true);
	refused(999, 500, true);
	refused(10000, 10001, true);
	refused(40000, 0, true);
	refused(20001, 20000, true);
	refused(30000, 10001, true);
	refused(20000, 0, false);
	refused(10001, 10000, false);
	refused(4000000, 0, true);
	return tap_done();
}
