/* SPDX-License-Identifier: MIT */
/*
 * lp64.h - time by system call where the kernel's own types have 64 bits: x86_64, aarch64 and
 * riscv64. Included by their files only.
 */
#ifndef LIB_ARCH_LP64_H
#define LIB_ARCH_LP64_H

#define LIB_REGCALL
#define LIB_VDSO_IS_64 1
#define LIB_ARGS_IN_REGISTERS 1

/* The system call is an instruction and needs no entry point. */
static inline void raw_set_up(unsigned long sysinfo)
{
	(void)sysinfo;
}

static inline int raw_clock_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	return (int)raw_syscall2(SYS_clock_gettime, clk, (long)ret_ts);
}

static inline int raw_clock_getres(int32_t clk, struct vclock_timespec *ret_res)
{
	return (int)raw_syscall2(SYS_clock_getres, clk, (long)ret_res);
}

static inline int raw_gettimeofday(struct vclock_timeval *ret_tv, struct vclock_timezone *ret_tz)
{
	return (int)raw_syscall2(SYS_gettimeofday, (long)ret_tv, (long)ret_tz);
}

#endif /* LIB_ARCH_LP64_H */
