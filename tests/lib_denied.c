/* SPDX-License-Identifier: MIT */
/*
 * Sandboxes that refuse the time: calls that need no system call do not notice (Q01, Q04, Q06);
 * those that do pass the error on and leave the output alone (T01..T05). i386 asks clock_gettime64
 * first and clock_gettime where that is refused, and asks nobody twice (Q03).
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"

#ifdef SYS_clock_gettime64
#define GETTIME64 SYS_clock_gettime64
#define HAS_TWO 1
#else
#define GETTIME64 SYS_clock_gettime
#define HAS_TWO 0
#endif

/* No call has the number -1. */
#ifdef SYS_time
#define TIME SYS_time
#else
#define TIME (-1)
#endif
#ifdef SYS_open
#define OPEN SYS_open
#else
#define OPEN (-1)
#endif

#define MARK 0x5a5a5a5a5a5a5a5aLL

static const struct support_denial first[] = {{GETTIME64, -1, 0}};
static const struct support_denial second[] = {{SYS_clock_gettime, -1, 0}};
static const struct support_denial both[] = {
	{GETTIME64, -1, 0},
	{SYS_clock_gettime, -1, 0},
	{SYS_gettimeofday, -1, 0},
	{TIME, -1, 0},
};
/* What set-up and falling back could be tempted to. */
static const struct support_denial set_up[] = {
	{SYS_openat, -1, 0}, {OPEN, -1, 0},	   {SYS_read, -1, 0},	{SYS_mmap, -1, 0},
	{SYS_prctl, -1, 0},  {SYS_madvise, -1, 0}, {SYS_munmap, -1, 0}, {SYS_getpid, -1, 0},
};

/* All clock functions answer. */
static int all_work(void)
{
	struct vclock_timespec ts, mono;
	struct vclock_timeval tv;
	int32_t clk;
	int wrong = 0;

	for (clk = 0; clk < 12; clk++)
		if ((1 << clk & 0x8f3) != 0)
			wrong += vclock_gettime64(clk, &ts) != 0;
	wrong += vclock_now64(&ts, &mono) != 0 || vclock_gettimeofday64(&tv, NULL) != 0;
	wrong += vclock_monotonic_ns() == 0 || vclock_realtime_ns() == 0 || vclock_raw_ns() == 0;
	wrong += vclock_boottime_ns() == 0 || vclock_tai_ns() == 0;
	wrong += vclock_monotonic_unordered_ns() == 0 || vclock_time64(NULL) <= 0;
	return wrong;
}

/* All clock functions refuse with error, and store nothing. */
static int all_refuse(int error)
{
	struct vclock_timespec ts = {MARK, MARK}, mono = {MARK, MARK};
	struct vclock_timeval tv = {MARK, MARK};
	int64_t stored = MARK;
	int32_t clk;
	int wrong = 0;

	for (clk = 0; clk < 12; clk++)
		wrong += vclock_gettime64(clk, &ts) != error;
	wrong += vclock_now64(&ts, &mono) != error || vclock_gettimeofday64(&tv, NULL) != error;
	wrong += vclock_monotonic_ns() != 0 || vclock_realtime_ns() != 0 || vclock_raw_ns() != 0;
	wrong += vclock_time64(&stored) != error || vclock_time(NULL) != (time_t)-1;
	wrong += ts.tv_sec != MARK || ts.tv_nsec != MARK || mono.tv_sec != MARK;
	wrong += mono.tv_nsec != MARK || tv.tv_sec != MARK || tv.tv_usec != MARK || stored != MARK;
	return wrong;
}

/* A clock that no vDSO has: the thread's CPU time. */
static int cpu_clock(void)
{
	struct vclock_timespec ts = {MARK, MARK};
	int r = vclock_gettime64(CLOCK_THREAD_CPUTIME_ID, &ts);

	return r != 0 && (ts.tv_sec != MARK || ts.tv_nsec != MARK) ? 1 : r;
}

static int run(const char *what)
{
	struct vclock_timespec ts;

	if (strcmp(what, "page") == 0)
		return support_publish(NULL) != 0 || support_deny(both, 4, 0) != 0 || all_work();
	if (strcmp(what, "killed") == 0)
		return support_deny(both, 4, 0) != 0 || all_work();
	if (strcmp(what, "set-up") == 0)
		return support_deny(set_up, 8, 0) != 0 || all_work();
	if (strcmp(what, "refused") == 0)
		return support_deny(both, 4, -EPERM) != 0 || all_refuse(-EPERM) ||
		       cpu_clock() != -EPERM;
	if (strcmp(what, "first-refused") == 0)
		return support_deny(first, 1, -EPERM) != 0 || all_work() || cpu_clock() != 0 ||
		       vclock_gettime64(99, &ts) != -EINVAL;
	if (strcmp(what, "first-missing") == 0)
		return support_deny(first, 1, -ENOSYS) != 0 || all_work() || cpu_clock() != 0;
	if (strcmp(what, "second-killed") == 0)
		return support_deny(second, 1, 0) != 0 || all_work() || cpu_clock() != 0 ||
		       vclock_gettime64(99, &ts) != -EINVAL;
	return 99;
}

static int vdso_alone(void *arg)
{
	int (*gettime)(int32_t clk, struct vclock_timespec * ret_ts) =
		(int (*)(int32_t, struct vclock_timespec *))oracle_vdso()->clock_gettime;
	struct vclock_timespec ts;

	(void)arg;
	return gettime == NULL || support_deny(both, 4, 0) != 0 ||
	       gettime(CLOCK_MONOTONIC, &ts) != 0;
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv);

	if (what != NULL)
		support_exit(run(what));
	if (support_is_emulated()) {
		tap_skip("sandboxes", "the emulator has no seccomp filters");
		return tap_done();
	}
	setenv("VCLOCK_PAGE", "/nonexistent/page", 1);
	/* With some clocksources the kernel's own vDSO makes system calls. */
	if (support_child(vdso_alone, NULL) == 0) {
		tap_ok(support_again("killed", "VCLOCK_ROUTE=vdso") == 0,
		       "the vDSO's route makes no time system call");
		tap_ok(support_again("set-up", "VCLOCK_ROUTE=vdso") == 0,
		       "nor one to set up, after the constructor");
		tap_ok(support_again("page", NULL) == 0, "the page's route makes none");
	}
	tap_ok(support_again("killed", "VCLOCK_ROUTE=syscall") != 0,
	       "the system call's route is killed by the same filter");
	tap_ok(support_again("refused", "VCLOCK_ROUTE=syscall") == 0,
	       "-EPERM comes through, the output stays, 0 ns, time is -1");
	if (HAS_TWO) {
		tap_ok(support_again("first-refused", "VCLOCK_ROUTE=syscall") == 0,
		       "clock_gettime64 refused (EPERM): clock_gettime answers");
		tap_ok(support_again("first-missing", "VCLOCK_ROUTE=syscall") == 0,
		       "clock_gettime64 missing (ENOSYS): clock_gettime answers");
		tap_ok(support_again("second-killed", "VCLOCK_ROUTE=syscall") == 0,
		       "clock_gettime is not asked where clock_gettime64 answers, -EINVAL too");
	}
	return tap_done();
}
