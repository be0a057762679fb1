/* SPDX-License-Identifier: MIT */
/*
 * The suites say nothing wrong on a busy machine: four busy loops (X01), COARSE clocks too (X02).
 * What is judged is what they say, so the share of the page, which a machine this busy may not
 * leave, has a floor of its own here.
 */
#include "support_check.h"
#include "support_load.h"
#include "tap.h"

static void run(const char *suite, const struct check_subject *subject)
{
	struct support_rows rows;
	unsigned i;

	support_run(suite, subject, tap_is_long() ? 30000000000u : 300000000u, 0, 0, &rows);
	for (i = 0; i < rows.count; i++) {
		if (rows.row[i].verdict == CHECK_IMPOSSIBLE)
			continue;
		tap_ok(rows.row[i].outside == 0 && rows.row[i].reads > 0, "%s %s %s: none outside",
		       subject->name, suite, rows.row[i].clock);
	}
}

static void run_page(void)
{
	struct check_subject subject;
	struct support_rows rows;

	check_subject_inline(&subject, vclock_page());
	support_run("bracket", &subject, 500000000, 0, VCLOCK_BIT(VCLOCK_MONOTONIC), &rows);
	tap_ok(rows.row[0].outside == 0, "inline bracket MONOTONIC: none outside");
	tap_ok(rows.row[0].by_page * 2 > rows.row[0].reads, "half of it or more from the page");
}

int main(void)
{
	struct check_subject subject;
	struct support_load load;

	tap_ok(support_start_page(0) == 0, "a publisher starts");
	support_load_start(&load, 4);
	run_page();
	check_subject_library(&subject);
	run("bracket", &subject);
	run("coarse", &subject);
	run("monotonicity", &subject);
	run("skew", &subject);
	check_subject_syscall(&subject);
	run("coarse", &subject);
	support_load_stop(&load);
	vclock_publisher_stop();
	return tap_done();
}
