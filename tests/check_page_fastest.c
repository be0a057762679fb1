/* SPDX-License-Identifier: MIT */
/*
 * A publisher at its fastest, a line a millisecond, with four readers in tight loops and both CPUs
 * loaded: no step back, in a thread or across (M01).
 */
#include "check/oracle.h"
#include "check/team.h"
#include "support_check.h"
#include "support_load.h"
#include "tap.h"

static void run(const char *suite, const struct check_subject *subject, uint64_t time_ns)
{
	struct check_run check = {.time_ns = time_ns, .seed = 1, .threads = 4};
	struct support_rows rows = {0};
	unsigned i;

	check.report = support_keep_row;
	check.report_arg = &rows;
	check_suite_find(suite)->run(&check, subject);
	for (i = 0; i < rows.count; i++)
		tap_ok(rows.row[i].outside == 0 && rows.row[i].reads > 0, "%s: %s, %llu reads",
		       suite, rows.row[i].clock, (unsigned long long)rows.row[i].reads);
}

int main(void)
{
	uint64_t time_ns = tap_is_long() ? 60000000000u : 800000000u;
	struct check_subject subject;
	struct support_load load;

	tap_ok(support_start_page(1000000) == 0, "a publisher of one line a ms starts");
	support_load_start(&load, 2);
	check_subject_library(&subject);
	tap_ok(subject.route == VCLOCK_ROUTE_PAGE, "the library is on the page");

	run("monotonicity", &subject, time_ns);
	run("causality", &subject, time_ns);
	support_load_stop(&load);
	vclock_publisher_stop();
	return tap_done();
}
