/* SPDX-License-Identifier: MIT */
/*
 * bench_figures.c - what the rows mean together: before and after, and the ratios.
 */
#include <string.h>
#include <time.h>

#include "cli/bench.h"
#include "cli/bench_loops.h"
#include "cli/clocks.h"

enum ratio_when { ALWAYS, WITH_PAGE, WITHOUT_PAGE };

struct ratio_rule {
	const char *name;
	const char *arch;     /* NULL: every one */
	enum ratio_when when; /* what the ways "so..." are, depends on it */
	const char *over_group, *over_way, *under_group, *under_way;
	double bound;
	bool is_floor;
};

/*
 * The bounds were set from a prototype's figures on an x86-64 virtual machine, with some room:
 * docs/testing.md. The shared library's ways are named "so"; a copy that is linked in is another
 * thing, and is not judged.
 */
static const struct ratio_rule ratio_rules[] = {
	{"inline ns / ordered counter", "x86_64", WITH_PAGE, "monotonic", "inline-ns", "counter",
	 "ordered", 1.15, false},
	{"inline timespec / ordered counter", "x86_64", WITH_PAGE, "monotonic", "inline", "counter",
	 "ordered", 1.15, false},
	{"inline ns / libc", "x86_64", WITH_PAGE, "monotonic", "inline-ns", "monotonic", "libc",
	 0.95, false},
	{"inline timespec / libc", "x86_64", WITH_PAGE, "monotonic", "inline", "monotonic", "libc",
	 0.95, false},
	{"inline ns / libc", "i386", WITH_PAGE, "monotonic", "inline-ns", "monotonic", "libc", 0.92,
	 false},
	{"inline timespec / libc", "i386", WITH_PAGE, "monotonic", "inline", "monotonic", "libc",
	 0.92, false},
	{".so ns / libc", "x86_64", WITH_PAGE, "monotonic", "so-ns", "monotonic", "libc", 0.97,
	 false},
	{".so any id / libc", "x86_64", WITH_PAGE, "monotonic", "so", "monotonic", "libc", 1.03,
	 false},
	{".so constant id / libc", "x86_64", WITH_PAGE, "monotonic", "so-own", "monotonic", "libc",
	 1.00, false},
	{".so vDSO route / libc", "x86_64", WITH_PAGE, "monotonic", "so-vdso", "monotonic", "libc",
	 1.05, false},
	{".so vDSO route / libc", "x86_64", WITHOUT_PAGE, "monotonic", "so", "monotonic", "libc",
	 1.05, false},
	{"image / vDSO", "x86_64", WITH_PAGE, "monotonic", "image", "monotonic", "vdso", 1.01,
	 false},
	{"image REALTIME / vDSO", "x86_64", WITH_PAGE, "realtime", "image", "realtime", "vdso",
	 1.01, false},
	{"vclock_now / two libc calls", NULL, WITH_PAGE, "now", "so", "now", "libc", 0.50, false},
	{"vclock_now inline / two libc calls", NULL, WITH_PAGE, "now", "inline", "now", "libc",
	 0.50, false},
	{"unordered / unordered counter", NULL, WITH_PAGE, "monotonic", "inline-unordered",
	 "counter", "unordered", 1.06, false},
	{"getpid inline / syscall", "x86_64", ALWAYS, "getpid", "inline", "getpid", "syscall", 0.02,
	 false},
	{"getpid inline / syscall", "i386", ALWAYS, "getpid", "inline", "getpid", "vsyscall", 0.02,
	 false},
	{"REALTIME / MONOTONIC", NULL, WITH_PAGE, "realtime", "inline", "monotonic", "inline", 1.03,
	 false},
	{"TAI / MONOTONIC", NULL, WITH_PAGE, "tai", "inline", "monotonic", "inline", 1.03, false},
	{"BOOTTIME / MONOTONIC", NULL, WITH_PAGE, "boottime", "inline", "monotonic", "inline", 1.03,
	 false},
	{"MONOTONIC_RAW / MONOTONIC", NULL, WITH_PAGE, "monotonic_raw", "inline", "monotonic",
	 "inline", 1.03, false},
	{"syscall / inline", "x86_64", WITH_PAGE, "monotonic", "syscall", "monotonic", "inline", 7,
	 true},
	{"__kernel_vsyscall / inline", "i386", WITH_PAGE, "monotonic", "vsyscall", "monotonic",
	 "inline", 8, true},
	{"int $0x80 / inline", "i386", WITH_PAGE, "monotonic", "int80", "monotonic", "inline", 100,
	 true},
};

#define RATIO_RULES (sizeof(ratio_rules) / sizeof(ratio_rules[0]))

