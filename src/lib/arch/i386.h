/* SPDX-License-Identifier: MIT */
/*
 * i386.h - raw system calls of i386. Included by raw.h only.
 *
 * Time by system call: clock_gettime64 first. Where that is refused (an older kernel: ENOSYS; a
 * sandbox that does not know it: EPERM or anything else) the 32-bit clock_gettime is asked, and a
 * second past 2038 is -EOVERFLOW then, never a date of 1901. What only the clock id or the pointer
 * can have caused is the answer, and no second call is made.
 */
#ifndef LIB_ARCH_I386_H
#define LIB_ARCH_I386_H

#define LIB_REGCALL __attribute__((regparm(3)))
#define LIB_VDSO_IS_64 0
#define LIB_ARGS_IN_REGISTERS 0

/* <sys/syscall.h> of an old libc lacks these. */
#define RAW_CLOCK_GETTIME64 403
#define RAW_CLOCK_GETRES64 406
#define RAW_CLOCK_GETTIME32 265
#define RAW_CLOCK_GETRES32 266
/* CPUID.1:EDX */
#define RAW_CPUID_TSC (1u << 4)
#define RAW_CPUID_SSE2 (1u << 26)
#define RAW_ARCH_PRCTL 384

static inline void raw_set_up(unsigned long sysinfo)
{
	lib_vsyscall = (const void *)sysinfo;
}

/* For what is called rarely: five arguments leave no register for an entry point. */
static inline long raw_syscall5(long nr, long a, long b, long c, long d, long e)
{
	long r;

	__asm__ __volatile__("int $0x80"
			     : "=a"(r)
			     : "0"(nr), "b"(a), "c"(b), "d"(c), "S"(d), "D"(e)
			     : "memory");
	return r;
}

static inline long raw_syscall2(long nr, long a, long b)
{
	const void *entry = lib_vsyscall;
	long r;

	if (entry != NULL)
		__asm__ __volatile__("call *%[entry]"
				     : "=a"(r)
				     : "0"(nr), "b"(a), "c"(b), [entry] "r"(entry)
				     : "memory");
	else
		__asm__ __volatile__("int $0x80" : "=a"(r) : "0"(nr), "b"(a), "c"(b) : "memory");
	return r;
}

/* fn() on the stack that ends at top, which is aligned to 16. */
static inline void raw_on_stack(void *top, void (*fn)(void))
{
	__asm__ __volatile__("movl %%esp, %%esi\n\t"
			     "movl %[top], %%esp\n\t"
			     "call *%[fn]\n\t"
			     "movl %%esi, %%esp"
			     : [top] "+c"(top), [fn] "+a"(fn)
			     :
			     : "esi", "edx", "cc", "memory");
}

struct raw_timespec32 {
	int32_t tv_sec;
	int32_t tv_nsec;
};

static inline int raw_time_was_refused(long r)
{
	return r != 0 && r != -EINVAL && r != -EFAULT;
}

static inline int raw_clock_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	struct raw_timespec32 ts;
	long r;

	r = raw_syscall2(RAW_CLOCK_GETTIME64, clk, (long)ret_ts);
	if (!raw_time_was_refused(r))
		return (int)r;
	r = raw_syscall2(RAW_CLOCK_GETTIME32, clk, (long)&ts);
	if (r != 0)
		return (int)r;
	if (ts.tv_sec < 0)
		return -EOVERFLOW;
	ret_ts->tv_sec = ts.tv_sec;
	ret_ts->tv_nsec = ts.tv_nsec;
	return 0;
}

static inline int raw_clock_getres(int32_t clk, struct vclock_timespec *ret_res)
{
	struct raw_timespec32 res;
	long r;

	r = raw_syscall2(RAW_CLOCK_GETRES64, clk, (long)ret_res);
	if (!raw_time_was_refused(r))
		return (int)r;
	r = raw_syscall2(RAW_CLOCK_GETRES32, clk, (long)&res);
	if (r != 0 || ret_res == NULL)
		return (int)r;
	ret_res->tv_sec = res.tv_sec;
	ret_res->tv_nsec = res.tv_nsec;
	return 0;
}

/* The system call's timeval ends in 2038; its timezone is the only one there is. */
static inline int raw_gettimeofday(struct vclock_timeval *ret_tv, struct vclock_timezone *ret_tz)
{
	struct vclock_timespec ts = {0, 0};
	int r = 0;

	if (ret_tv != NULL)
		r = raw_clock_gettime(VCLOCK_REALTIME, &ts);
	if (r == 0 && ret_tz != NULL)
		r = (int)raw_syscall2(SYS_gettimeofday, 0, (long)ret_tz);
	if (r != 0 || ret_tv == NULL)
		return r;
	ret_tv->tv_sec = ts.tv_sec;
	ret_tv->tv_usec = (uint32_t)ts.tv_nsec / 1000;
	return 0;
}

#include "x86.h"

/* TSC and SSE2, which brings LFENCE. AT_HWCAP would say the same, but getauxval() of glibc answers
 * with something of its own. */
static inline bool raw_counter_exists(void)
{
	unsigned a, b, c, d;

	return raw_may_cpuid() && __get_cpuid(1, &a, &b, &c, &d) && (d & RAW_CPUID_TSC) != 0 &&
	       (d & RAW_CPUID_SSE2) != 0;
}

#endif /* LIB_ARCH_I386_H */
