/* SPDX-License-Identifier: MIT */
/*
 * info_gather.c - finds out what `vclock info` says. Changes nothing and starts nothing, but for a
 * child that lives for the blink of an eye; see probe.h.
 */
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/bench_loops.h"
#include "cli/info.h"

/* Some 20 us in each of 25 rounds for each clock: 10 ms in all, and a minimum that holds. */
#define ROUNDS 25
#define BATCH_NS 20000

/* What vclock_gettime() costs now, whatever its route. */
static void measure_clocks(struct info *info)
{
	struct measure_candidate candidates[1 + CLOCK_NAMES] = {{.loop = measure_empty_loop}};
	struct bench_subject subjects[CLOCK_NAMES] = {{0}};
	struct measure_options options = {.rounds = ROUNDS, .batch_ns = BATCH_NS};
	size_t i;

	for (i = 0; i < CLOCK_NAMES; i++) {
		subjects[i].clk = clock_names[i].id;
		subjects[i].function = (const void *)vclock_gettime64;
		candidates[1 + i].loop = bench_function_clock;
		candidates[1 + i].subject = &subjects[i];
	}
	if (measure_run(&options, candidates, 1 + CLOCK_NAMES) != 0)
		return;
	for (i = 0; i <= CLOCK_NAMES; i++) {
		if (i > 0)
			info->clock[i - 1].ns = candidates[i].result.min_ns;
		measure_result_free(&candidates[i].result);
	}
}

/* Where this process may not read the counter, the vDSO is not even tried. */
static void gather_clock(struct info *info, size_t i)
{
	struct info_clock *clock = &info->clock[i];
	struct vclock_timespec ts;
	uint32_t id;

	clock->name = &clock_names[i];
	id = (uint32_t)clock->name->id;
	clock->vdso = info->probe.answers[i];
	clock->res_ns = -1;
	clock->error = -vclock_gettime64(clock->name->id, &ts);
	if (clock->error == 0 && vclock_getres64(clock->name->id, &ts) == 0)
		clock->res_ns = ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
	clock->route = info->status.clock[id].route;
	clock->reason = vclock_reason_string(info->status.clock[id].reason);
	if (clock->error == EINVAL && (id == VCLOCK_REALTIME_ALARM || id == VCLOCK_BOOTTIME_ALARM))
		clock->reason = "this kernel has no such clock: no real-time clock device";
	else if (clock->error == EINVAL)
		clock->reason = "this kernel has no such clock";
	else if (clock->error != 0)
		clock->reason = strerror(clock->error);
}

static bool page_serves(const struct info *info)
{
	return info->status.clock[VCLOCK_MONOTONIC].route == VCLOCK_ROUTE_PAGE;
}

/* In the order in which a reader would ask: is it slow, can a page help, does it? */
static const char *judge(const struct info *info)
{
	bool is_fast = probe_answers(&info->probe, VCLOCK_MONOTONIC);
	bool may_page = info->counter.is_readable && info->counter.trust >= VCLOCK_TRUST_PROVE;

	if (page_serves(info))
		return is_fast ? "A page answers the clocks. Little is gained for one clock, since "
				 "the "
				 "kernel answers without a system call as well; much for "
				 "vclock_now(), vclock_getpid() and unordered reads."
			       : "A page answers the clocks, which are system calls otherwise.";
	if (is_fast && !may_page)
		return "This machine gains nothing from vclock: the kernel answers the clocks "
		       "without a system call, and does not trust the counter that a page needs. "
		       "Only vclock_getpid() is faster than libc.";
	if (is_fast)
		return "This machine gains little from vclock: the kernel answers the clocks "
		       "without a system call. With a page one clock is some 5 to 12 % cheaper; "
		       "REALTIME and MONOTONIC together (vclock_now) cost half.";
	if (may_page)
		return "This machine gains much from vclock: its clocks are system calls now, and "
		       "a page answers without. A program starts one itself "
		       "(vclock_publisher_start); `vclock bench` shows what it brings.";
	if (!info->counter.is_readable)
		return "vclock cannot help this process: the clocks are system calls, and it may "
		       "not read the counter.";
	return "vclock cannot help here: the clocks are system calls, and the kernel does not "
	       "trust the counter that a page needs.";
}

static const char *judge_fixture(const struct info *info)
{
	bool may_page = info->counter.trust >= VCLOCK_TRUST_PROVE;

	if (!info->cure.is_known)
		return "Not known. vclock would pass every call on to the kernel.";
	if (info->cure.is_slow)
		return may_page ? "Such a machine gains much from vclock: its clocks are system "
				  "calls, and a page answers without."
				: "vclock cannot help there: the clocks are system calls, and the "
				  "kernel does not trust the counter that a page needs.";
	return may_page ? "Such a machine gains little from vclock: the kernel answers the clocks "
			  "without a system call. REALTIME and MONOTONIC together (vclock_now) "
			  "cost half."
			: "Such a machine gains nothing from vclock: the kernel answers the clocks "
			  "without a system call, and does not trust the counter.";
}

static void gather_counter(const char *sysfs, struct info *info)
{
	info->counter.size = sizeof(info->counter);
	vclock_counter_status(sysfs, &info->counter);
	info_cure_find(info->counter.current, info->counter.available, &info->cure);
}

void info_gather(struct info *ret_info)
{
	size_t i;

	memset(ret_info, 0, sizeof(*ret_info));
	ret_info->status.size = sizeof(ret_info->status);
	vclock_status(&ret_info->status);
	/* An address that the library found not to be mapped is not looked at again. */
	vclock_vdso_find(ret_info->status.has_vdso ? (const void *)getauxval(AT_SYSINFO_EHDR)
						   : NULL,
			 0, &ret_info->vdso);
	ret_info->probe.how = "counter forbidden";
	if (measure_counter_is_readable())
		probe_kernel(&ret_info->vdso, &ret_info->probe);
	gather_counter(NULL, ret_info);
	info_page_file_check(ret_info->status.page_error,
			     ret_info->status.page_source == VCLOCK_PAGE_FILE, &ret_info->file);
	for (i = 0; i < CLOCK_NAMES; i++)
		gather_clock(ret_info, i);
	measure_clocks(ret_info);
	ret_info->verdict = judge(ret_info);
}

void info_gather_fixture(const char *sysfs, struct info *ret_info)
{
	memset(ret_info, 0, sizeof(*ret_info));
	ret_info->fixture = true;
	gather_counter(sysfs, ret_info);
	ret_info->verdict = judge_fixture(ret_info);
}
