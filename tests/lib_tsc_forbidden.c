/* SPDX-License-Identifier: MIT */
/*
 * A program that starts with the counter forbidden, prctl(PR_SET_TSC): every call works by the
 * system call, the counter is never read, no page is used, and the status says why (C12).
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"
#include "vclock/counter.h"

static int read_counter(void *arg)
{
	(void)arg;
	signal(SIGSEGV, SIG_DFL);
	return vclock_counter_ordered() == 0;
}

static int by_syscall(int32_t clk, struct vclock_timespec *ret_ts)
{
	return vclock_gettime64(clk, ret_ts);
}

static int run(void)
{
	struct vclock_counter_status counter = {.size = sizeof(counter)};
	struct vclock_status status = support_status();
	struct vclock_timespec ts, mono;
	struct vclock_timeval tv;
	int32_t clk;
	int wrong = 0;

	wrong += status.clock[CLOCK_MONOTONIC].route != VCLOCK_ROUTE_SYSCALL;
	wrong += status.clock[CLOCK_MONOTONIC].reason != VCLOCK_REASON_COUNTER_FORBIDDEN;
	for (clk = 0; clk < 12; clk++)
		(void)by_syscall(clk, &ts);
	wrong += vclock_now64(&ts, &mono) != 0 || vclock_gettimeofday64(&tv, NULL) != 0;
	wrong += vclock_monotonic_ns() == 0 || vclock_monotonic_unordered_ns() == 0;
	wrong += vclock_stamp() >> 63 != 1 || vclock_time64(NULL) <= 0;
	wrong += vclock_counter_status(NULL, &counter) != 0 || counter.is_readable || counter.hz;
	wrong += support_publish(NULL) != -EOPNOTSUPP;
	wrong += vclock_page()->generation != 0;
	return wrong;
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv);
	int status;

	if (what != NULL)
		support_exit(strcmp(what, "loader") == 0 ? 0 : run());
	if (support_is_emulated()) {
		tap_skip("the counter forbidden", "the emulator has no PR_SET_TSC");
		return tap_done();
	}
	/* NOLINTNEXTLINE(misc-redundant-expression): the kind is this build's */
	if (VCLOCK_COUNTER_KIND != VCLOCK_COUNTER_TSC) {
		tap_skip("the counter forbidden", "only x86 has PR_SET_TSC");
		return tap_done();
	}
	if (prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0) != 0)
		return 99;
	/* Where a hypervisor lets it pass all the same, the rest proves less. */
	tap_diag("reading the counter %s", support_child(read_counter, NULL) == 128 + SIGSEGV
						   ? "is a SIGSEGV"
						   : "still works");
	/* The loader runs by itself there, before any code of ours. A static program has none. */
	if (support_again("loader", "LD_TRACE_LOADED_OBJECTS=1") == 128 + SIGSEGV) {
		tap_skip("all calls work without the counter",
			 "the C library's loader reads the counter");
		return tap_done();
	}
	status = support_again("forbidden", NULL);
	tap_ok(status == 0, "all calls work without the counter (%d)", status);
	return tap_done();
}