static double row_ns(const struct bench *bench, const char *group, const char *way)
{
	const struct bench_row *row = bench_row_find(bench, group, way);

	if (row == NULL)
		return -1;
	/* A load that costs no more than the loop around it may come out just below zero. */
	return row->result.min_ns > 0 ? row->result.min_ns : 0;
}

static bool is_meant(const struct bench *bench, const struct ratio_rule *rule)
{
	if (rule->arch != NULL && strcmp(rule->arch, RAWCALL_ARCH) != 0)
		return false;
	return rule->when == ALWAYS || (rule->when == WITH_PAGE) == bench->has_page;
}

size_t bench_ratios(const struct bench *bench, struct bench_ratio ret_ratios[BENCH_RATIOS_MAX])
{
	bool gates = bench->counter.trust == VCLOCK_TRUST_FULL && bench->threads == 1 &&
		     probe_answers(&bench->probe, VCLOCK_MONOTONIC);
	const struct bench_row *over, *under;
	const struct ratio_rule *rule;
	struct bench_ratio *ratio;
	size_t count = 0;

	for (rule = ratio_rules; rule < ratio_rules + RATIO_RULES; rule++) {
		over = bench_row_find(bench, rule->over_group, rule->over_way);
		under = bench_row_find(bench, rule->under_group, rule->under_way);
		if (!is_meant(bench, rule) || over == NULL || under == NULL ||
		    under->result.min_ns <= 0)
			continue;
		ratio = &ret_ratios[count++];
		ratio->name = rule->name;
		ratio->value =
			row_ns(bench, rule->over_group, rule->over_way) / under->result.min_ns;
		ratio->bound = rule->bound;
		ratio->is_floor = rule->is_floor;
		ratio->holds = rule->is_floor ? ratio->value >= rule->bound
					      : ratio->value <= rule->bound;
		ratio->gates = gates;
	}
	return count;
}

static int64_t clock_ns(clockid_t id)
{
	struct timespec ts = {0, 0};

	clock_gettime(id, &ts);
	return ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
}

/*
 * The smallest step between two reads of libc's clock. It is what the clock does, clock_getres is
 * what it says: no two clocks need agree in this. A COARSE clock moves once a tick, of 10 ms at
 * most, and a tick may come late: some of them are waited for.
 */
static double smallest_step_ns(clockid_t id)
{
	int64_t last = clock_ns(id), now, step = 0;
	uint64_t start = measure_raw_ns();
	int i, steps = 0;

	for (i = 0; i < 1000 || (steps < 4 && measure_raw_ns() - start < 60000000); i++) {
		now = clock_ns(id);
		if (now > last && (steps++ == 0 || now - last < step))
			step = now - last;
		last = now;
	}
	return steps != 0 ? (double)step : -1;
}

/* The first way into the kernel that this process has. */
static const char *usual_way(void)
{
	const struct bench_rawcalls *raw = bench_rawcalls;

	while (!raw->is_possible() && raw[1].way != NULL)
		raw++;
	return raw->way;
}

static void add_gain(const struct bench *bench, const char *group, const char *what,
		     struct bench_gain *gain)
{
	bool is_lib = bench->library.path == NULL;

	gain->what = what;
	gain->libc_ns = row_ns(bench, group, "libc");
	gain->syscall_ns = row_ns(bench, group, usual_way());
	gain->library_ns = row_ns(bench, group, is_lib ? "lib" : "so");
	gain->inline_ns = row_ns(bench, group, "inline");
	gain->res_ns = gain->step_ns = -1;
}

size_t bench_gains(const struct bench *bench, struct bench_gain ret_gains[BENCH_GAINS_MAX])
{
	const struct clock_name *clock;
	struct timespec res;
	size_t i, count = 0;

	for (i = 0; i < CLOCK_NAMES; i++) {
		clock = &clock_names[i];
		if (bench_row_find(bench, clock->word,
				   bench->library.path == NULL ? "lib" : "so") == NULL)
			continue;
		add_gain(bench, clock->word, clock->name, &ret_gains[count]);
		if (clock_getres(clock->id, &res) == 0)
			ret_gains[count].res_ns = (double)res.tv_sec * 1e9 + (double)res.tv_nsec;
		if (bench->may_count)
			ret_gains[count].step_ns = smallest_step_ns(clock->id);
		count++;
	}
	if (bench_row_find(bench, "now", "libc") != NULL)
		add_gain(bench, "now", "REALTIME+MONOTONIC", &ret_gains[count++]);
	if (bench_row_find(bench, "gettimeofday", "libc") != NULL)
		add_gain(bench, "gettimeofday", "gettimeofday", &ret_gains[count++]);
	if (bench_row_find(bench, "time", "libc") != NULL)
		add_gain(bench, "time", "time", &ret_gains[count++]);
	if (bench_row_find(bench, "getpid", "inline") != NULL)
		add_gain(bench, "getpid", "getpid", &ret_gains[count++]);
	return count;
}
