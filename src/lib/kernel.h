/* SPDX-License-Identifier: MIT */
/*
 * kernel.h - the kernel's clocks: its vDSO, else its system calls.
 *
 * Filled once, by the constructor; only read afterwards. Before that everything is zero, and every
 * clock goes to the system call.
 */
#ifndef LIB_KERNEL_H
#define LIB_KERNEL_H

#include <stdbool.h>

#include "lib/process.h"

#pragma GCC visibility push(hidden)

struct lib_kernel {
	/* To be called for the clocks of vdso_clocks only: those that it answered, and answered
	 * like the system call, when the constructor tried them. */
	int (*gettime)(int32_t clk, struct vclock_timespec *ret_ts);
	long (*time)(long *ret_time); /* NULL where its result has 32 bits */
	int (*gettimeofday)(void *ret_tv, struct vclock_timezone *ret_tz);
	int (*getres)(int32_t clk, void *ret_res);
	long (*getcpu)(unsigned *ret_cpu, unsigned *ret_node, void *unused);
	uint32_t vdso_clocks; /* with LIB_TIME_BIT */
	uint32_t getres_clocks;
	uint32_t alarm_clocks; /* which of LIB_ALARM_CLOCKS this kernel has */
	bool has_vdso;
};

extern struct lib_kernel lib_kernel;

/* may_count: the counter may be read in this process; else its vDSO is not asked for clocks that
 * would read it. ehdr: AT_SYSINFO_EHDR. */
void kernel_set_up(unsigned long ehdr, bool may_count, bool may_vdso);

static inline bool kernel_answers(uint32_t clk)
{
	return clk < VCLOCK_BASES && (lib_kernel.vdso_clocks & VCLOCK_BIT(clk)) != 0;
}

/* A clock by the kernel: 0 or -errno, as the system call gives it. */
static inline int kernel_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	if (kernel_answers((uint32_t)clk))
		return lib_kernel.gettime(clk, ret_ts);
	return raw_clock_gettime(clk, ret_ts);
}

#pragma GCC visibility pop

#endif /* LIB_KERNEL_H */
