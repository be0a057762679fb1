/* SPDX-License-Identifier: MIT */
/*
 * Every function from a signal handler at a high rate, over the same functions in the main loop:
 * no value goes back, no call fails, errno stays (D03). With a page, and without.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/time.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"

static volatile sig_atomic_t failed, handled;

static int call_all(uint64_t *last)
{
	struct vclock_timespec ts, mono;
	struct vclock_timeval tv;
	uint64_t ns = vclock_monotonic_ns(), stamp;
	unsigned cpu;
	int wrong = ns < *last;

	*last = ns;
	wrong += vclock_gettime64(CLOCK_REALTIME, &ts) != 0 || vclock_now64(&ts, &mono) != 0;
	wrong += (uint64_t)oracle_ns(&mono) < ns;
	wrong += vclock_gettime64(CLOCK_THREAD_CPUTIME_ID, &ts) != 0;
	wrong += vclock_gettimeofday64(&tv, NULL) != 0 || vclock_time64(NULL) < 1000000000;
	wrong += vclock_boottime_ns() == 0 || vclock_raw_ns() == 0 || vclock_tai_ns() == 0;
	wrong += vclock_getpid() <= 0 || vclock_getcpu(&cpu, NULL) != 0;
	stamp = vclock_stamp();
	wrong += vclock_stamp_ns(stamp, CLOCK_MONOTONIC, &ns) == -EINVAL;
	(void)vclock_page();
	return wrong;
}

static void handler(int signal)
{
	static uint64_t last;

	(void)signal;
	failed += call_all(&last);
	handled++;
}

static void loop(const char *what)
{
	/* 10 kHz, as far as the timers go; the process's CPU time, so that a stop is no storm. */
	struct itimerval every = {{0, 100}, {0, 100}}, none = {{0, 0}, {0, 0}};
	uint64_t last = 0, end = oracle_now_ns() + (tap_is_long() ? 20u : 1u) * UINT64_C(700000000);
	int wrong = 0;

	failed = handled = 0;
	errno = 12345;
	setitimer(ITIMER_REAL, &every, NULL);
	while (last < end)
		wrong += call_all(&last);
	setitimer(ITIMER_REAL, &none, NULL);
	tap_ok(wrong == 0 && failed == 0 && errno == 12345, "%s: %d handled, %d and %d wrong", what,
	       (int)handled, wrong, (int)failed);
	tap_ok(handled > 20, "%s: the handler ran", what);
}

int main(void)
{
	struct sigaction action;

	memset(&action, 0, sizeof(action));
	action.sa_handler = handler;
	action.sa_flags = SA_RESTART;
	sigaction(SIGALRM, &action, NULL);
	loop("no page");
	if (support_publish(NULL) != 0)
		return 99;
	loop("page");
	return tap_done();
}
