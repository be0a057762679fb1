/* SPDX-License-Identifier: MIT */
/*
 * What a vclockd costs: memory, and CPU time beside a loop that only wakes up as often, which runs
 * at the same moments: on a virtual machine the wake-up alone takes some 30 us, nearly all there
 * is. The twin is the same loop that reads the counter for 40 us each time.
 *
 * CPU time is the scheduler's own (schedstat), in windows; compared are medians, so that what else
 * the machine does in one of them does not count. The gate is of the long run: a short one has too
 * few windows.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support_daemon.h"
#include "support_lib.h"
#include "tap.h"

#define INTERVAL_NS 10000000
#define WINDOW_MS 2000
#define WINDOWS_MAX 40
/* 0.3 % of a CPU. */
#define ALLOWED_PPM 3000
#define RSS_KIB 8192
#define TWIN_NS 40000

enum { DAEMON, LOOP, TWIN, RUNNERS };

static struct runner {
	const char *name;
	pid_t pid;
	struct support_cpu cpu;
	uint64_t ppm[WINDOWS_MAX]; /* of a CPU, by window */
	uint64_t run_ns, wakes;
} runner[RUNNERS] = {{.name = "vclockd"}, {.name = "a bare loop"}, {.name = "its twin"}};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* At fixed moments, as vclockd: one that is late does not make the next one late. */
static pid_t start_loop(uint64_t work_ns)
{
	pid_t pid = fork();
	uint64_t begin, next = now_ns();

	if (pid != 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	for (;; next += INTERVAL_NS) {
		struct timespec ts = {.tv_sec = (time_t)(next / 1000000000u),
				      .tv_nsec = (long)(next % 1000000000u)};

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		begin = work_ns != 0 ? cpu_ns() : 0;
		while (work_ns != 0 && cpu_ns() - begin < work_ns)
			;
	}
}

static bool look(int window)
{
	static uint64_t last_ns;
	uint64_t now = now_ns();
	int i;

	for (i = 0; i < RUNNERS; i++) {
		struct support_cpu cpu;

		if (!support_cpu(runner[i].pid, &cpu))
			return false;
		if (window >= 0) {
			runner[i].ppm[window] =
				(cpu.run_ns - runner[i].cpu.run_ns) * 1000000 / (now - last_ns);
			runner[i].run_ns += cpu.run_ns - runner[i].cpu.run_ns;
			runner[i].wakes += cpu.wakes - runner[i].cpu.wakes;
		}
		runner[i].cpu = cpu;
	}
	last_ns = now;
	return true;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static int64_t median_ppm(struct runner *who, int windows)
{
	qsort(who->ppm, (size_t)windows, sizeof(who->ppm[0]), compare);
	tap_diag("%s: %llu ppm of a CPU (median of %d windows of %d ms), %llu ns a wake-up (mean)",
		 who->name, (unsigned long long)who->ppm[windows / 2], windows, WINDOW_MS,
		 (unsigned long long)(who->wakes != 0 ? who->run_ns / who->wakes : 0));
	return (int64_t)who->ppm[windows / 2];
}

static void measure(void)
{
	int windows = tap_is_long() ? WINDOWS_MAX : 2, i;
	int64_t ppm[RUNNERS];
	bool is_measured = look(-1);

	for (i = 0; i < windows && is_measured; i++) {
		usleep(WINDOW_MS * 1000);
		is_measured = look(i);
	}
	if (!tap_ok(is_measured, "the scheduler tells each one's CPU time"))
		return;
	for (i = 0; i < RUNNERS; i++)
		ppm[i] = median_ppm(&runner[i], windows);
	/* A step more or less at either end. */
	tap_ok(runner[DAEMON].wakes * 10 >= runner[LOOP].wakes * 8, "vclockd wakes as often");
	if (!tap_is_long())
		return;
	tap_ok(ppm[DAEMON] - ppm[LOOP] <= ALLOWED_PPM,
	       "vclockd takes %lld ppm of a CPU more than the loop, %d at the most",
	       (long long)(ppm[DAEMON] - ppm[LOOP]), ALLOWED_PPM);
	tap_ok(ppm[TWIN] - ppm[LOOP] > ALLOWED_PPM, "... 40 us more in each wake-up are noticed");
}

int main(int argc, char **argv)
{
	const char *const options[] = {"--trust-counter", "--priority=0", NULL};
	struct support_daemon daemon;
	long rss_kib;
	int i;

	(void)argc;
	if (support_is_emulated()) {
		tap_skip("a daemon", "the emulator does not run other programs");
		return tap_done();
	}
	if (!tap_ok(support_daemon_begin(&daemon, argv[0]) &&
			    support_daemon_start(&daemon, options) &&
			    support_daemon_wait(&daemon, 20000),
		    "a daemon keeps a page"))
		return tap_done();
	runner[DAEMON].pid = daemon.pid;
	runner[LOOP].pid = start_loop(0);
	runner[TWIN].pid = start_loop(TWIN_NS);
	measure();
	rss_kib = support_rss_kib(daemon.pid);
	if (support_is_sanitized())
		tap_diag("%ld KiB, most of them the sanitizer's", rss_kib);
	else
		tap_ok(rss_kib > 0 && rss_kib <= RSS_KIB, "%ld KiB of memory, %d at the most",
		       rss_kib, RSS_KIB);
	for (i = LOOP; i <= TWIN; i++) {
		kill(runner[i].pid, SIGKILL);
		waitpid(runner[i].pid, NULL, 0);
	}
	support_daemon_end(&daemon);
	return tap_done();
}
