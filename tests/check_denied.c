/* SPDX-License-Identifier: MIT */
/*
 * In a sandbox: a filter that refuses adjtimex makes every rate count as steady, and says so; one
 * that refuses the system calls for clocks leaves the suites without a judge, and they say that,
 * and do not pass.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "check/oracle.h"
#include "support_check.h"
#include "support_lib.h"
#include "tap.h"

static void without_adjtimex(void)
{
	static const struct support_denial calls[] = {
		{SYS_adjtimex, -1, 0},
		{SYS_clock_adjtime, -1, 0},
#ifdef SYS_clock_adjtime64
		{SYS_clock_adjtime64, -1, 0},
#endif
	};
	struct check_subject subject;
	struct support_rows rows;
	struct check_steady steady;

	memset(&steady, 0, sizeof(steady));
	tap_ok(support_deny(calls, sizeof(calls) / sizeof(calls[0]), -EPERM) == 0,
	       "a filter that refuses adjtimex");
	check_steady_look(&steady);
	tap_ok(steady.error == -EPERM && steady.rate_changed_ns == 0,
	       "the rate cannot be looked at");
	tap_ok(steady.real_minus_mono_ns == oracle_real_minus_mono(), "steps still can");
	check_subject_library(&subject);
	support_run("bracket", &subject, 200000000, 0, 0, &rows);
	tap_ok(support_passes(&rows), "brackets are judged all the same");
}

/* A kernel that has no such clock: nothing to resolve, and its error code is as it should be. */
static void without_tai(void)
{
	static const struct support_denial calls[] = {
		{SYS_clock_gettime, 0, VCLOCK_TAI},
#ifdef SYS_clock_gettime64
		{SYS_clock_gettime64, 0, VCLOCK_TAI},
#endif
	};
	static struct support_rows rows;
	struct check_run run = {
		.clocks = VCLOCK_BIT(VCLOCK_TAI) | VCLOCK_BIT(VCLOCK_MONOTONIC),
		.syscall_oracle = true, /* its vDSO does know the clock */
		.seed = 1,
		.report = support_keep_row,
		.report_arg = &rows,
	};
	struct check_subject subject;

	tap_ok(support_deny(calls, sizeof(calls) / sizeof(calls[0]), -EINVAL) == 0,
	       "a filter that knows no TAI");
	check_subject_syscall(&subject);
	check_suite_find("resolution")->run(&run, &subject);
	tap_ok(rows.count == 1 && rows.failed == 0, "resolution: a clock less, and no failure");
	support_run("errors", &subject, 200000000, 0, 0, &rows);
	tap_ok(support_passes(&rows), "errors: -EINVAL is right");
}

static void without_clocks(void)
{
	static const struct support_denial calls[] = {
		{SYS_clock_gettime, -1, 0},
		{SYS_clock_getres, -1, 0},
#ifdef SYS_clock_gettime64
		{SYS_clock_gettime64, -1, 0},
		{SYS_clock_getres_time64, -1, 0},
#endif
	};
	struct check_subject subject;
	struct support_rows rows;

	tap_ok(support_deny(calls, sizeof(calls) / sizeof(calls[0]), -EPERM) == 0,
	       "a filter that refuses clock_gettime and clock_getres");
	check_subject_library(&subject);
	support_run("errors", &subject, 200000000, 0, 0, &rows);
	tap_ok(rows.impossible == 1 && !support_passes(&rows), "errors: no judge, and no pass");
	support_run("getres", &subject, 200000000, 0, 0, &rows);
	tap_ok(rows.impossible == 1 && !support_passes(&rows), "getres: no judge, and no pass");
	check_subject_syscall(&subject);
	support_run("monotonicity", &subject, 200000000, 0, VCLOCK_BIT(VCLOCK_MONOTONIC), &rows);
	tap_ok(rows.failed > 0, "a reader whose every call is refused fails");
}

int main(void)
{
	if (support_is_emulated()) {
		tap_skip("a sandbox", "the emulator has no seccomp filters");
		return tap_done();
	}
	/* The oracle looks for the vDSO once, as in a program that was started before. */
	oracle_vdso();
	without_adjtimex();
	without_tai();
	without_clocks();
	return tap_done();
}
