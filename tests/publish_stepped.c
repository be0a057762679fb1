/* SPDX-License-Identifier: MIT */
/*
 * The writer as it is compiled, an instruction at a time: after every instruction that changed the
 * page, a reader reads the same values as before the update began. What publish_killed.c shows for
 * the source, this shows for the machine code.
 */
#include "support_byo.h"
#include "tap.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define POINTS 16
#define STEPS_MAX 2000000u

static struct byo *byo; /* shared with the child */
static struct vclock_page seen;
static uint64_t point[POINTS];
static int64_t before[POINTS];
static unsigned changes, wrong, steps;

static void aim(void)
{
	const struct vclock_slot *live = byo_live(byo);
	uint64_t end = live->line[1].start_cyc + live->line[1].length_cyc;
	unsigned i;

	for (i = 0; i < POINTS; i++) {
		point[i] = byo->cyc + (end - byo->cyc) / POINTS * i;
		before[i] = byo_read_ns(&byo->page, point[i], VCLOCK_MONOTONIC);
	}
}

static void look(void)
{
	unsigned i;

	if (memcmp(&seen, &byo->page, sizeof(seen)) == 0)
		return;
	seen = byo->page;
	changes++;
	for (i = 0; i < POINTS; i++)
		wrong += byo_read_ns(&seen, point[i], VCLOCK_MONOTONIC) != before[i];
}

static void child(void)
{
	int r;

	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
		_exit(77);
	raise(SIGSTOP);
	r = vclock_page_update(&byo->page, &byo->tk);
	_exit(r == 0 ? 0 : 1);
}

/* The child's exit status; -1 where this system lets nobody trace. */
static int update_stepped(void)
{
	int status = 0;
	pid_t pid = fork();

	if (pid == 0)
		child();
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	if (WIFEXITED(status))
		return -1;
	for (steps = 0; steps < STEPS_MAX; steps++) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) != 0)
			break;
		if (waitpid(pid, &status, 0) != pid || WIFEXITED(status) || WIFSIGNALED(status))
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
		look();
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return steps == 0 ? -1 : 129;
}

/* The two take turns 20000 times: on one CPU neither waits for the other CPU to wake up. */
static void stay_on_one_cpu(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(sched_getcpu(), &set);
	sched_setaffinity(0, sizeof(set), &set);
}

int main(void)
{
	unsigned i, all = 0;
	int r = 0;

	byo = mmap(NULL, sizeof(*byo), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (byo == MAP_FAILED)
		return 1;
	stay_on_one_cpu();
	byo_init(byo, 2600000000, 1000000, 50, 0, 1700000000);
	byo_run(byo, 12);
	for (i = 0; i < 1 && r == 0; i++) {
		byo->tk.mult += 700000;
		aim();
		byo_restate(byo);
		seen = byo->page;
		r = update_stepped();
		all += steps;
		byo_next(byo);
	}
	if (r < 0) {
		tap_skip("the writer an instruction at a time", "the emulator has no ptrace");
		return tap_done();
	}
	tap_diag("%u instructions, %u of them changed the page", all, changes);
	tap_ok(r == 0 && byo->page.generation == 13, "an update, an instruction at a time");
	tap_ok(changes >= 50, "the page changed with many of them");
	tap_ok(wrong == 0, "and readers read the same after each");
	return tap_done();
}
