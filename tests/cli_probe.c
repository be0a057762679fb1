/* SPDX-License-Identifier: MIT */
/*
 * Which clocks are answered without a system call: both ways to find out tell a function that makes
 * one from a function that makes none, and agree about this kernel's vDSO. The probe is a part of
 * the tool, and is compiled in here with what it needs.
 */
#include "../src/cli/bench_loops.c"
#include "../src/cli/clocks.c"
#include "../src/cli/probe.c"

#include <sys/auxv.h>

#include "support_lib.h"
#include "tap.h"

static int by_syscall(int32_t clk, struct vclock_timespec *ret_ts)
{
	return (int)syscall(RAWCALL_CLOCK_GETTIME, clk, ret_ts);
}

static int by_itself(int32_t clk, struct vclock_timespec *ret_ts)
{
	ret_ts->tv_sec = clk;
	ret_ts->tv_nsec = 0;
	return 0;
}

/* As the kernel's: some by itself, the others by system call. */
static int mixed(int32_t clk, struct vclock_timespec *ret_ts)
{
	return (clk & 1) != 0 ? by_itself(clk, ret_ts) : by_syscall(clk, ret_ts);
}

/* How many of the clocks that exist are said to be what wanted() says. */
static int right(const struct probe *probe, bool (*wanted)(int32_t id), int *ret_count)
{
	struct vclock_timespec ts;
	int i, good = 0;

	*ret_count = 0;
	for (i = 0; i < CLOCK_NAMES; i++) {
		if (by_syscall(clock_names[i].id, &ts) != 0)
			continue;
		++*ret_count;
		good += probe_answers(probe, clock_names[i].id) == wanted(clock_names[i].id);
	}
	return good;
}

static bool none(int32_t id)
{
	(void)id;
	return false;
}

static bool all(int32_t id)
{
	(void)id;
	return true;
}

static bool odd(int32_t id)
{
	return (id & 1) != 0;
}

static void judge(const char *what, clock_function *function, bool (*wanted)(int32_t id))
{
	struct vclock_vdso vdso = {.clock_gettime = (const void *)function};
	struct probe probe;
	int good, count;

	probe_kernel(&vdso, &probe);
	good = right(&probe, wanted, &count);
	tap_ok(good == count && count > 4, "%s: %d of %d clocks right by %s", what, good, count,
	       probe.how);
	probe_by_cost(&vdso, &probe);
	good = right(&probe, wanted, &count);
	tap_ok(good == count, "%s: %d of %d clocks right by cost", what, good, count);
}

static void judge_kernel(void)
{
	struct vclock_vdso vdso;
	struct probe probe, cost;
	int i, same = 0;

	if (vclock_vdso_find((const void *)getauxval(AT_SYSINFO_EHDR), 0, &vdso) != 0) {
		tap_skip("this kernel", support_is_emulated() ? "the emulator has no vDSO"
							      : "no vDSO in this process");
		return;
	}
	probe_kernel(&vdso, &probe);
	probe_by_cost(&vdso, &cost);
	/* A clock that does not exist costs an error either way, and is told by the filter only. */
	for (i = 0; i < CLOCK_NAMES; i++)
		same += probe.answers[i] == cost.answers[i];
	tap_ok(same == CLOCK_NAMES, "this kernel: %s and cost agree on %d of %d clocks", probe.how,
	       same, CLOCK_NAMES);
	tap_ok(!probe_answers(&probe, CLOCK_THREAD_CPUTIME_ID),
	       "the thread's CPU time needs a system call");
}

int main(void)
{
	judge("all by system call", by_syscall, none);
	judge("none by system call", by_itself, all);
	judge("every other one", mixed, odd);
	judge_kernel();
	return tap_done();
}
