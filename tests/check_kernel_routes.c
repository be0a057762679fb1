/* SPDX-License-Identifier: MIT */
/*
 * All suites over the routes of the kernel: its vDSO and the system call as they are, and the
 * library limited to each by VCLOCK_ROUTE, which it reads once when it is loaded.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support_check.h"
#include "tap.h"

static void run_all(const struct check_subject *subject, const char *what)
{
	uint64_t time_ns = tap_is_long() ? 60000000000u : 200000000u;
	struct support_rows rows;

	support_run_all(subject, time_ns, &rows);
	tap_ok(support_passes(&rows), "%s", what);
}

static void run_library(enum vclock_route route, const char *what)
{
	struct check_subject subject;

	check_subject_library(&subject);
	tap_ok(subject.route == route, "%s: on that route", what);
	run_all(&subject, what);
	check_subject_library_ns(&subject);
	run_all(&subject, what);
}

#define NO_VDSO (support_is_emulated() ? "the emulator has no vDSO" : "no vDSO in this process")

static void run_kernel(void)
{
	struct check_subject subject;

	check_subject_syscall(&subject);
	run_all(&subject, "the system call");
	if (check_subject_vdso(&subject) == 0)
		run_all(&subject, "the vDSO");
	else
		tap_skip("the vDSO", NO_VDSO);
}

static void run_limited(void)
{
	struct check_subject subject;
	bool has_vdso = check_subject_vdso(&subject) == 0;
	const char *limit = getenv("VCLOCK_ROUTE");

	if (strcmp(limit, "syscall") == 0)
		run_library(VCLOCK_ROUTE_SYSCALL, "the library by system call");
	else if (has_vdso)
		run_library(VCLOCK_ROUTE_VDSO, "the library by vDSO");
	else
		tap_skip("the library by vDSO", NO_VDSO);
}

static void hand_on(const char *name, int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", value);
	setenv(name, text, 1);
}

static int handed_on(const char *name)
{
	const char *text = getenv(name);

	return text != NULL ? atoi(text) : 0;
}

/* Three images of this program, one after the other: as it comes, by syscall, by vDSO. */
int main(int argc, char **argv)
{
	static const char *const limits[] = {"page", "syscall", "vdso"};
	int part = handed_on("CHECK_PART");

	(void)argc;
	tap_count = handed_on("CHECK_COUNT");
	tap_failed = handed_on("CHECK_FAILED");
	if (part == 0)
		run_kernel();
	else
		run_limited();
	if (part == 0 && support_is_emulated())
		tap_skip("the library's routes", "the emulator does not run other programs");
	if (part == 2 || support_is_emulated())
		return tap_done();

	hand_on("CHECK_PART", part + 1);
	hand_on("CHECK_COUNT", tap_count);
	hand_on("CHECK_FAILED", tap_failed);
	setenv("VCLOCK_ROUTE", limits[part + 1], 1);
	execv("/proc/self/exe", argv);
	tap_ok(0, "this program starts again");
	return tap_done();
}
