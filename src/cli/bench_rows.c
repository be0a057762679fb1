/* SPDX-License-Identifier: MIT */
/*
 * bench_rows.c - which rows a run has: all that this machine can do out of what is wanted. A way
 * that would answer with an error is left out: its cost would be that of the error.
 */
#include "cli/bench.h"

#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "cli/bench_loops.h"
#include "cli/clocks.h"

/* Groups that are not clocks. */
static const char *const other_groups[] = {"now",    "gettimeofday", "time",
					   "getcpu", "getpid",	     "raise"};

#define OTHER_GROUPS (sizeof(other_groups) / sizeof(other_groups[0]))

static const char *group_of(const char *text)
{
	const struct clock_name *clock = clock_find(text);
	size_t i;

	for (i = 0; clock == NULL && i < OTHER_GROUPS; i++) {
		if (strcasecmp(text, other_groups[i]) == 0)
			return other_groups[i];
	}
	return clock != NULL ? clock->word : NULL;
}

bool bench_is_group(const char *text)
{
	return group_of(text) != NULL;
}

bool bench_is_wanted(const char *group, char *const *wanted, int count)
{
	int i;

	for (i = 0; i < count; i++) {
		if (strcmp(group, group_of(wanted[i])) == 0)
			return true;
	}
	return count == 0;
}

const struct bench_row *bench_row_find(const struct bench *bench, const char *group,
				       const char *way)
{
	const struct bench_row *row;
	size_t i;

	for (i = 0; i < bench->rows.count; i++) {
		row = &bench->rows.row[i];
		if (strcmp(row->group, group) == 0 && strcmp(row->way, way) == 0)
			return row->result.rounds != 0 ? row : NULL;
	}
	return NULL;
}

static struct bench_row *add(struct bench *bench, const char *group, const char *way,
			     bench_loop *loop)
{
	struct bench_rows *rows = &bench->rows;
	struct bench_row *row = &rows->row[rows->count];

	if (rows->count == BENCH_ROWS_MAX - 1)
		return row; /* never reached: the lists below are shorter */
	rows->loop[rows->count++] = loop;
	row->group = group;
	row->way = way;
	row->note = "";
	row->subject.page = bench->library.page();
	row->subject.word = bench->library.pid_word();
	row->subject.getpid_slow = bench->library.getpid_slow;
	return row;
}

static struct bench_row *add_function(struct bench *bench, const char *group, const char *way,
				      bench_loop *loop, const void *function)
{
	struct bench_row *row = add(bench, group, way, loop);

	row->subject.function = function;
	return row;
}

static struct bench_row *add_clock_function(struct bench *bench, const struct clock_name *clock,
					    const char *way, bench_loop *loop, const void *function)
{
	struct bench_row *row = add_function(bench, clock->word, way, loop, function);

	row->subject.clk = clock->id;
	return row;
}

static void add_floor(struct bench *bench)
{
	add(bench, "loop", "empty", measure_empty_loop)->note = "taken out of all other rows";
	if (!bench->may_count)
		return;
	add(bench, "counter", "unordered", bench_counter_unordered)->note =
		"can be seen to go back between CPUs";
	add(bench, "counter", "ordered", bench_counter_ordered)->note =
		"the floor of every ordered clock";
}

static void add_kernel_clock(struct bench *bench, const struct clock_name *clock)
{
	const struct bench_rawcalls *raw;
	struct vclock_timespec ts;
	int (*vdso)(int32_t, struct vclock_timespec *);

	if (bench->may_count)
		add_clock_function(bench, clock, "libc", bench_libc_clock, NULL);
	*(const void **)&vdso = bench->vdso.clock_gettime;
	if (vdso != NULL && vdso(clock->id, &ts) == 0)
		add_clock_function(bench, clock, "vdso", bench_function_clock,
				   bench->vdso.clock_gettime);
	if (clock->id == VCLOCK_REALTIME && bench->vdso.gettimeofday != NULL) {
		add_clock_function(bench, clock, "vdso-gettimeofday", bench_gettimeofday_as_clock,
				   bench->vdso.gettimeofday)
			->note = "for a vDSO without clock_gettime";
	}
	for (raw = bench_rawcalls; raw->way != NULL; raw++) {
		if (raw->is_possible() && syscall(RAWCALL_CLOCK_GETTIME, clock->id, &ts) == 0)
			add_clock_function(bench, clock, raw->way, raw->clock, NULL);
	}
}

