/* SPDX-License-Identifier: MIT */
/*
 * rawcall_i386.h - included by rawcall.h only.
 *
 * The kernel's __kernel_vsyscall (AT_SYSINFO) takes the fastest gate that the CPU has; int $0x80 is
 * the one that always works, and much slower.
 */
#if defined(__i386__)

#define RAWCALL_ARCH "i386"
#define RAWCALL_CLOCK_GETTIME SYS_clock_gettime64
#define RAWCALL_TIME SYS_time
#define RAWCALL_WAYS(WAY) WAY(vsyscall) WAY(int80)
/* What the library calls here, by name: the second where the first is refused. */
#define RAWCALL_NAMES_GETTIME "clock_gettime64, clock_gettime"
#define RAWCALL_NAMES_GETRES "clock_getres_time64, clock_getres"
#define RAWCALL_NAMES_GETTIMEOFDAY "clock_gettime64, clock_gettime, gettimeofday"
#define RAWCALL_NAMES_MMAP "mmap2"
#define RAWCALL_NAMES_READ "openat, open, fcntl64, read, close"
#define RAWCALL_NAMES_FILE "openat, read, statx, fstatat64, fstat64, mmap2, munmap, close"
#define RAWCALL_NAMES_LSTAT "statx, fstatat64, lstat64, fstat64"
#define RAWCALL_NAMES_LOCK "fcntl64"
#define RAWCALL_NAMES_LIMIT "prlimit64, ugetrlimit"
#define RAWCALL_NAMES_TRUNCATE "ftruncate64"
#define RAWCALL_NAMES_FUTEX "futex, futex_time64"
#define RAWCALL_NAMES_UNLINK "unlink"
#define RAWCALL_NAMES_RENAME "rename"
#define RAWCALL_NAMES_CPUID ", arch_prctl"

static inline bool rawcall_has_vsyscall(void)
{
	return getauxval(AT_SYSINFO) != 0;
}

static inline bool rawcall_has_int80(void)
{
	return true;
}

/* Both C libraries keep the gate's address at %gs:16, and call it there themselves. */
static inline __attribute__((always_inline)) long rawcall_vsyscall(long nr, long a, long b, long c)
{
	long ret;

	__asm__ __volatile__("call *%%gs:16"
			     : "=a"(ret)
			     : "a"(nr), "b"(a), "c"(b), "d"(c)
			     : "memory");
	return ret;
}

static inline __attribute__((always_inline)) long rawcall_int80(long nr, long a, long b, long c)
{
	long ret;

	__asm__ __volatile__("int $0x80" : "=a"(ret) : "a"(nr), "b"(a), "c"(b), "d"(c) : "memory");
	return ret;
}

#endif
