/* SPDX-License-Identifier: MIT */
/*
 * The shorter suites over the page's readers: resolution (X03), getres and errors for every id
 * (C04), fork, COARSE clocks and time() (C07, C08), skew between CPUs (N06).
 */
#include <string.h>

#include "check/team.h"
#include "support_check.h"
#include "tap.h"

static void run(const char *suite, const struct check_subject *subject)
{
	struct support_rows rows;

	support_run(suite, subject, tap_is_long() ? 20000000000u : 300000000u, 0, 0, &rows);
	if (rows.impossible > 0)
		tap_skip(suite, rows.row[0].note);
	else
		tap_ok(support_passes(&rows), "%s: %s", subject->name, suite);
}

/* The library remembers the process's id in a page that the kernel wipes in a fork. */
static void run_fork(struct check_subject subject)
{
	if (subject.getpid != NULL && support_is_emulated()) {
		tap_skip("getpid in a child", "the emulator does not wipe pages in a fork");
		subject.getpid = NULL;
	}
	run("fork", &subject);
}

int main(void)
{
	struct check_subject subject;

	tap_ok(support_start_page(0) == 0, "a publisher starts");
	check_subject_library(&subject);
	tap_ok(subject.route == VCLOCK_ROUTE_PAGE, "the library is on the page");
	run("resolution", &subject);
	run("getres", &subject);
	run("errors", &subject);
	run_fork(subject);
	run("coarse", &subject);
	run("skew", &subject);
	check_subject_inline_ns(&subject, vclock_page());
	run("resolution", &subject);
	run_fork(subject);
	run("skew", &subject);
	vclock_publisher_stop();
	return tap_done();
}
