/* SPDX-License-Identifier: MIT */
/*
 * cost.c - what a call costs in instructions, on a machine whose time is its count of them:
 *     cost page|vdso|syscall BASELINE
 * BASELINE has lines ARCHITECTURE ROUTE CALL COUNT. Each call may take 2 % more than there, and no
 * call may be missing from it. On the routes to the kernel the count is ours alone: the kernel's
 * own function, called by itself, is taken off. Prints what BASELINE would be as lines
 *     # instructions ARCHITECTURE ROUTE CALL COUNT
 */
#include "measure/rawcall.h"
#include "tap.h"
#include "vclock.h"
#include "vclock/elf.h"
#include "vclock/read.h"

#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define CALLS 500
#define SETTLE_US 1500000
/* Some lines of the page long: which of a slot's two lines a read finds makes a difference. */
#define ROUNDS_NS 60000000u
/* Of the baseline; and never less than half an instruction, which is what loops can shift by. */
#define MORE_PERCENT 2
#define MORE_LEAST 0.5

static struct vclock_vdso vdso;
static volatile uint64_t sink;

#ifdef SYS_clock_gettime64
#define RAW_GETTIME SYS_clock_gettime64
#else
#define RAW_GETTIME SYS_clock_gettime
#endif

static void nothing(void)
{
	__asm__ __volatile__("" : : : "memory");
}

static void inline_ns(void)
{
	uint64_t ns = 0;

	vclock_read_ns(vclock_page(), VCLOCK_MONOTONIC, &ns);
	sink = ns;
}

static void inline_timespec(void)
{
	struct vclock_timespec ts = {0, 0};

	vclock_read_timespec(vclock_page(), VCLOCK_MONOTONIC, &ts);
	sink = (uint64_t)ts.tv_nsec;
}

static void monotonic_ns(void)
{
	sink = vclock_monotonic_ns();
}

static void gettime_monotonic(void)
{
	struct vclock_timespec ts;

	vclock_gettime64(VCLOCK_MONOTONIC, &ts);
}

static void gettime_realtime(void)
{
	struct vclock_timespec ts;

	vclock_gettime64(VCLOCK_REALTIME, &ts);
}

static void gettime_raw(void)
{
	struct vclock_timespec ts;

	vclock_gettime64(VCLOCK_MONOTONIC_RAW, &ts);
}

static void now(void)
{
	struct vclock_timespec real, mono;

	vclock_now64(&real, &mono);
}

static void stamp(void)
{
	sink = vclock_stamp();
}

static void get_pid(void)
{
	sink = (uint64_t)vclock_getpid();
}

static void vdso_itself(void)
{
	int (*gettime)(int32_t, struct vclock_timespec *) =
		(int (*)(int32_t, struct vclock_timespec *))vdso.clock_gettime;
	struct vclock_timespec ts;

	gettime(VCLOCK_MONOTONIC, &ts);
}

static void syscall_itself(void)
{
	struct vclock_timespec ts;

	syscall(RAW_GETTIME, VCLOCK_MONOTONIC, &ts);
}

struct call {
	const char *name;
	void (*fn)(void);
};

static const struct call page_calls[] = {
	{"vclock_read_ns", inline_ns},
	{"vclock_read_timespec", inline_timespec},
	{"vclock_monotonic_ns", monotonic_ns},
	{"vclock_gettime64:MONOTONIC", gettime_monotonic},
	{"vclock_gettime64:REALTIME", gettime_realtime},
	{"vclock_gettime64:MONOTONIC_RAW", gettime_raw},
	{"vclock_now64", now},
	{"vclock_stamp", stamp},
	{"vclock_getpid", get_pid},
	{NULL, NULL},
};

static const struct call kernel_calls[] = {
	{"vclock_monotonic_ns", monotonic_ns},
	{"vclock_gettime64:MONOTONIC", gettime_monotonic},
	{NULL, NULL},
};

static uint64_t raw_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Of CALLS in a row, the round that nothing interrupted. */
static uint64_t least_ns(void (*fn)(void))
{
	uint64_t start, ns, best = UINT64_MAX, end = raw_ns() + ROUNDS_NS;
	int i;

	while ((start = raw_ns()) < end) {
		for (i = 0; i < CALLS; i++)
			fn();
		ns = raw_ns() - start;
		if (ns < best)
			best = ns;
	}
	return best;
}

static double instructions(void (*fn)(void), void (*without)(void))
{
	return ((double)least_ns(fn) - (double)least_ns(without)) / CALLS;
}

static bool find(const char *path, const char *route, const char *name, double *ret_count)
{
	char line[256], arch[32], of_route[32], of_name[64];
	FILE *file = fopen(path, "r");
	bool is_there = false;
	double count = 0;

	while (file != NULL && !is_there && fgets(line, sizeof(line), file) != NULL)
		is_there = sscanf(line, "%31s %31s %63s %lf", arch, of_route, of_name, &count) ==
				   4 &&
			   strcmp(arch, RAWCALL_ARCH) == 0 && strcmp(of_route, route) == 0 &&
			   strcmp(of_name, name) == 0;
	if (file != NULL)
		fclose(file);
	if (is_there)
		*ret_count = count;
	return is_there;
}

static void judge(const char *path, const char *route, const struct call *call,
		  void (*without)(void))
{
	double count = instructions(call->fn, without), known = 0, more;
	bool is_there = find(path, route, call->name, &known);

	more = (known < 0 ? -known : known) * MORE_PERCENT / 100;
	if (more < MORE_LEAST)
		more = MORE_LEAST;
	printf("# instructions %s %s %s %.1f\n", RAWCALL_ARCH, route, call->name, count);
	tap_ok(is_there && count <= known + more, "%s, %s: %.1f instructions, %.1f known", route,
	       call->name, count, known);
	/* Who made it faster writes it down, or the next who makes it slower is not seen. */
	tap_ok(count >= known - 2 * more, "%s, %s: the baseline is of today", route, call->name);
}

static void run(const char *route, const char *path)
{
	struct vclock_publisher_options options = {.size = sizeof(options), .wait_ms = 3000};
	bool is_page = strcmp(route, "page") == 0, is_vdso = strcmp(route, "vdso") == 0;
	const struct call *call;

	vclock_vdso_find((const void *)getauxval(AT_SYSINFO_EHDR), 0, &vdso);
	if (is_page && !tap_ok(vclock_publisher_start(&options) == 0, "a publisher"))
		return;
	usleep(SETTLE_US);
	if (is_vdso && !tap_ok(vdso.clock_gettime != NULL, "a vDSO"))
		return;
	for (call = is_page ? page_calls : kernel_calls; call->name != NULL; call++)
		judge(path, route, call,
		      is_page	? nothing
		      : is_vdso ? vdso_itself
				: syscall_itself);
	vclock_publisher_stop();
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: cost page|vdso|syscall BASELINE\n");
		return 2;
	}
	/* The library looks when it is loaded. */
	if (getenv("VCLOCK_ROUTE") == NULL) {
		setenv("VCLOCK_ROUTE", argv[1], 1);
		execv("/proc/self/exe", argv);
		return 1;
	}
	run(argv[1], argv[2]);
	return tap_done();
}