static void add_library_clock(struct bench *bench, const struct clock_name *clock)
{
	const struct library *library = &bench->library;
	bool is_lib = library->path == NULL;
	uint32_t clk = (uint32_t)clock->id;

	add_clock_function(bench, clock, is_lib ? "lib" : "so", bench_function_clock,
			   (const void *)library->gettime);
	if (clk < VCLOCK_BASES && library->own[clk] != NULL)
		add_clock_function(bench, clock, is_lib ? "lib-own" : "so-own", bench_function_own,
				   (const void *)library->own[clk]);
	if (clk < VCLOCK_BASES && library->own_ns[clk] != NULL)
		add_clock_function(bench, clock, is_lib ? "lib-ns" : "so-ns", bench_function_ns,
				   (const void *)library->own_ns[clk]);
	if (bench->has_limited && bench->has_page && clock_is_on_page(clock->id))
		add_clock_function(bench, clock, "so-vdso", bench_function_clock,
				   (const void *)bench->limited.gettime);
}

static void add_inline_clock(struct bench *bench, const struct clock_name *clock)
{
	if (!bench->has_page || bench_inline_timespec(clock->id) == NULL)
		return;
	add(bench, clock->word, "inline", bench_inline_timespec(clock->id));
	add(bench, clock->word, "inline-ns", bench_inline_ns(clock->id));
	if (clock->id == VCLOCK_MONOTONIC) {
		add(bench, clock->word, "inline-unordered", bench_inline_unordered)->note =
			"within one thread only";
		add_clock_function(bench, clock,
				   bench->library.path == NULL ? "lib-unordered" : "so-unordered",
				   bench_function_ns, (const void *)bench->library.unordered_ns);
	}
}

/* The image's own of a function of the kernel's; PROCESS_CLOCK_GETTIME is of 64-bit time. */
static const void *image_function(const struct bench *bench, unsigned slot)
{
	if (!bench->has_image)
		return NULL;
	return own_image_entry(&bench->image, bench->image.arch->functions[slot]);
}

static const void *image_own(const struct bench *bench, int32_t clk)
{
	if ((uint32_t)clk >= VCLOCK_BASES)
		return NULL;
	return own_image_entry(&bench->image, bench->image.arch->own[clk]);
}

/* Where the image forwards a clock, the kernel's vDSO must have it. */
static void add_image_clock(struct bench *bench, const struct clock_name *clock)
{
	bool is_own = bench->has_page && bench_inline_timespec(clock->id) != NULL;
	const void *gettime = image_function(bench, PROCESS_CLOCK_GETTIME), *own;

	if (gettime == NULL || (!is_own && bench->vdso.clock_gettime == NULL))
		return;
	add_clock_function(bench, clock, "image", bench_function_clock, gettime);
	if (!is_own)
		return;
	own = image_own(bench, clock->id);
	if (own != NULL)
		add_clock_function(bench, clock, "image-own", bench_function_own, own);
	add_clock_function(bench, clock, "image-switch", bench_switch_clock, NULL)->note =
		"no entry of it: how it would be with a switch";
}

static void add_clocks(struct bench *bench, char *const *wanted, int count)
{
	struct vclock_timespec ts;
	size_t i;

	for (i = 0; i < CLOCK_NAMES; i++) {
		if (!bench_is_wanted(clock_names[i].word, wanted, count) ||
		    bench->library.gettime(clock_names[i].id, &ts) != 0)
			continue;
		add_kernel_clock(bench, &clock_names[i]);
		add_library_clock(bench, &clock_names[i]);
		add_inline_clock(bench, &clock_names[i]);
		add_image_clock(bench, &clock_names[i]);
	}
}

/* A function of the image that is like one of the kernel's vDSO. */
static void add_image(struct bench *bench, const char *group, bench_loop *loop, const void *vdso,
		      unsigned slot)
{
	const void *entry = image_function(bench, slot);

	if (entry != NULL && (vdso != NULL || bench->has_page))
		add_function(bench, group, "image", loop, entry);
}

static void add_now(struct bench *bench)
{
	bool is_lib = bench->library.path == NULL;

	if (bench->may_count)
		add(bench, "now", "libc", bench_libc_two)->note = "REALTIME, then MONOTONIC";
	if (bench->vdso.clock_gettime != NULL)
		add_function(bench, "now", "vdso", bench_vdso_two, bench->vdso.clock_gettime);
	add_function(bench, "now", is_lib ? "lib" : "so", bench_function_now,
		     (const void *)bench->library.now);
	if (bench->has_page)
		add(bench, "now", "inline", bench_inline_now)->note = "both from one counter read";
}

