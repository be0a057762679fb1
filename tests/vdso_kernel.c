/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own vDSO is found in this process, and its functions agree with the raw system calls
 * around them. Calls through what the finder gives, never through libc's idea of the vDSO.
 */
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "vclock/elf.h"

#define ROUNDS 2000

/* The functions' own types: of the kernel's ABI, whatever this libc's time_t is. */
struct kernel_timespec {
	int64_t sec, nsec;
};
struct word_timespec {
	long sec, nsec;
};
struct word_timeval {
	long sec, usec;
};

static struct vclock_vdso vdso;

/* 64-bit time by system call, on 32-bit machines too. */
static int64_t syscall_ns(clockid_t clk)
{
	struct kernel_timespec ts = {0, 0};
#ifdef SYS_clock_gettime64
	syscall(SYS_clock_gettime64, clk, &ts);
#else
	syscall(SYS_clock_gettime, clk, &ts);
#endif
	return ts.sec * 1000000000 + ts.nsec;
}

static int64_t gettime_ns(clockid_t clk)
{
	int (*clock_gettime64)(clockid_t, struct kernel_timespec *) =
		(int (*)(clockid_t, struct kernel_timespec *))(uintptr_t)vdso.clock_gettime;
	struct kernel_timespec ts = {0, 0};

	return clock_gettime64(clk, &ts) ? -1 : ts.sec * 1000000000 + ts.nsec;
}

static int64_t gettime32_ns(clockid_t clk)
{
	int (*clock_gettime32)(clockid_t, struct word_timespec *) =
		(int (*)(clockid_t, struct word_timespec *))(uintptr_t)vdso.clock_gettime32;
	struct word_timespec ts = {0, 0};

	return clock_gettime32(clk, &ts) ? -1 : (int64_t)ts.sec * 1000000000 + ts.nsec;
}

static int64_t gettimeofday_us(clockid_t clk)
{
	int (*get)(struct word_timeval *, void *) =
		(int (*)(struct word_timeval *, void *))(uintptr_t)vdso.gettimeofday;
	struct word_timeval tv = {0, 0};

	(void)clk;
	return get(&tv, NULL) ? -1 : ((int64_t)tv.sec * 1000000 + tv.usec) * 1000;
}

static int64_t time_ns(clockid_t clk)
{
	long (*get)(long *) = (long (*)(long *))(uintptr_t)vdso.time;

	(void)clk;
	return (int64_t)get(NULL) * 1000000000;
}

/* A clock that is 1 ms ahead: what the comparison below must catch. */
static int64_t skewed_ns(clockid_t clk)
{
	return gettime_ns(clk) + 1000000;
}

/*
 * How many of ROUNDS calls lie outside the two system calls around them. step: what the function
 * rounds down to, lag: how far it may stay behind besides.
 */
static int count_outside(int64_t (*read)(clockid_t), clockid_t clk, int64_t step, int64_t lag)
{
	int outside = 0;

	for (int i = 0; i < ROUNDS; i++) {
		int64_t before = syscall_ns(clk), now = read(clk), after = syscall_ns(clk);

		before -= lag;
		outside += now < before - before % step || now > after;
	}
	return outside;
}

static void check_clock(const void *function, int64_t (*read)(clockid_t), clockid_t clk,
			int64_t step, int64_t lag, const char *what)
{
	int outside;

	if (function == NULL) {
		tap_skip(what, "this kernel's vDSO does not have the function");
		return;
	}
	outside = count_outside(read, clk, step, lag);
	tap_ok(outside == 0, "%s: %d of %d outside two system calls", what, outside, ROUNDS);
}

/* Calls that were interrupted for 1 ms are inside by accident. */
static void check_checker(void)
{
	int outside;

	if (vdso.clock_gettime == NULL)
		return;
	outside = count_outside(skewed_ns, CLOCK_MONOTONIC, 1, 0);
	tap_ok(outside > ROUNDS / 2, "a clock 1 ms ahead is caught: %d of %d outside", outside,
	       ROUNDS);
}

