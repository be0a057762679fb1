/* SPDX-License-Identifier: MIT */
/*
 * rawcall_x86_64.h - included by rawcall.h only.
 */
#if defined(__x86_64__)

#define RAWCALL_ARCH "x86_64"
#define RAWCALL_CLOCK_GETTIME SYS_clock_gettime
#define RAWCALL_TIME SYS_time
#define RAWCALL_WAYS(WAY) WAY(syscall)
/* What the library calls here, by name. */
#define RAWCALL_NAMES_GETTIME "clock_gettime"
#define RAWCALL_NAMES_GETRES "clock_getres"
#define RAWCALL_NAMES_GETTIMEOFDAY "gettimeofday"
#define RAWCALL_NAMES_MMAP "mmap"
#define RAWCALL_NAMES_READ "openat, open, fcntl, read, close"
#define RAWCALL_NAMES_FILE "openat, open, fcntl, read, newfstatat, stat, fstat, mmap, munmap, close"
#define RAWCALL_NAMES_LSTAT "newfstatat, lstat, fstat"
#define RAWCALL_NAMES_LOCK "fcntl"
#define RAWCALL_NAMES_LIMIT "prlimit64"
#define RAWCALL_NAMES_TRUNCATE "ftruncate"
#define RAWCALL_NAMES_FUTEX "futex"
#define RAWCALL_NAMES_UNLINK "unlink"
#define RAWCALL_NAMES_RENAME "rename"
#define RAWCALL_NAMES_CPUID ", arch_prctl"

static inline bool rawcall_has_syscall(void)
{
	return true;
}

/* SYSCALL itself overwrites rcx and r11. */
static inline __attribute__((always_inline)) long rawcall_syscall(long nr, long a, long b, long c)
{
	long ret;

	__asm__ __volatile__("syscall"
			     : "=a"(ret)
			     : "a"(nr), "D"(a), "S"(b), "d"(c)
			     : "rcx", "r11", "memory");
	return ret;
}

#endif
