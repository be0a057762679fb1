/* SPDX-License-Identifier: MIT */
/*
 * A read costs the same when a thousand processes have the page mapped: a mapping is an entry in
 * the page tables of who has it, and a store of the writer goes to memory that all of them share.
 *
 * Compared is the CPU time of a read, with them asleep and without them, in turn; the least of many
 * rounds, so that what else the machine does is not in it. The bound of 15 % is above what two such
 * figures differ by when nothing is different, some 5 % on a busy machine. The twin reads once
 * more for each fifth read.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support_daemon.h"
#include "support_lib.h"
#include "tap.h"
#include "vclock/read.h"

#define PROCESSES 1000
#define TURNS 3
#define ROUNDS 40
#define READS 20000
#define ALLOWED_PERMILLE 1150

static pid_t pids[PROCESSES];

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* What READS reads take at the least. twice: each how many one more; 0: none. */
static uint64_t least_ns(int twice)
{
	uint64_t least = UINT64_MAX, begin, took, ns;
	int i, n;

	for (n = 0; n < ROUNDS; n++) {
		begin = cpu_ns();
		for (i = 0; i < READS; i++) {
			(void)vclock_read_ns(vclock_page(), VCLOCK_MONOTONIC, &ns);
			if (twice != 0 && i % twice == 0)
				(void)vclock_read_ns(vclock_page(), VCLOCK_MONOTONIC, &ns);
		}
		took = cpu_ns() - begin;
		least = took < least ? took : least;
	}
	return least;
}

static void keep_mapped(int ready)
{
	uint64_t ns;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	(void)vclock_read_ns(vclock_page(), VCLOCK_MONOTONIC, &ns); /* now it is mapped */
	if (write(ready, "r", 1) == 1)
		for (;;)
			pause();
	_exit(1);
}

/* How many are there, and have read the page. */
static int begin_processes(int count)
{
	int fd[2], ready = 0, i;
	char byte;

	if (pipe(fd) != 0)
		return 0;
	for (i = 0; i < count; i++) {
		pids[i] = fork();
		if (pids[i] == 0)
			keep_mapped(fd[1]);
	}
	close(fd[1]);
	for (i = 0; i < count && read(fd[0], &byte, 1) == 1; i++)
		ready++;
	close(fd[0]);
	return ready;
}

static void end_processes(int count)
{
	int i;

	for (i = 0; i < count; i++)
		if (pids[i] > 0)
			kill(pids[i], SIGKILL);
	for (i = 0; i < count; i++)
		if (pids[i] > 0)
			waitpid(pids[i], NULL, 0);
}

static void least_of(uint64_t *least, uint64_t value)
{
	*least = value < *least ? value : *least;
}

static void compare(int count)
{
	uint64_t alone = UINT64_MAX, together = UINT64_MAX, twin = UINT64_MAX;
	int ready = count, turn;

	for (turn = 0; turn < TURNS && ready == count; turn++) {
		least_of(&alone, least_ns(0));
		ready = begin_processes(count);
		least_of(&together, least_ns(0));
		least_of(&twin, least_ns(5));
		end_processes(count);
	}
	if (!tap_ok(ready == count, "%d processes have the page mapped", count))
		return;
	tap_diag("%llu ps a read alone, %llu with them, %llu the twin",
		 (unsigned long long)(alone * 1000 / READS),
		 (unsigned long long)(together * 1000 / READS),
		 (unsigned long long)(twin * 1000 / READS));
	tap_ok(together * 1000 <= alone * ALLOWED_PERMILLE, "a read costs the same with them");
	tap_ok(twin * 1000 > alone * ALLOWED_PERMILLE, "... and a fifth more is noticed");
}

int main(int argc, char **argv)
{
	struct support_daemon daemon;

	(void)argc;
	if (support_is_emulated()) {
		tap_skip("a daemon", "the emulator does not run other programs");
		return tap_done();
	}
	if (tap_ok(support_daemon_begin(&daemon, argv[0]) && support_daemon_start(&daemon, NULL) &&
			   support_daemon_wait(&daemon, 20000),
		   "a daemon keeps a page"))
		compare(tap_is_long() ? PROCESSES : 100);
	support_daemon_end(&daemon);
	return tap_done();
}
