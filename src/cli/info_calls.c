/* SPDX-License-Identifier: MIT */
/*
 * info_calls.c - the system calls that the library may make, for those who write seccomp filters.
 *
 * tests/lib_calls holds the rows of the clock functions against a filter that allows nothing else.
 */
#include "cli/info.h"
#include "measure/rawcall.h"

#define CLOCK_CALLS RAWCALL_NAMES_GETTIME
#define NO_VDSO "when the clock is answered by neither the page nor the kernel's vDSO"

const struct info_calls info_calls[] = {
	{"vclock_gettime, vclock_now, vclock_*_ns", CLOCK_CALLS, NO_VDSO},
	{"vclock_getres", RAWCALL_NAMES_GETRES, "when the kernel's vDSO does not answer"},
	{"vclock_gettimeofday", RAWCALL_NAMES_GETTIMEOFDAY, NO_VDSO},
	{"vclock_time", CLOCK_CALLS, NO_VDSO},
	{"vclock_stamp", CLOCK_CALLS, "without a page, where the kernel's vDSO does not answer"},
	{"vclock_stamp_ns", "", "never"},
	{"vclock_getcpu", "getcpu", "when the kernel's vDSO has no getcpu"},
	{"vclock_getpid", "getpid, getppid, kcmp",
	 "in the first call of a process; getpid in every call where it cannot be cached"},
	{"the first call of a process", CLOCK_CALLS ", mmap",
	 "mmap only when the page is found to be of other clocks, and is taken away"},
	{"the constructor",
	 CLOCK_CALLS ", " RAWCALL_NAMES_GETRES
		     ", mmap, madvise, mincore, getpid, prctl, openat, read, newfstatat, fstat, "
		     "munmap, close",
	 "once, before main"},
	{"vclock_open",
	 "openat, read, newfstatat, fstat, mmap, munmap, close, " CLOCK_CALLS ", "
	 "sched_yield, nanosleep",
	 "when a program calls it"},
	{"the reader inlines", "", "never"},
	{NULL, NULL, NULL},
};
