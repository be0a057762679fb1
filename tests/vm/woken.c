/* SPDX-License-Identifier: MIT */
/*
 * woken.c - how soon REALTIME of vclockd's page follows a clock that is set: the kernel wakes the
 * daemon for it, so that it need not wait for its next step. Sets the clock, and runs in a virtual
 * machine only.
 *
 * Steps of the page are 20 ms apart. Who is not woken follows after 5 ms and more three times of
 * four, as the twin does, a publisher thread; what is compared is that quarter of the figures, half
 * of the twin's at the most, since a host that holds the machine up is in the others. One that does
 * so all the time gets another try: where nobody wakes the daemon, no number of tries passes.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tap.h"
#include "vclock.h"
#include "vclock/read.h"

#define PAGE "/woken/page"
#define INTERVAL_MS 20
#define STEPS 30
#define TRIES 4
#define FOLLOW_NS 1000000000

static int64_t kernel_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int is_followed(void)
{
	int64_t kernel = kernel_ns(CLOCK_REALTIME), off;
	uint64_t ns;

	if (vclock_read_ns(vclock_page(), VCLOCK_REALTIME, &ns) != 0)
		return 0;
	off = (int64_t)ns - kernel;
	return off > -100000000 && off < 100000000;
}

/* The time from a step of a second to the first right answer; FOLLOW_NS: none. */
static int64_t step(int64_t by_sec)
{
	struct timespec ts;
	int64_t begin;

	clock_gettime(CLOCK_REALTIME, &ts);
	ts.tv_sec += by_sec;
	clock_settime(CLOCK_REALTIME, &ts);
	begin = kernel_ns(CLOCK_MONOTONIC);
	while (!is_followed())
		if (kernel_ns(CLOCK_MONOTONIC) - begin > FOLLOW_NS)
			return FOLLOW_NS;
	return kernel_ns(CLOCK_MONOTONIC) - begin;
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int64_t quarter_ns(const char *who)
{
	static int64_t took[STEPS];
	int i;

	for (i = 0; i < STEPS; i++) {
		usleep((useconds_t)(50000 + rand() % 20000));
		took[i] = step(i % 2 == 0 ? 1 : -1);
	}
	qsort(took, STEPS, sizeof(took[0]), compare);
	tap_diag("%s: followed after %lld, %lld, %lld us (quarters of %d), %lld us at the most",
		 who, (long long)took[STEPS / 4] / 1000, (long long)took[STEPS / 2] / 1000,
		 (long long)took[STEPS - STEPS / 4] / 1000, STEPS,
		 (long long)took[STEPS - 1] / 1000);
	return took[STEPS / 4];
}

static int waits_for_page(void)
{
	int i;

	for (i = 0; i < 5000 && !is_followed(); i++) {
		(void)vclock_open(PAGE);
		usleep(1000);
	}
	return is_followed();
}

static pid_t start_daemon(void)
{
	pid_t pid;

	mkdir("/woken", 0755);
	pid = fork();
	if (pid == 0) {
		execlp("vclockd", "vclockd", "--foreground", "--page", PAGE, "--interval", "20",
		       (char *)NULL);
		_exit(127);
	}
	return pid;
}

static int64_t woken(void)
{
	int64_t ns = FOLLOW_NS;
	pid_t pid = start_daemon();

	if (waits_for_page())
		ns = quarter_ns("vclockd");
	else
		tap_ok(0, "vclockd keeps a page");
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
	return ns;
}

/* Its page takes the place of the daemon's, which has ended. */
static int64_t not_woken(void)
{
	struct vclock_publisher_options options = {
		.size = sizeof(options), .interval_ns = INTERVAL_MS * 1000000, .wait_ms = 5000};
	int64_t ns = 0;
	int r = vclock_publisher_start(&options);

	if (r == 0)
		ns = quarter_ns("a publisher thread");
	else
		tap_ok(0, "a publisher thread (%d)", r);
	vclock_publisher_stop();
	return ns;
}

int main(void)
{
	int64_t woken_ns, other_ns;
	int i, is_woken = 0;

	for (i = 0; i < TRIES && !is_woken; i++) {
		woken_ns = woken();
		other_ns = not_woken();
		is_woken = woken_ns * 2 <= other_ns;
	}
	tap_ok(is_woken, "a clock that is set wakes vclockd (try %d)", i);
	return tap_done();
}
