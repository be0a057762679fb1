/* SPDX-License-Identifier: MIT */
/*
 * info_calls.c - the system calls that the library may make, for those who write seccomp filters.
 *
 * tests/lib_calls runs each function under a filter that allows what its row has, and nothing else.
 * The constructor's row is what the start of a program needs beside what libc does there.
 */
#include "cli/info.h"
#include "measure/rawcall.h"

#define CLOCK RAWCALL_NAMES_GETTIME
/* What the C libraries need for a thread: beside the call that makes it, and in itself. */
#define THREAD_MAKE                                                                           \
	"clone3, clone, mprotect, rt_sigprocmask, rt_sigaction, membarrier, getrandom, brk, " \
	"sched_get_priority_min, sched_get_priority_max, sched_setscheduler, " RAWCALL_NAMES_FUTEX
#define THREAD_LIFE \
	"rseq, set_robust_list, rt_sigprocmask, prctl, madvise, exit, " RAWCALL_NAMES_FUTEX
#define NO_VDSO "when the clock is answered by neither the page nor the kernel's vDSO"

const struct info_calls info_calls[] = {
	{"vclock_gettime", CLOCK, NO_VDSO},
	{"vclock_now", CLOCK, NO_VDSO},
	{"vclock_*_ns", CLOCK, NO_VDSO},
	{"vclock_getres", RAWCALL_NAMES_GETRES, "when the kernel's vDSO does not answer"},
	{"vclock_gettimeofday", RAWCALL_NAMES_GETTIMEOFDAY, NO_VDSO},
	{"vclock_time", CLOCK, NO_VDSO},
	{"vclock_stamp", CLOCK, "without a page, where the kernel's vDSO does not answer"},
	{"vclock_stamp_ns", CLOCK,
	 "of a stamp that was taken without a page, where the kernel's vDSO does not answer"},
	{"vclock_getcpu", "getcpu", "when the kernel's vDSO has no getcpu"},
	{"vclock_getpid", "getpid, getppid, kcmp",
	 "in the first call of a process; getpid in every call where it cannot be cached"},
	{"any of these", CLOCK ", " RAWCALL_NAMES_MMAP,
	 "once in a new process that finds the page to be of other clocks, and takes it away"},
	{"a call that falls back", RAWCALL_NAMES_FILE ", " CLOCK ", rt_sigprocmask",
	 "at most once a second while the page of a file has ended, to see whether another file "
	 "has taken its place; never with VCLOCK_REOPEN=0"},
	{"the reader inlines", "", "never"},
	{"vclock_open", RAWCALL_NAMES_FILE ", " CLOCK ", sched_yield, nanosleep",
	 "when a program calls it"},
	{"the constructor",
	 RAWCALL_NAMES_FILE ", " CLOCK ", " RAWCALL_NAMES_GETRES
			    ", madvise, mincore, getpid, prctl",
	 "once, before main"},
	{"vclock_status", CLOCK, "in the first call of a process, as any of those above"},
	{"vclock_counter_status", RAWCALL_NAMES_READ ", " CLOCK ", nanosleep" RAWCALL_NAMES_CPUID,
	 "when a program calls it"},
	{"vclock_publisher_start",
	 RAWCALL_NAMES_FILE
	 ", " RAWCALL_NAMES_LOCK ", " RAWCALL_NAMES_LSTAT ", " CLOCK ", " RAWCALL_NAMES_GETRES
	 ", " RAWCALL_NAMES_LIMIT ", memfd_create, " RAWCALL_NAMES_TRUNCATE
	 ", " RAWCALL_NAMES_UNLINK
	 ", pwrite64, fchmod, madvise, getpid, getppid, kcmp, nanosleep, " THREAD_MAKE,
	 "when a program calls it; what makes a thread is the C library's"},
	{"a publisher's thread",
	 RAWCALL_NAMES_FILE ", " CLOCK ", gettimeofday, " RAWCALL_NAMES_RENAME
			    ", gettid, sched_yield, nanosleep, " THREAD_LIFE,
	 "only in a program that called vclock_publisher_start"},
	{"vclock_publisher_stop",
	 "getpid, tgkill, " RAWCALL_NAMES_LSTAT ", nanosleep, sched_yield, " RAWCALL_NAMES_MMAP
	 ", munmap, " RAWCALL_NAMES_UNLINK ", close, " RAWCALL_NAMES_FUTEX,
	 "in a program that called vclock_publisher_start"},
	{NULL, NULL, NULL},
};
