/* SPDX-License-Identifier: MIT */
/*
 * guest.c - a program for `vclock run`, of 64 or of 32 bits: it finds the image where the kernel's
 * vDSO was, reads the page through it, gets its signals, makes system calls through it, and forks.
 *     guest [PERCENT]
 *     guest exec PROGRAM [ARGUMENT]...: becomes PROGRAM, which is to be followed
 * Of the reads, PERCENT at least must come from the page; 50, where the host may hold the machine
 * up.
 */
#include "arch/image_unit.h"
#include "arch/vsyscall_call.h"
#include "saved_auxv.h"
#include "tap.h"
#include "vclock/elf.h"
#include "vclock/page.h"

#include <link.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define READS 20000
/* An emulated machine on a busy host: how exact the page is, is verify's subject and not ours. */
#define SLACK_NS 20000
/* Of the image: its names stand in front. */
#define HEAD 4096
#ifdef SYS_clock_gettime64
#define RAW_CLOCK_GETTIME SYS_clock_gettime64
#else
#define RAW_CLOCK_GETTIME SYS_clock_gettime
#endif

static unsigned long ehdr;
static struct vclock_vdso vdso;

static uint32_t state(void)
{
	return *(const volatile uint32_t *)(ehdr - IMAGE_UNIT);
}

static const struct vclock_page *page(void)
{
	return (const struct vclock_page *)(ehdr - 3 * IMAGE_UNIT);
}

static const struct process_page *process(void)
{
	return (const struct process_page *)(ehdr - 2 * IMAGE_UNIT);
}

static int64_t raw_ns(int32_t clk)
{
	struct vclock_timespec ts = {0, 0};

	syscall(RAW_CLOCK_GETTIME, clk, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int image_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	return ((int (*)(int32_t, struct vclock_timespec *))(uintptr_t)vdso.clock_gettime)(clk,
											   ret_ts);
}

static int64_t image_ns(int32_t clk)
{
	struct vclock_timespec ts = {0, 0};

	image_gettime(clk, &ts);
	return ts.tv_sec * 1000000000 + ts.tv_nsec;
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

/* How long a steady clock stands still at the end of a line, while its writer is late. */
static int64_t clamp_ns(const struct vclock_slot *slot)
{
	return (int64_t)(((uint64_t)slot->clamp_cyc * slot->line[1].mult[0]) >> page()->shift);
}

static void check_reads(int32_t clk, const char *name)
{
	unsigned i, outside = 0, held = 0;
	int64_t before, value, after, error;
	const struct vclock_slot *slot;

	for (i = 0; i < READS; i++) {
		before = raw_ns(clk);
		value = image_ns(clk);
		after = raw_ns(clk);
		slot = &page()->slot[page()->generation & 1];
		error = slot->error_ns + SLACK_NS;
		if (value >= before - error && value <= after + error)
			continue;
		if (clk == VCLOCK_MONOTONIC && value < before &&
		    value >= before - error - clamp_ns(slot))
			held++;
		else
			outside++;
	}
	tap_ok(outside == 0 && held <= READS / 100,
	       "%s: %u of %u reads outside their bracket, %u held at a line's end", name, outside,
	       READS, held);
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

/*
 * The image against the system call, as a program would have it. A host that holds the machine up
 * leaves the page without a line for longer than all rounds take: then once more.
 */
static void show_speed(void)
{
	int64_t image = 0, raw = 0;
	int tries;

	for (tries = 0; tries < 8 && raw <= 2 * image; tries++) {
		usleep(tries * 100000);
		image = least_ns(image_ns);
		raw = least_ns(raw_ns);
	}
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

/* From now on nobody in this process has clock_gettime as a system call. */
static int forbid_system_calls(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RAW_CLOCK_GETTIME, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	       prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0;
}

/* Without the kernel's vDSO and without the system call only the page can answer. */
static void check_share(int percent)
{
	struct vclock_timespec ts;
	int i, good = 0;

	if (forbid_system_calls() != 0 || raw_ns(VCLOCK_MONOTONIC) != 0) {
		tap_ok(0, "the system call can be forbidden");
		return;
	}
	for (i = 0; i < READS; i++)
		good += image_gettime(VCLOCK_MONOTONIC, &ts) == 0;
	tap_ok(good >= READS / 100 * percent, "%d of %d reads came from the page", good, READS);
}

/* Whether a mapping's line in smaps has this among its flags. */
static int has_flag(unsigned long start, const char *flag)
{
	FILE *smaps = fopen("/proc/self/smaps", "r");
	int is_mapping = 0, has = 0;
	unsigned long first, end;
	char line[512];

	while (smaps != NULL && fgets(line, sizeof(line), smaps) != NULL) {
		if (sscanf(line, "%lx-%lx ", &first, &end) == 2)
			is_mapping = first == start;
		if (is_mapping && strncmp(line, "VmFlags:", 8) == 0)
			has = strstr(line, flag) != NULL;
	}
	if (smaps != NULL)
		fclose(smaps);
	return has;
}

/* Where the CPU has landing pads, a call of the image that has none ends the program. */
static void check_guard(void)
{
	int must = (getauxval(AT_HWCAP2) & IMAGE_GUARDED) != 0;

	tap_ok(has_flag(ehdr, " bt") == must, "the image is %smapped for landing pads",
	       must ? "" : "not ");
}

/* The launcher writes behind it, or takes its section headers away for the room. */
static void check_kernels_image(void)
{
	unsigned long start = 0;
	const ElfW(Shdr) * shdr;
	const ElfW(Ehdr) * kernels;
	char line[512];
	FILE *maps = fopen("/proc/self/maps", "r");
	int i, odd = 0;

	while (maps != NULL && start == 0 && fgets(line, sizeof(line), maps) != NULL)
		if (strstr(line, " [vdso]\n") != NULL)
			start = strtoul(line, NULL, 16);
	if (maps != NULL)
		fclose(maps);
	if (!tap_ok(start != 0 && start != ehdr, "the kernel's image is where it was"))
		return;
	kernels = (const void *)start;
	shdr = (const void *)(start + kernels->e_shoff);
	for (i = 0; i < kernels->e_shnum; i++)
		odd += shdr[i].sh_entsize > 64 || shdr[i].sh_addralign > 4096;
	tap_ok((kernels->e_shnum > 0) == (kernels->e_shoff > 0) &&
		       (kernels->e_shnum > 0 || !KERNELS_IMAGE_HAS_ROOM) && odd == 0,
	       "it is whole: %d of %d section headers are not", odd, kernels->e_shnum);
}

int main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "exec") == 0)
		return execv(argv[2], argv + 2);
	ehdr = getauxval(AT_SYSINFO_EHDR);
	tap_ok(ehdr != 0 && memmem((void *)ehdr, HEAD, "clock_gettime_tai", 17) != NULL,
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
	check_guard();
	check_kernels_image();
	if (process()->function[PROCESS_CLOCK_GETTIME] == 0)
		check_share(argc > 1 ? atoi(argv[1]) : 50);
	return tap_done();
}
