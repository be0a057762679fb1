/* SPDX-License-Identifier: MIT */
/*
 * Time from the page never goes back: in a thread, and from one thread to another that learned of
 * the first one's time by memory (M06), alone and mixed with the kernel's reads. In the long run
 * 10^7 observations a clock.
 */

#include "check/team.h"
#include "support_check.h"
#include "tap.h"

static void run(const char *suite, const struct check_subject *subject)
{
	uint64_t time_ns = tap_is_long() ? 420000000000u : 600000000u;
	uint64_t reads = tap_is_long() ? 10000000u : 0;
	uint64_t least = tap_is_long() ? reads : 1;
	struct support_rows rows;
	int cpus[TEAM_MAX];

	if (team_cpus(cpus) < 2) {
		tap_skip(suite, "only one CPU");
		return;
	}
	support_run(suite, subject, time_ns, reads, 0, &rows);
	tap_ok(support_passes(&rows), "%s: %s holds", subject->name, suite);
	tap_ok(rows.least_reads >= least, "%s: %llu observations of each clock", subject->name,
	       (unsigned long long)rows.least_reads);
}

int main(void)
{
	struct check_subject subject;

	tap_ok(support_start_page(0) == 0, "a publisher starts");

	check_subject_inline(&subject, vclock_page());
	run("causality", &subject);
	run("monotonicity", &subject);
	check_subject_library(&subject);
	run("causality", &subject);
	run("monotonicity", &subject);
	vclock_publisher_stop();
	return tap_done();
}
