/* SPDX-License-Identifier: MIT */
/*
 * kernel.c - finds the kernel's vDSO and tries each of its clocks once.
 *
 * A vDSO is used for exactly those clocks that it answered here, and answered like the system call:
 * one that fails, or tells another time, costs that clock its fast way and nothing else. Must never
 * run inside a time call.
 */
#include "lib/kernel.h"

#include <errno.h>
#include <sys/mman.h>

#include "vclock/elf.h"

struct lib_kernel lib_kernel;

static struct vclock_vdso vdso;

/* How far a vDSO's answer may lie outside two system calls around it. They read the same clock, so
 * nothing is asked for but that somebody may step REALTIME in between: then the next try counts. */
#define AGREE_NS 1000000
#define AGREE_TRIES 3

static int64_t ns_of(const struct vclock_timespec *ts)
{
	return ts->tv_sec * (int64_t)VCLOCK_NSEC_PER_SEC + ts->tv_nsec;
}

static bool vdso_agrees(uint32_t clk)
{
	struct vclock_timespec before, middle, after;
	int i;

	for (i = 0; i < AGREE_TRIES; i++) {
		int r = raw_clock_gettime((int32_t)clk, &before);

		if (lib_kernel.gettime((int32_t)clk, &middle) != 0)
			return false;
		/* Where the system call is refused there is nothing to compare with. */
		if (r != 0 || raw_clock_gettime((int32_t)clk, &after) != 0)
			return true;
		if (ns_of(&middle) >= ns_of(&before) - AGREE_NS &&
		    ns_of(&middle) <= ns_of(&after) + AGREE_NS)
			return true;
	}
	return false;
}

static bool time_agrees(void)
{
	struct vclock_timespec ts;
	long now = lib_kernel.time(NULL);

	if (now < 0)
		return false;
	return raw_clock_gettime(VCLOCK_REALTIME_COARSE, &ts) != 0 ||
	       (now >= ts.tv_sec - 1 && now <= ts.tv_sec + 1);
}

/* Two longs: the kernel's timespec of the vDSO's getres, and timeval of its gettimeofday. */
struct two_longs {
	long sec;
	long part;
};

/* Where the vDSO has gettimeofday but no clock_gettime. */
static int realtime_by_gettimeofday(int32_t clk, struct vclock_timespec *ret_ts)
{
	struct two_longs tv;

	if (lib_kernel.gettimeofday(&tv, NULL) != 0 || tv.sec < 0)
		return raw_clock_gettime(clk, ret_ts);
	ret_ts->tv_sec = tv.sec;
	ret_ts->tv_nsec = tv.part * 1000;
	return 0;
}

/* 32-bit machines before 5.3 have clock_gettime with 32-bit seconds only. */
static int gettime_by_32(int32_t clk, struct vclock_timespec *ret_ts)
{
	int (*gettime32)(int32_t clk, struct two_longs * ret_ts) =
		(int (*)(int32_t, struct two_longs *))vdso.clock_gettime32;
	struct two_longs ts;

	if (gettime32(clk, &ts) != 0 || ts.sec < 0)
		return raw_clock_gettime(clk, ret_ts);
	ret_ts->tv_sec = ts.sec;
	ret_ts->tv_nsec = ts.part;
	return 0;
}

/*
 * The auxiliary vector is believed about where the vDSO is, but not that it is still there: a
 * checkpointing tool or a sandbox may have unmapped it.
 */
static bool is_mapped(unsigned long address)
{
	unsigned char resident;
	int saved = errno;
	bool mapped;

	mapped = mincore((void *)address, 1, &resident) == 0 || errno != ENOMEM;
	errno = saved;
	return mapped;
}

static bool getres_agrees(uint32_t clk)
{
	struct two_longs res;
	struct vclock_timespec want;

	if (lib_kernel.getres((int32_t)clk, &res) != 0)
		return false;
	return raw_clock_getres((int32_t)clk, &want) != 0 ||
	       (want.tv_sec == res.sec && want.tv_nsec == res.part);
}

static uint32_t choose(bool (*agrees)(uint32_t clk), uint32_t clks)
{
	uint32_t chosen = 0, clk;

	for (clk = 0; clk < VCLOCK_BASES; clk++)
		if ((clks & VCLOCK_BIT(clk)) != 0 && agrees(clk))
			chosen |= VCLOCK_BIT(clk);
	return chosen;
}

/* clks: those that may be asked at all. Image addresses become functions here, and nowhere else. */
static void use_vdso(uint32_t clks)
{
	lib_kernel.gettime = (int (*)(int32_t, struct vclock_timespec *))vdso.clock_gettime;
	lib_kernel.gettimeofday = (int (*)(void *, struct vclock_timezone *))vdso.gettimeofday;
	lib_kernel.getres = (int (*)(int32_t, void *))vdso.clock_getres;
	lib_kernel.getcpu = (long (*)(unsigned *, unsigned *, void *))vdso.getcpu;
	if (lib_kernel.gettime == NULL && vdso.clock_gettime32 != NULL)
		lib_kernel.gettime = gettime_by_32;
	if (lib_kernel.gettime == NULL && lib_kernel.gettimeofday != NULL) {
		lib_kernel.gettime = realtime_by_gettimeofday;
		clks &= VCLOCK_BIT(VCLOCK_REALTIME);
	}
	if (lib_kernel.gettime != NULL)
		lib_kernel.vdso_clocks = choose(vdso_agrees, clks);
	if (LIB_VDSO_IS_64 && vdso.time != NULL) {
		lib_kernel.time = (long (*)(long *))vdso.time;
		if (time_agrees())
			lib_kernel.vdso_clocks |= LIB_TIME_BIT;
	}
	if (lib_kernel.getres != NULL)
		lib_kernel.getres_clocks = choose(getres_agrees, LIB_VDSO_CLOCKS);
	/* gettimeofday is a fine clock. */
	if ((lib_kernel.vdso_clocks & VCLOCK_BIT(VCLOCK_REALTIME)) == 0)
		lib_kernel.gettimeofday = NULL;
}

void kernel_set_up(unsigned long ehdr, bool may_count, bool may_vdso)
{
	struct vclock_timespec ts;
	uint32_t clk;

	lib_kernel.has_vdso = ehdr != 0 && is_mapped(ehdr) &&
			      vclock_vdso_find((const void *)ehdr, 0, &vdso) == 0;
	if (lib_kernel.has_vdso && may_vdso)
		use_vdso(may_count ? LIB_VDSO_CLOCKS : LIB_COARSE_CLOCKS);
	for (clk = 0; clk < VCLOCK_BASES; clk++)
		if ((LIB_ALARM_CLOCKS & VCLOCK_BIT(clk)) != 0 &&
		    raw_clock_gettime((int32_t)clk, &ts) == 0)
			lib_kernel.alarm_clocks |= VCLOCK_BIT(clk);
}
