/* SPDX-License-Identifier: MIT */
/*
 * oracle.c - the kernel's own answers. It must never go through the library that it judges, nor
 * through the C library's clock calls, which may end up in a replaced vDSO.
 */
#include "check/oracle.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What the kernel's calls without "64" in their name, and the vDSO's, take. */
struct long_pair {
	long sec, frac;
};

static int as_error(long r)
{
	return r == 0 ? 0 : -errno;
}

static int syscall_pair(long number, int32_t clk, struct vclock_timespec *ret_ts)
{
	struct long_pair pair;
	int r = as_error(syscall(number, clk, ret_ts != NULL ? &pair : NULL));

	if (r == 0 && ret_ts != NULL) {
		ret_ts->tv_sec = pair.sec;
		ret_ts->tv_nsec = pair.frac;
	}
	return r;
}

/* 32-bit machines have a call with 64-bit time of its own, from Linux 5.1 on. */
#ifdef SYS_clock_gettime64
static int syscall_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	int r = as_error(syscall(SYS_clock_gettime64, clk, ret_ts));

	return r == -ENOSYS ? syscall_pair(SYS_clock_gettime, clk, ret_ts) : r;
}

static int syscall_getres(int32_t clk, struct vclock_timespec *ret_res)
{
	int r = as_error(syscall(SYS_clock_getres_time64, clk, ret_res));

	return r == -ENOSYS ? syscall_pair(SYS_clock_getres, clk, ret_res) : r;
}
#else
static int syscall_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	return syscall_pair(SYS_clock_gettime, clk, ret_ts);
}

static int syscall_getres(int32_t clk, struct vclock_timespec *ret_res)
{
	return syscall_pair(SYS_clock_getres, clk, ret_res);
}
#endif

int oracle_syscall_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	int saved = errno;
	int r = syscall_gettime(clk, ret_ts);

	errno = saved;
	return r;
}

int oracle_syscall_getres(int32_t clk, struct vclock_timespec *ret_res)
{
	int saved = errno;
	int r = syscall_getres(clk, ret_res);

	errno = saved;
	return r;
}

int oracle_syscall_gettimeofday(struct vclock_timeval *ret_tv)
{
	struct long_pair pair;
	int saved = errno;
	int r = as_error(syscall(SYS_gettimeofday, &pair, NULL));

	errno = saved;
	if (r == 0) {
		ret_tv->tv_sec = pair.sec;
		ret_tv->tv_usec = pair.frac;
	}
	return r;
}

int64_t oracle_syscall_time(void)
{
#ifdef SYS_time
	int saved = errno;
	long now = syscall(SYS_time, NULL);

	errno = saved;
	return now;
#else
	struct vclock_timespec ts = {0};

	oracle_syscall_gettime(VCLOCK_REALTIME_COARSE, &ts);
	return ts.tv_sec;
#endif
}

int32_t oracle_syscall_getpid(void)
{
	return (int32_t)syscall(SYS_getpid);
}

/* Whether [vdso] of /proc/self/maps starts at address. A system that has no such name counts as
 * "no". */
static enum oracle_owner owner_of_vdso_at(unsigned long address)
{
	char line[256];
	unsigned long start;
	bool found = false;
	FILE *maps = fopen("/proc/self/maps", "re");

	if (maps == NULL)
		return ORACLE_OWNER_UNKNOWN;
	while (!found && fgets(line, sizeof(line), maps) != NULL)
		found = strstr(line, "[vdso]") != NULL && sscanf(line, "%lx-", &start) == 1 &&
			start == address;
	fclose(maps);
	return found ? ORACLE_OWNER_KERNEL : ORACLE_OWNER_OTHER;
}

static pthread_once_t vdso_once = PTHREAD_ONCE_INIT;
static struct vclock_vdso vdso;
static enum oracle_owner vdso_owner;
static int (*vdso_gettime)(int32_t clk, struct vclock_timespec *ret_ts);

static void find_vdso(void)
{
	unsigned long address = getauxval(AT_SYSINFO_EHDR);

	if (vclock_vdso_find((const void *)address, 0, &vdso) != 0)
		return;
	/* The 64-bit-time one on 32-bit machines, and struct timespec on others: one layout. */
	memcpy(&vdso_gettime, &vdso.clock_gettime, sizeof(vdso_gettime));
	vdso_owner = owner_of_vdso_at(address);
}

const struct vclock_vdso *oracle_vdso(void)
{
	pthread_once(&vdso_once, find_vdso);
	return &vdso;
}

enum oracle_owner oracle_vdso_owner(void)
{
	oracle_vdso();
	return vdso_owner;
}

int oracle_vdso_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	int r;

	if (vdso_gettime == NULL)
		return oracle_syscall_gettime(clk, ret_ts);
	r = vdso_gettime(clk, ret_ts);
	return r == -ENOSYS ? oracle_syscall_gettime(clk, ret_ts) : r;
}

oracle_gettime oracle_for(const struct check_run *run, const struct check_subject *subject)
{
	bool is_page = subject->route == VCLOCK_ROUTE_PAGE;

	if (run->syscall_oracle || oracle_vdso_owner() != ORACLE_OWNER_KERNEL ||
	    vdso_gettime == NULL)
		return oracle_syscall_gettime;
	if (!is_page && subject->route != VCLOCK_ROUTE_SYSCALL)
		return oracle_syscall_gettime;
	return vdso_gettime;
}

uint64_t oracle_now_ns(void)
{
	struct vclock_timespec ts = {0};

	oracle_vdso();
	if (oracle_vdso_gettime(VCLOCK_MONOTONIC, &ts) != 0)
		oracle_syscall_gettime(VCLOCK_MONOTONIC, &ts);
	return (uint64_t)oracle_ns(&ts);
}

/* Where the outer two are of one tick, the inner one is of the same. Each try can only fail on a
 * tick, so a few are enough; the last one stands, and is at most a tick off. */
int64_t oracle_real_minus_mono(void)
{
	int64_t real = 0, mono = 0, again;
	int i;

	for (i = 0; i < 8; i++) {
		real = oracle_read(oracle_syscall_gettime, VCLOCK_REALTIME_COARSE);
		mono = oracle_read(oracle_syscall_gettime, VCLOCK_MONOTONIC_COARSE);
		again = oracle_read(oracle_syscall_gettime, VCLOCK_REALTIME_COARSE);
		if (again == real)
			break;
	}
	return real - mono;
}
