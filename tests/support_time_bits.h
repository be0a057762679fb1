/* SPDX-License-Identifier: MIT */
/*
 * support_time_bits.h - the test of vclock.h's wrappers, included by a file for each width of
 * time_t that a 32-bit program may have. Both run over the same library.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"
#include "vclock.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static void narrow(void)
{
	static const struct {
		int64_t sec;
		int fits_32;
	} cases[] = {
		{0, 1},
		{1900000000, 1},
		{INT32_MAX, 1},
		{INT32_MAX + INT64_C(1), 0},
		{INT64_C(2208988800), 0},
		{INT64_C(4294967296), 0},
		{-1, 1},
	};
	unsigned i, wrong = 0;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct vclock_timespec from = {cases[i].sec, 999999999};
		struct timespec to = {12345, 54321};
		int r = vclock_narrow_(&from, &to);

		if (sizeof(time_t) == 8 || cases[i].fits_32)
			wrong += r != 0 || to.tv_sec != cases[i].sec || to.tv_nsec != 999999999;
		else
			wrong += r != -EOVERFLOW || to.tv_sec != 12345 || to.tv_nsec != 54321;
	}
	tap_ok(wrong == 0, "%u-bit time_t: what fits is exact, the rest -EOVERFLOW, nothing stored",
	       (unsigned)sizeof(time_t) * 8);
}

static void wrappers(void)
{
	struct timespec before, ts, mono, after;
	struct timeval tv;
	time_t now, stored = 0;
	volatile clockid_t any = CLOCK_REALTIME;

	clock_gettime(CLOCK_REALTIME, &before);
	tap_ok(vclock_gettime(CLOCK_REALTIME, &ts) == 0 && ts.tv_sec >= before.tv_sec &&
		       ts.tv_nsec >= 0 && ts.tv_nsec < 1000000000,
	       "vclock_gettime, constant id");
	tap_ok(vclock_gettime(any, &ts) == 0 && ts.tv_sec >= before.tv_sec, "any id");
	tap_ok(vclock_now(&ts, &mono) == 0 && ts.tv_sec >= before.tv_sec && mono.tv_sec > 0 &&
		       mono.tv_nsec < 1000000000,
	       "vclock_now");
	tap_ok(vclock_gettimeofday(&tv, NULL) == 0 && tv.tv_sec >= before.tv_sec &&
		       tv.tv_usec >= 0 && tv.tv_usec < 1000000,
	       "vclock_gettimeofday");
	now = vclock_time(&stored);
	clock_gettime(CLOCK_REALTIME, &after);
	tap_ok(now == stored && now >= before.tv_sec - 1 && now <= after.tv_sec, "vclock_time");
	tap_ok(vclock_getres(CLOCK_MONOTONIC, &ts) == 0 && ts.tv_sec == 0 && ts.tv_nsec > 0,
	       "vclock_getres");
	tap_ok(vclock_getres(CLOCK_MONOTONIC, NULL) == 0 && vclock_getres(99, NULL) == -EINVAL,
	       "without a place for it");
	tap_ok(vclock_gettime(99, &ts) == -EINVAL, "a bad id");
}

/* In a time namespace where MONOTONIC is past 2^31 s. */
static int past_2038(void)
{
	struct vclock_timespec wide;
	struct timespec ts = {12345, 54321}, real = {12345, 54321};
	int r = vclock_gettime(CLOCK_MONOTONIC, &ts);

	if (vclock_gettime64(CLOCK_MONOTONIC, &wide) != 0 || wide.tv_sec < INT64_C(3000000000))
		return 1;
	if (sizeof(time_t) == 8)
		return r != 0 || ts.tv_sec < wide.tv_sec - 10 || vclock_now(&real, &ts) != 0;
	return r != -EOVERFLOW || ts.tv_sec != 12345 || ts.tv_nsec != 54321 ||
	       vclock_now(&real, &ts) != -EOVERFLOW || real.tv_sec != 12345 || ts.tv_sec != 12345;
}

enum { NO_LEAVE = 90, NO_NAMESPACES, NO_OFFSETS };

/* Its status: that of past_2038(), or why that was not asked. */
static int in_namespace(void)
{
	FILE *file;
	int status = 0;
	pid_t pid;

	if (unshare(CLONE_NEWTIME) != 0)
		return errno == EPERM ? NO_LEAVE : NO_NAMESPACES;
	file = fopen("/proc/self/timens_offsets", "w");
	if (file == NULL || fputs("monotonic 3000000000 0\n", file) < 0 || fclose(file) != 0)
		return NO_OFFSETS;
	pid = fork();
	if (pid == 0)
		_exit(past_2038());
	waitpid(pid, &status, 0);
	return status != 0;
}

/* In a child: whatever this process starts later, a sanitizer's thread too, stays outside. */
static void namespace(void)
{
	int status = 0;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(in_namespace());
	waitpid(pid, &status, 0);
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
	if (status == NO_LEAVE || status == NO_NAMESPACES)
		tap_skip("past 2038",
			 status == NO_LEAVE ? "needs root" : "this kernel has no time namespaces");
	else
		tap_ok(status == 0, "MONOTONIC past 2^31 s (%d)", status);
}

int main(void)
{
	narrow();
	wrappers();
	namespace();
	return tap_done();
}
