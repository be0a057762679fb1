/* SPDX-License-Identifier: MIT */
/*
 * Threads that read, fork and read again in the child, while the publisher is stopped and started
 * and the page's file is opened over and over: no value goes back in a thread, every child's first
 * read is right, and nothing hangs.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"

#define THREADS 3

static volatile int stop;
static int wrong[THREADS], forks[THREADS];

/* Within this of the kernel: a page on a busy machine may be some way off, and no more. */
#define BUSY_NS 1000000

static int child(void)
{
	return support_outside(1, 20, BUSY_NS, vclock_gettime64, NULL) != 0 ||
	       vclock_getpid() != getpid();
}

static void *reader(void *arg)
{
	int self = (int)(intptr_t)arg, i;
	uint64_t last = 0, now;
	pid_t pid;

	while (!stop) {
		for (i = 0; i < 2000; i++) {
			now = vclock_monotonic_ns();
			/* From the page to the kernel and back, on purpose and all the time. */
			wrong[self] += now + BUSY_NS < last;
			last = now;
		}
		if (self == 0)
			continue;
		pid = fork();
		if (pid == 0)
			_exit(child());
		forks[self]++;
		wrong[self] += support_wait(pid) != 0;
	}
	return NULL;
}

int main(void)
{
	const char *path = support_path("page");
	pthread_t thread[THREADS];
	uint64_t end = oracle_now_ns() + (tap_is_long() ? 30u : 2u) * UINT64_C(1000000000);
	int rounds = 0, bad = 0, i;

	if (support_is_emulated()) {
		tap_skip("threads and forks", "the emulator cannot fork a program with threads");
		return tap_done();
	}
	for (i = 0; i < THREADS; i++)
		pthread_create(&thread[i], NULL, reader, (void *)(intptr_t)i);
	for (rounds = 0; oracle_now_ns() < end; rounds++) {
		int r = support_publish(path);

		bad += r != 0 && r != -ETIME; /* a busy machine */
		for (i = 0; i < 20; i++)
			(void)vclock_open(path);
		vclock_publisher_stop();
		/* A machine page that was opened stays, without its writer. */
	}
	stop = 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	tap_ok(rounds > 0 && bad == 0, "%d rounds of start, open and stop", rounds);
	for (i = 0; i < THREADS; i++)
		tap_ok(wrong[i] == 0, "thread %d: %d wrong, %d forks", i, wrong[i], forks[i]);
	return tap_done();
}