static void check_clocks(void)
{
	/* time() is the second of the last tick: up to a tick of 10 ms behind, and a late tick. */
	const int64_t tick = 10000000, late = 500000000;

	check_clock(vdso.clock_gettime, gettime_ns, CLOCK_REALTIME, 1, 0, "clock_gettime REALTIME");
	check_clock(vdso.clock_gettime, gettime_ns, CLOCK_MONOTONIC, 1, 0,
		    "clock_gettime MONOTONIC");
	check_clock(vdso.clock_gettime, gettime_ns, CLOCK_BOOTTIME, 1, 0, "clock_gettime BOOTTIME");
	check_clock(vdso.clock_gettime, gettime_ns, CLOCK_MONOTONIC_COARSE, 1, 0,
		    "clock_gettime MONOTONIC_COARSE");
	check_clock(vdso.gettimeofday, gettimeofday_us, CLOCK_REALTIME, 1000, 0, "gettimeofday");
	check_clock(vdso.time, time_ns, CLOCK_REALTIME, 1000000000, tick + late, "time");
	if (sizeof(void *) == 4)
		check_clock(vdso.clock_gettime32, gettime32_ns, CLOCK_MONOTONIC, 1, 0,
			    "the 32-bit clock_gettime");
	else
		tap_ok(vdso.clock_gettime32 == NULL, "no 32-bit clock_gettime on this machine");
}

static void check_getres(void)
{
	int (*get)(clockid_t, struct word_timespec *) =
		(int (*)(clockid_t, struct word_timespec *))(uintptr_t)vdso.clock_getres;
	struct word_timespec a = {0, 0}, b = {1, 1};
	int r = -1;

	if (vdso.clock_getres == NULL) {
		tap_skip("clock_getres", "this kernel's vDSO does not have the function");
		return;
	}
	r = get(CLOCK_MONOTONIC_COARSE, &a);
	syscall(SYS_clock_getres, CLOCK_MONOTONIC_COARSE, &b);
	tap_ok(r == 0 && a.sec == b.sec && a.nsec == b.nsec, "clock_getres: %ld ns", a.nsec);
}

/* The CPU may change between the calls: seen on both sides of one call it did not, or came back. */
static void check_getcpu(void)
{
	int (*get)(unsigned int *, unsigned int *, void *) =
		(int (*)(unsigned int *, unsigned int *, void *))(uintptr_t)vdso.getcpu;
	int judged = 0, wrong = 0;

	if (vdso.getcpu == NULL) {
		tap_skip("getcpu", "this kernel's vDSO does not have the function");
		return;
	}
	for (int i = 0; i < ROUNDS; i++) {
		unsigned int before = 0, now = 77, after = 1;

		syscall(SYS_getcpu, &before, NULL, NULL);
		if (get(&now, NULL, NULL) != 0)
			wrong++;
		syscall(SYS_getcpu, &after, NULL, NULL);
		judged += before == after;
		wrong += before == after && now != before;
	}
	/* Two moves within one round are possible, and rare. */
	tap_ok(judged > ROUNDS / 2 && wrong <= judged / 100, "getcpu: %d of %d differ", wrong,
	       judged);
}

int main(void)
{
	const void *address = (const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	const char *soname;
	int r = vclock_vdso_find(address, 0, &vdso);

	if (r == -VCLOCK_ELF_ABSENT) {
		tap_skip("the kernel's vDSO", "the emulator has no vDSO");
		return tap_done();
	}
	if (!tap_ok(r == 0, "the kernel's vDSO at %p: %s", address, vclock_elf_strerror(r)))
		return tap_done();
	soname = vclock_elf_soname(&vdso.elf);
	tap_ok(soname && strncmp(soname, "linux-", 6) == 0, "its name is %s",
	       soname ? soname : "(none)");
	tap_diag("%llu symbols, hash tables %u, %zu bytes",
		 (unsigned long long)vdso.elf.symtab_count, vdso.elf.hashes, vdso.elf.size);
	check_clocks();
	check_checker();
	check_getres();
	check_getcpu();
	return tap_done();
}
