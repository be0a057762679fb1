/* SPDX-License-Identifier: MIT */
/* support_sim_tap.h - the verdicts of a simulated run as TAP. */
#ifndef SUPPORT_SIM_TAP_H
#define SUPPORT_SIM_TAP_H

#include "support_sim_run.h"
#include "tap.h"

#include <inttypes.h>

/*
 * How much of a run: in make check, and in make check-long. On i386 an eighth: machines whose
 * kernel does not run it have an emulator instead, which is thirty times slower.
 */
__attribute__((unused)) static unsigned sim_count(unsigned check, unsigned check_long)
{
	if (tap_is_long())
		return check_long;
#ifdef __i386__
	return check / 8 + 1;
#else
	return check;
#endif
}

__attribute__((unused)) static void sim_diag(const struct sim_run *run, const char *what)
{
	tap_diag("%s: %" PRIu64 " steps, %" PRIu64 " reads, %u.%u %% from the page (%" PRIu64
		 " at a standing end)",
		 what, run->steps, run->reads, sim_run_page_permille(run) / 10,
		 sim_run_page_permille(run) % 10, run->clamped_reads);
	tap_diag("  back %" PRIu64 " (worst %" PRIu64 " ns), above the formula %" PRIu64
		 " (by %" PRIu64 " ns), above the statement %" PRIu64 " (by %" PRIu64 " ns)",
		 run->back, run->worst_back_ns, run->over, run->worst_over_ns, run->over_stated,
		 run->worst_over_stated_ns);
	tap_diag("  worst error %" PRIu64 " ns, steady %" PRIu64 " ns; gaps %" PRIu64
		 ", retired %" PRIu64,
		 run->worst_error_ns, run->worst_steady_ns, run->gaps, run->retires);
}

/* Nothing went back, no error above formula or statement, at least so many from the page. */
__attribute__((unused)) static void sim_ok(const struct sim_run *run, const char *what,
					   unsigned page_permille)
{
	sim_diag(run, what);
	if (run->allowed_back_ns == 0)
		tap_ok(run->back == 0, "%s: nothing steps back", what);
	else
		tap_ok(run->worst_back_ns <= run->allowed_back_ns,
		       "%s: nothing steps back by more than %" PRIu64 " ns", what,
		       run->allowed_back_ns);
	tap_ok(run->over == 0, "%s: no error above the formula", what);
	tap_ok(run->refused == 0,
	       "%s: whoever opens the page may use it, at any moment (%" PRIu64 ")", what,
	       run->refused);
	tap_ok(run->over_stated == 0, "%s: no error above what the page states", what);
	tap_ok(sim_run_page_permille(run) >= page_permille, "%s: %u.%u %% or more from the page",
	       what, page_permille / 10, page_permille % 10);
}

#endif /* SUPPORT_SIM_TAP_H */
