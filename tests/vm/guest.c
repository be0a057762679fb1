/* SPDX-License-Identifier: MIT */
/*
 * guest.c - a program for `vclock run`, of 64 or of 32 bits: it finds the image where the kernel's
 * vDSO was, reads the page through it, gets its signals, makes system calls through it, and forks.
 */
#include "arch/vsyscall_call.h"
#include "tap.h"
#include "vclock/elf.h"
#include "vclock/page.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READS 20000
/* An emulated machine on a busy host: how exact the page is, is verify's subject and not ours. */
#define SLACK_NS 20000
#define UNIT 4096
#ifdef SYS_clock_gettime64
#define RAW_CLOCK_GETTIME SYS_clock_gettime64
#else
#define RAW_CLOCK_GETTIME SYS_clock_gettime
#endif

static unsigned long ehdr;
static struct vclock_vdso vdso;

static uint32_t state(void)
{
	return *(const volatile uint32_t *)(ehdr - UNIT);
}

static const struct vclock_page *page(void)
{
	return (const struct vclock_page *)(ehdr - 3 * UNIT);
}

static int64_t raw_ns(int32_t clk)
{
	struct vclock_timespec ts = {0, 0};

	syscall(RAW_CLOCK_GETTIME, clk, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int64_t image_ns(int32_t clk)
{
	struct vclock_timespec ts = {0, 0};

	((int (*)(int32_t, struct vclock_timespec *))(uintptr_t)vdso.clock_gettime)(clk, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static unsigned long saved_ehdr(void)
{
	unsigned long words[256] = {0};
	int fd = open("/proc/self/auxv", O_RDONLY);
	ssize_t n = read(fd, words, sizeof(words)), i;

	close(fd);
	for (i = 0; i + 1 < n / (ssize_t)sizeof(long); i += 2)
		if (words[i] == AT_SYSINFO_EHDR)
			return words[i + 1];
	return 0;
}

static int settle(void)
{
	int i;

	for (i = 0; i < 10000 && state() == 0; i++) {
		image_ns(VCLOCK_MONOTONIC);
		usleep(1000);
	}
	return (int)state();
}

static void check_reads(int32_t clk, const char *name)
{
	unsigned i, outside = 0;
	int64_t before, value, after, error;

	for (i = 0; i < READS; i++) {
		before = raw_ns(clk);
		value = image_ns(clk);
		after = raw_ns(clk);
		error = page()->slot[page()->generation & 1].error_ns;
		error += SLACK_NS;
		outside += value < before - error || value > after + error;
	}
	tap_ok(outside == 0, "%s: %u of %u reads outside their bracket", name, outside, READS);
}

static int64_t least_ns(int64_t (*read)(int32_t))
{
	int64_t least = INT64_MAX, start, ns;
	int round, i;

	for (round = 0; round < 200; round++) {
		start = raw_ns(VCLOCK_MONOTONIC);
		for (i = 0; i < 100; i++)
			read(VCLOCK_MONOTONIC);
		ns = raw_ns(VCLOCK_MONOTONIC) - start;
		least = ns < least ? ns : least;
	}
	return least;
}

/* The image against the system call, as a program would have it. */
static void show_speed(void)
{
	int64_t image = least_ns(image_ns), raw = least_ns(raw_ns);

	tap_ok(raw > 2 * image, "%.1f ns by the image, %.1f by syscall()", (double)image / 100,
	       (double)raw / 100);
}

static volatile sig_atomic_t signals;

static void plain_handler(int number)
{
	signals += number == SIGUSR1;
	image_ns(VCLOCK_REALTIME);
}

static void long_handler(int number, siginfo_t *info, void *context)
{
	signals += number == SIGUSR2 && info != NULL && context != NULL;
	image_ns(VCLOCK_REALTIME);
}

static void check_signals(void)
{
	struct sigaction plain = {.sa_handler = plain_handler};
	struct sigaction with_info = {.sa_sigaction = long_handler, .sa_flags = SA_SIGINFO};
	int i;

	sigaction(SIGUSR1, &plain, NULL);
	sigaction(SIGUSR2, &with_info, NULL);
	for (i = 0; i < 100; i++) {
		raise(SIGUSR1);
		raise(SIGUSR2);
	}
	tap_ok(signals == 200, "%d of 200 signals came and went", (int)signals);
}

static void check_vsyscall(void)
{
	const void *entry = NULL;
	long pid;

	if (!HAS_KERNEL_VSYSCALL)
		return;
	pid = vclock_elf_lookup(&vdso.elf, "__kernel_vsyscall", "LINUX_2.5", &entry) == 0
		      ? call_kernel_vsyscall(entry, SYS_getpid)
		      : -1;
	tap_ok(pid == getpid(), "__kernel_vsyscall of the image: %ld", pid);
}

static void check_fork(void)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		if (state() != 0)
			_exit(2); /* it was not wiped */
		_exit(settle() == 1 ? 0 : 1);
	}
	waitpid(pid, &status, 0);
	tap_ok(status == 0, "a child asks for itself (%d)", status);
}

int main(void)
{
	ehdr = getauxval(AT_SYSINFO_EHDR);
	tap_ok(ehdr != 0 && memmem((void *)ehdr, UNIT, "clock_gettime_tai", 17) != NULL,
	       "the image is there");
	tap_ok(saved_ehdr() == ehdr, "the kernel says so too");
	tap_ok(vclock_vdso_find((const void *)ehdr, 0, &vdso) == 0 && vdso.clock_gettime != NULL,
	       "its functions are found");
	if (!tap_ok(settle() == 1, "it reads the page"))
		return tap_done();
	check_reads(VCLOCK_REALTIME, "REALTIME");
	check_reads(VCLOCK_MONOTONIC, "MONOTONIC");
	check_reads(VCLOCK_TAI, "TAI");
	show_speed();
	check_signals();
	check_vsyscall();
	check_fork();
	return tap_done();
}
