/* SPDX-License-Identifier: MIT */
/*
 * suite_fork.c - in a new process the clocks are right, and so is getpid: after fork, after a raw
 * clone that no C library sees, and in a child's child.
 *
 * A child only reads clocks, writes to memory that it shares with its parent, and exits. One that
 * hangs is killed and counts as a failure.
 */
#include "check/oracle.h"
#include "check/steady.h"
#include "check/suites.h"
#include "check/tally.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define READS 1000
#define CHILD_LIMIT_NS 10000000000u

enum birth { BIRTH_FORK, BIRTH_CLONE, BIRTH_GRANDCHILD, BIRTHS };
static const char *const birth_names[] = {"fork", "raw clone", "fork of a fork"};

/* Lies in shared memory. */
struct nursery {
	struct tally tally;
	uint32_t has_finished;
	int32_t pid_expected, pid_seen;
};

static void judge_read(struct tally *tally, const struct check_subject *subject, int32_t clk,
		       int64_t k1, int64_t v, int64_t k2)
{
	tally->clk = clk;
	if (VCLOCK_UNLIKELY(v < k1) && tally_clock_stands_still(subject, clk, k1, v))
		tally_excused(tally);
	else
		tally_bracket(tally, k1, v, k2);
}

static void child_clock(struct nursery *nursery, const struct check_subject *subject,
			oracle_gettime kernel, int32_t clk)
{
	struct vclock_timespec k1, v, k2;
	int i, r;

	for (i = 0; i < READS; i++) {
		tally_look_at_error(&nursery->tally, tally_stated_error_ns(subject));
		if (kernel(clk, &k1) != 0)
			return;
		r = subject->gettime(subject, clk, &v);
		if (kernel(clk, &k2) != 0)
			return;
		if (r == 0)
			judge_read(&nursery->tally, subject, clk, oracle_ns(&k1), oracle_ns(&v),
				   oracle_ns(&k2));
		else
			tally_no_value(&nursery->tally, r);
	}
}

static void child(struct nursery *nursery, const struct check_run *run,
		  const struct check_subject *subject)
{
	uint64_t fallbacks = suite_fallbacks(subject);
	uint32_t clk;

	if (subject->after_fork != NULL)
		subject->after_fork(subject);
	nursery->pid_expected = oracle_syscall_getpid();
	nursery->pid_seen = subject->getpid != NULL ? subject->getpid(subject)
						    : nursery->pid_expected;
	for (clk = 0; clk < VCLOCK_BASES; clk++)
		if (suite_wants(run, subject, clk))
			child_clock(nursery, subject, oracle_for(run, subject), (int32_t)clk);
	nursery->tally.fallbacks = suite_fallbacks(subject) - fallbacks;
	__atomic_store_n(&nursery->has_finished, 1, __ATOMIC_RELEASE);
	_exit(0);
}

static pid_t give_birth(enum birth birth)
{
	pid_t pid = birth == BIRTH_CLONE ? (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) : fork();

	if (pid == 0 && birth == BIRTH_GRANDCHILD) {
		pid = fork();
		if (pid != 0) {
			if (pid > 0)
				waitpid(pid, NULL, 0);
			_exit(0);
		}
	}
	return pid;
}

static void wait_for_child(pid_t pid)
{
	uint64_t end = oracle_now_ns() + CHILD_LIMIT_NS;

	while (waitpid(pid, NULL, WNOHANG) == 0) {
		if (oracle_now_ns() > end) {
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			return;
		}
		usleep(1000);
	}
}

static void judge(const struct nursery *nursery, struct check_result *result)
{
	if (!nursery->has_finished) {
		result->verdict = CHECK_FAIL;
		snprintf(result->note, sizeof(result->note), "the child died or did not end");
	} else if (nursery->pid_seen != nursery->pid_expected) {
		result->verdict = CHECK_FAIL;
		result->outside++;
		snprintf(result->note, sizeof(result->note), "getpid said %ld in process %ld",
			 (long)nursery->pid_seen, (long)nursery->pid_expected);
	}
}

static void run_birth(struct check_run *run, const struct check_subject *subject, enum birth birth,
		      struct nursery *nursery)
{
	struct check_result result;
	uint64_t begin = oracle_now_ns();
	pid_t pid;

	memset(nursery, 0, sizeof(*nursery));
	tally_init(&nursery->tally, subject);
	check_steady_look(&run->steady);
	tally_block_begin(&nursery->tally);
	/* So that what the library remembers is the parent's. */
	if (subject->getpid != NULL)
		subject->getpid(subject);
	pid = give_birth(birth);
	if (pid == 0)
		child(nursery, run, subject);
	if (pid < 0) {
		tally_impossible(run, "fork", subject, "no process could be made");
		return;
	}
	wait_for_child(pid);
	check_steady_look(&run->steady);
	tally_block_end(&nursery->tally, subject->page == NULL || steady_rate(&run->steady, begin),
			!steady_wall(&run->steady, begin));
	tally_result(&nursery->tally, &result);
	judge(nursery, &result);
	tally_report(run, "fork", subject, birth_names[birth], &result);
}

void suite_fork(struct check_run *run, const struct check_subject *subject)
{
	struct nursery *nursery = mmap(NULL, sizeof(*nursery), PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	enum birth birth;

	if (nursery == MAP_FAILED) {
		tally_impossible(run, "fork", subject, "no memory");
		return;
	}
	for (birth = 0; birth < BIRTHS; birth++)
		run_birth(run, subject, birth, nursery);
	munmap(nursery, sizeof(*nursery));
}