static void add_gettimeofday(struct bench *bench)
{
	const void *vdso = bench->vdso.gettimeofday;
	const struct bench_rawcalls *raw;

	if (bench->may_count)
		add(bench, "gettimeofday", "libc", bench_libc_gettimeofday);
	if (vdso != NULL) {
		add_function(bench, "gettimeofday", "vdso", bench_function_gettimeofday, vdso);
		add_function(bench, "gettimeofday", "vdso-null", bench_function_gettimeofday_null,
			     vdso)
			->note = "gettimeofday(NULL, NULL): reads no clock";
	}
	for (raw = bench_rawcalls; raw->way != NULL; raw++) {
		if (raw->is_possible())
			add(bench, "gettimeofday", raw->way, raw->gettimeofday);
	}
	add_function(bench, "gettimeofday", bench->library.path == NULL ? "lib" : "so",
		     bench_function_gettimeofday, (const void *)bench->library.gettimeofday);
	add_image(bench, "gettimeofday", bench_function_gettimeofday, vdso, PROCESS_GETTIMEOFDAY);
}

static void add_time(struct bench *bench)
{
	const struct bench_rawcalls *raw;

	add(bench, "time", "libc", bench_libc_time);
	if (bench->vdso.time != NULL)
		add_function(bench, "time", "vdso", bench_vdso_time, bench->vdso.time);
	for (raw = bench_rawcalls; raw->way != NULL; raw++) {
		if (raw->is_possible() && RAWCALL_TIME != RAWCALL_NO_TIME)
			add(bench, "time", raw->way, raw->time);
	}
	add_function(bench, "time", bench->library.path == NULL ? "lib" : "so", bench_library_time,
		     (const void *)bench->library.time);
	add_image(bench, "time", bench_vdso_time, bench->vdso.time, PROCESS_TIME);
}

static void add_getcpu(struct bench *bench)
{
	const struct bench_rawcalls *raw;

	add(bench, "getcpu", "libc", bench_libc_getcpu)->note = "sched_getcpu()";
	if (bench->vdso.getcpu != NULL)
		add_function(bench, "getcpu", "vdso", bench_vdso_getcpu, bench->vdso.getcpu);
	for (raw = bench_rawcalls; raw->way != NULL; raw++) {
		if (raw->is_possible())
			add(bench, "getcpu", raw->way, raw->getcpu);
	}
	add_function(bench, "getcpu", bench->library.path == NULL ? "lib" : "so",
		     bench_library_getcpu, (const void *)bench->library.getcpu);
	add_image(bench, "getcpu", bench_vdso_getcpu, bench->vdso.getcpu, PROCESS_GETCPU);
}

static void add_getpid(struct bench *bench)
{
	const struct bench_rawcalls *raw;

	add(bench, "getpid", "libc", bench_libc_getpid);
	for (raw = bench_rawcalls; raw->way != NULL; raw++) {
		if (raw->is_possible())
			add(bench, "getpid", raw->way, raw->getpid);
	}
	bench->library.getpid_slow();
	add_function(bench, "getpid", bench->library.path == NULL ? "lib" : "so",
		     bench_library_getpid, (const void *)bench->library.pid_word);
	add(bench, "getpid", "inline", bench_inline_getpid);
	add(bench, "getpid", "optimised-away", bench_gone_getpid)->note =
		"not a measurement: nobody looks at the results";
}

void bench_rows_fill(struct bench *bench, char *const *wanted, int count)
{
	add_floor(bench);
	add_clocks(bench, wanted, count);
	if (bench_is_wanted("now", wanted, count))
		add_now(bench);
	if (bench_is_wanted("gettimeofday", wanted, count))
		add_gettimeofday(bench);
	if (bench_is_wanted("time", wanted, count))
		add_time(bench);
	if (bench_is_wanted("getcpu", wanted, count))
		add_getcpu(bench);
	if (bench_is_wanted("getpid", wanted, count))
		add_getpid(bench);
	if (bench_is_wanted("raise", wanted, count))
		add(bench, "raise", "libc", bench_raise)->note = "raise(0): some system calls";
}
