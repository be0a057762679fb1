/* SPDX-License-Identifier: MIT */
/*
 * scenario.c - what happens to a machine's clocks, and how the page follows:
 *     scenario [--exact] [--killed] NAME
 *
 * Runs this process's own publisher, watches the page from every CPU (observe.h) while the events
 * of one scenario happen, and prints TAP and one line of figures:
 *     # figures scenario=NAME reads=.. page=..% outside=.. worst_ns=.. changing_ns=.. error_ns=..
 *       follow_us=.. back=..
 * worst_ns: farthest read outside its bracket while the rate was steady; changing_ns: while it
 * changed, to be held against error_ns, what the page stated at worst; follow_us: from the end of
 * an event to the last read that was more than 1 us off.
 *
 * Only for machines that exist for the test. --exact: the machine is never held up by its host, so
 * that the page must answer whenever it can. --killed: the page is a vclockd's, which is killed and
 * started again in the middle of each event; then nobody is asked how soon the page follows.
 */
#include "control.h"
#include "observe.h"

#include "tap.h"
#include "vclock.h"
#include "vclock/read.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

/* How long a clock stands still at its last line's end, beside the stated error: 1000 ppm of two
 * lines and the time that they are published ahead. */
#define EXCUSED_NS_MAX 40000
/* 2^31 s is 2038-01-19 03:14:08. */
#define SEC_2038 ((int64_t)1 << 31)
#define SEC_YEAR (365 * 86400)
/* A midnight. */
#define SEC_MIDNIGHT ((int64_t)1893456000)
/* The kernel makes a leap second in its next tick: up to 4 ms later, and more on a busy machine. */
#define LEAP_AHEAD_MS 5
#define MSEC 1000000
/* Until a publisher's window of samples is full. */
#define WINDOW_MS 1500
#define NSEC_PER_SEC INT64_C(1000000000)

/* In two minutes an NTP daemon that asks its server every second changes the rate far more often.
 */
#define NTP_CHANGES 5

/* Reads from the page where the host holds the machine up, and so its publisher, as it likes. */
#define PAGE_PERCENT_HELD_UP 50

static bool is_exact, is_killed;
static pid_t ntp_pid;

struct event {
	const char *what;
	int (*act)(int64_t arg);
	int64_t arg;
	uint32_t changing; /* OBSERVE_ bits from the event until it has settled */
	int settle_ms;
	int steady_ms; /* watched afterwards, all judged */
};

struct scenario {
	const char *name;
	struct event events[8];
	int page_percent; /* reads that must come from the page, with --exact */
	int follow_ms;	  /* longest time to follow, with --exact; 0: any */
};

static void sleep_ms(int ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * (long)MSEC};

	nanosleep(&ts, NULL);
}

static int nothing(int64_t arg)
{
	(void)arg;
	return 0;
}

static int step(int64_t ns)
{
	return control_step(ns);
}

static int frequency(int64_t ppm)
{
	return control_frequency((long)ppm);
}

static int tick(int64_t us)
{
	return control_tick((long)us);
}

static int tai(int64_t offset_sec)
{
	return control_tai((int)offset_sec);
}

/* Random rates within +-500 ppm for arg ms, as fast as the system call goes. */
static int storm_rates(int64_t ms)
{
	int64_t end_ns = observe_kernel_ns(CLOCK_MONOTONIC) + ms * MSEC;
	uint32_t random = 1;
	long count = 0;
	int r = 0;

	while (r == 0 && observe_kernel_ns(CLOCK_MONOTONIC) < end_ns) {
		random = random * 1664525u + 1013904223u;
		r = control_frequency((long)(random >> 16) % 1001 - 500);
		count++;
	}
	tap_diag("%ld changes of rate", count);
	return r != 0 ? r : control_frequency(0);
}

/* Each step takes a fraction of a ns off MONOTONIC, so this is a change of its rate too. */
static int storm_steps(int64_t ms)
{
	int64_t end_ns = observe_kernel_ns(CLOCK_MONOTONIC) + ms * MSEC;
	long count = 0;
	int r = 0;

	while (r == 0 && observe_kernel_ns(CLOCK_MONOTONIC) < end_ns) {
		r = control_step(count % 2 ? -NSEC_PER_SEC : NSEC_PER_SEC);
		count++;
	}
	tap_diag("%ld steps", count);
	return r;
}

/* sign +1: a leap second comes in at midnight; -1: one is left out. The kernel wants to be armed
 * more than a second before; a daemon that is killed and started meanwhile takes two more. */
static int leap(int64_t sign)
{
	int r = control_tai(37);

	if (r == 0)
		r = control_set(SEC_MIDNIGHT - (sign > 0 ? 2 : 4) - (is_killed ? 3 : 0));
	return r != 0 ? r : control_leap((int)sign);
}

/* Returns LEAP_AHEAD_MS before the leap second. */
static int wait_for_leap(int64_t sign)
{
	int64_t end_ns = (SEC_MIDNIGHT - (sign < 0)) * NSEC_PER_SEC - LEAP_AHEAD_MS * MSEC;
	int64_t ns;

	while ((ns = end_ns - observe_kernel_ns(CLOCK_REALTIME)) > 0)
		sleep_ms((int)(ns / MSEC) + 1);
	return 0;
}

/* Disarms; -ERANGE where TAI - REALTIME is not what the leap second must have made of it. */
static int leapt(int64_t offset_sec)
{
	int64_t before_ns = observe_kernel_ns(CLOCK_REALTIME);
	int64_t ns = observe_kernel_ns(CLOCK_TAI) - before_ns;
	int r = control_leap(0);

	return ns / NSEC_PER_SEC != offset_sec ? -ERANGE : r;
}

static int cpu1(int64_t online)
{
	return control_cpu(1, (int)online);
}

static int clocksource(int64_t index)
{
	static const char *const names[] = {"tsc", "hpet", "acpi_pm"};

	return control_clocksource(names[index]);
}

/* This machine's clock runs wrong by 100 ppm, and an NTP daemon steers it from now on. NTP_CONFIG:
 * its configuration. */
static int discipline(int64_t sec)
{
	const char *config = getenv("NTP_CONFIG");
	int r = config == NULL ? -EINVAL : control_frequency(100);

	if (r != 0)
		return r;
	ntp_pid = fork();
	if (ntp_pid == 0) {
		execlp("chronyd", "chronyd", "-n", "-u", "root", "-f", config, (char *)NULL);
		_exit(127);
	}
	if (ntp_pid < 0)
		return -errno;
	sleep_ms((int)sec * 1000);
	return 0;
}

/* -ERANGE where the daemon did not change the clock's rate a few times. */
static int go_on(int64_t sec)
{
	long rate = 0, rate_before = 0;
	int changes = -1, i;

	for (i = 0; i < sec * 10; i++) {
		if (control_frequency_now(&rate) != 0 || waitpid(ntp_pid, NULL, WNOHANG) != 0)
			return -ESRCH;
		changes += i == 0 || rate != rate_before;
		rate_before = rate;
		sleep_ms(100);
	}
	tap_diag("%d changes of rate, the last to %.3f ppm", changes, (double)rate / 65536);
	return changes >= NTP_CHANGES ? 0 : -ERANGE;
}

static int leave(int64_t arg)
{
	(void)arg;
	kill(ntp_pid, SIGKILL);
	waitpid(ntp_pid, NULL, 0);
	return 0;
}

static int suspend(int64_t sec)
{
	return control_suspend((int)sec);
}

/* clang-format off */
/* Two intervals to follow a step. A change of rate shows in the next sample, its size in the one
 * after that; the line that knows it starts an interval later, and is right at its end: four.
 * The last two are of the counter's time: a tick of 11 ms makes 22 ms of them, in place of 20. */
static const struct scenario scenarios[] = {
	{"steady", {{"nothing", nothing, 0, 0, 0, 4000}}, 95, 0},
	{"step-second", {
		{"+1 s", step, NSEC_PER_SEC, OBSERVE_WALL, 100, 400},
		{"-1 s", step, -NSEC_PER_SEC, OBSERVE_WALL, 100, 400},
		{"+1 s", step, NSEC_PER_SEC, OBSERVE_WALL, 100, 400},
		{"-1 s", step, -NSEC_PER_SEC, OBSERVE_WALL, 100, 400}}, 95, 20},
	{"step-year", {
		{"+1 year", step, SEC_YEAR * NSEC_PER_SEC, OBSERVE_WALL, 100, 400},
		{"-1 year", step, -SEC_YEAR * NSEC_PER_SEC, OBSERVE_WALL, 100, 400}}, 95, 20},
	{"step-2038", {
		{"2 s before 2^31 s", control_set, SEC_2038 - 2, OBSERVE_WALL, 100, 3000},
		{"2100", control_set, INT64_C(4102444800), OBSERVE_WALL, 100, 400},
		{"back", control_set, INT64_C(1800000000), OBSERVE_WALL, 100, 400}}, 95, 20},
	{"set-offset", {
		{"+0.5 s", control_set_offset, NSEC_PER_SEC / 2, OBSERVE_WALL, 100, 400},
		{"-4.75 s", control_set_offset, -NSEC_PER_SEC * 19 / 4, OBSERVE_WALL, 100, 400}}, 95, 20},
	{"slew-100", {
		{"+100 ppm", frequency, 100, OBSERVE_RATE, 1200, 500},
		{"-100 ppm", frequency, -100, OBSERVE_RATE, 1200, 500},
		{"0 ppm", frequency, 0, OBSERVE_RATE, 1200, 500}}, 95, 40},
	{"slew-500", {
		{"+500 ppm", frequency, 500, OBSERVE_RATE, 1200, 500},
		{"-500 ppm", frequency, -500, OBSERVE_RATE, 1200, 500},
		{"0 ppm", frequency, 0, OBSERVE_RATE, 1200, 500}}, 95, 40},
	{"tick", {
		{"+10 %", tick, 11000, OBSERVE_RATE, 1200, 500},
		{"0", tick, 10000, OBSERVE_RATE, 1200, 500},
		{"-10 %", tick, 9000, OBSERVE_RATE, 1200, 500},
		{"0", tick, 10000, OBSERVE_RATE, 1200, 500}}, 95, 42},
	{"storm-rates", {{"2 s of changes", storm_rates, 2000, OBSERVE_RATE, 1200, 500}}, 90, 0},
	{"storm-steps", {{"1 s of steps", storm_steps, 1000, OBSERVE_WALL | OBSERVE_RATE, 1200, 500}}, 90, 0},
	{"leap-insert", {
		{"armed", leap, 1, OBSERVE_WALL, 200, 500},
		{"a second comes in", wait_for_leap, 1, OBSERVE_WALL, 500, 1000},
		{"it was so", leapt, 38, OBSERVE_WALL, 100, 400}}, 95, 20 + LEAP_AHEAD_MS + 10},
	{"leap-delete", {
		{"armed", leap, -1, OBSERVE_WALL, 200, 500},
		{"a second is left out", wait_for_leap, -1, OBSERVE_WALL, 500, 1000},
		{"it was so", leapt, 36, OBSERVE_WALL, 100, 400}}, 95, 20 + LEAP_AHEAD_MS + 10},
	{"tai", {
		{"37", tai, 37, OBSERVE_WALL, 100, 400},
		{"38", tai, 38, OBSERVE_WALL, 100, 400},
		{"0", tai, 0, OBSERVE_WALL, 100, 400}}, 95, 20},
	{"namespace", {
		{"nothing", nothing, 0, 0, 0, 1000},
		{"+1 s", step, NSEC_PER_SEC, OBSERVE_WALL, 100, 400},
		{"-1 s", step, -NSEC_PER_SEC, OBSERVE_WALL, 100, 400}}, 95, 20},
	{"hotplug", {
		{"cpu1 off", cpu1, 0, 0, 300, 500},
		{"cpu1 on", cpu1, 1, 0, 300, 500}}, 90, 0},
	{"clocksource", {
		{"hpet", clocksource, 1, OBSERVE_RATE | OBSERVE_RAW, 1500, 500},
		{"tsc", clocksource, 0, OBSERVE_RATE | OBSERVE_RAW, 1500, 500},
		{"acpi_pm", clocksource, 2, OBSERVE_RATE | OBSERVE_RAW, 1500, 500},
		{"tsc", clocksource, 0, OBSERVE_RATE | OBSERVE_RAW, 1500, 500}}, 50, 0},
	{"ntp", {
		{"chrony starts", discipline, 10, OBSERVE_RATE | OBSERVE_WALL, 0, 0},
		{"chrony steers", go_on, 120, OBSERVE_RATE, 0, 0},
		{"chrony has gone", leave, 0, OBSERVE_RATE, 1200, 500}}, 95, 0},
	{"suspend", {{"S3 for 3 s", suspend, 3, OBSERVE_ALL, 500, 1000}}, 50, 0},
};
/* clang-format on */
#define SCENARIOS (sizeof(scenarios) / sizeof(scenarios[0]))

/* The vclockd of --killed. */
#define DAEMON_PAGE "/run/vclock/page"
#define DAEMON_WAIT_MS 10000
static pid_t daemon_pid;

static int daemon_start(void)
{
	mkdir("/run/vclock", 0755);
	daemon_pid = fork();
	if (daemon_pid == 0) {
		execlp("vclockd", "vclockd", "--foreground", "--page", DAEMON_PAGE, (char *)NULL);
		_exit(127);
	}
	return daemon_pid < 0 ? -errno : 0;
}

static void daemon_kill(void)
{
	kill(daemon_pid, SIGKILL);
	waitpid(daemon_pid, NULL, 0);
}

/* Until the page is answered by the daemon that runs now; -ETIME. */
static int daemon_wait(void)
{
	uint64_t ns;
	int ms;

	for (ms = 0; ms < DAEMON_WAIT_MS; ms++) {
		if (vclock_page()->writer_pid == (uint32_t)daemon_pid &&
		    vclock_read_ns(vclock_page(), VCLOCK_MONOTONIC, &ns) == 0)
			return 0;
		if (vclock_page()->generation == 0)
			(void)vclock_open(DAEMON_PAGE);
		sleep_ms(1);
	}
	return -ETIME;
}

/* The publisher's worst lateness of the last second, as the page states it. */
static int64_t lateness_ns(void)
{
	struct vclock_status status = {.size = sizeof(status)};

	return vclock_status(&status) == 0 ? (int64_t)status.page_lateness_ns : 0;
}

/* Sleeps; returns the worst lateness meanwhile. */
static int64_t settle(int ms)
{
	int64_t late_ns, worst_ns = 0;
	int slept_ms;

	for (slept_ms = 0; slept_ms < ms; slept_ms += 100) {
		sleep_ms(ms - slept_ms < 100 ? ms - slept_ms : 100);
		late_ns = lateness_ns();
		if (late_ns > worst_ns)
			worst_ns = late_ns;
	}
	return worst_ns;
}

/* A thread: it happens while the event does, or soon after. Returns 0 or -errno. */
static void *kill_and_restart(void *arg)
{
	const struct event *event = arg;
	int r;

	sleep_ms(event->settle_ms / 2);
	daemon_kill();
	r = daemon_start();
	if (r == 0)
		r = daemon_wait();
	return (void *)(intptr_t)r;
}

/* A new writer knows nothing of the old one's samples, and states what its own few are worth. */
static int act_and_kill(const struct event *event)
{
	pthread_t killer;
	void *result;
	int r;

	observe_judge(event->changing | OBSERVE_RATE | OBSERVE_RAW);
	r = -pthread_create(&killer, NULL, kill_and_restart, (void *)(uintptr_t)event);
	if (r != 0)
		return r;
	r = event->act(event->arg);
	pthread_join(killer, &result);
	tap_ok(result == NULL, "%s: killed, and the next one is on the page (%d)", event->what,
	       (int)(intptr_t)result);
	sleep_ms(WINDOW_MS);
	return r;
}

/*
 * What never is steady in real time where another clocksource than the TSC keeps the kernel's time:
 * QEMU has one TSC for all CPUs, and puts it forward a little each time that a CPU reads it just
 * behind another one, so that it never goes back. That is a counter which gains on all other
 * clocks, by up to 10 ppm for a while, as the CPUs happen to read it; the page states what it sees
 * of that.
 */
static uint32_t never_steady(const struct event *event)
{
	return !is_exact && event->act == clocksource && event->arg != 0
		       ? OBSERVE_RATE | OBSERVE_RAW
		       : 0;
}

/* Returns how long the page needed to follow. */
static int64_t happen(const struct scenario *scenario, const struct event *event)
{
	int64_t at_ns, far_ns, follow_ns, late_ns;
	uint64_t outside;
	int r;

	observe_judge(event->changing);
	r = is_killed ? act_and_kill(event) : event->act(event->arg);
	at_ns = observe_kernel_ns(CLOCK_MONOTONIC);
	tap_ok(r == 0, "%s: %s (%d)", scenario->name, event->what, r);
	late_ns = settle(event->settle_ms);
	far_ns = observe_far_ns((event->changing & OBSERVE_WALL) != 0);
	observe_judge(never_steady(event));
	outside = observe_outside();
	sleep_ms(event->steady_ms);
	outside = observe_outside() - outside;
	follow_ns = far_ns > at_ns ? far_ns - at_ns : 0;
	tap_diag("%s: followed after %.3f ms, publisher late by %.3f ms, then %llu reads outside",
		 event->what, (double)follow_ns / MSEC, (double)late_ns / MSEC,
		 (unsigned long long)outside);
	/* A time that a busy host has no part in. */
	if (scenario->follow_ms != 0 && is_exact && !is_killed)
		tap_ok(follow_ns <= scenario->follow_ms * (int64_t)MSEC + late_ns,
		       "%s: followed within %d ms and the publisher's lateness", event->what,
		       scenario->follow_ms);
	return follow_ns;
}

static void judge(const struct scenario *scenario, const struct observe_figures *figures,
		  int64_t follow_ns)
{
	double percent = figures->reads == 0
				 ? 0
				 : 100.0 * (double)figures->page_reads / (double)figures->reads;
	int wanted;

	tap_diag("figures scenario=%s%s reads=%llu page=%.2f%% outside=%llu worst_ns=%lld "
		 "changing_ns=%lld error_ns=%u follow_us=%lld back=%llu",
		 is_killed ? "killed-" : "", scenario->name, (unsigned long long)figures->reads,
		 percent, (unsigned long long)figures->outside, (long long)figures->worst_steady_ns,
		 (long long)figures->worst_changing_ns, figures->error_ns,
		 (long long)follow_ns / 1000, (unsigned long long)figures->back);
	if (figures->excused != 0)
		tap_diag("%llu reads excused, worst %lld ns", (unsigned long long)figures->excused,
			 (long long)figures->worst_excused_ns);
	wanted = is_exact && !is_killed ? scenario->page_percent : PAGE_PERCENT_HELD_UP;
	tap_ok(percent >= wanted, "%s: %.2f %% from the page, %d wanted", scenario->name, percent,
	       wanted);
	tap_ok(figures->outside == 0, "%s: no read outside its bracket while the rate is steady",
	       scenario->name);
	tap_ok(llabs(figures->worst_excused_ns) <= EXCUSED_NS_MAX + (int64_t)figures->error_ns,
	       "%s: at a late writer's gap no farther than %d ns and the stated error",
	       scenario->name, EXCUSED_NS_MAX);
	tap_ok(llabs(figures->worst_changing_ns) <= figures->error_ns,
	       "%s: within the stated error while the rate changes", scenario->name);
	tap_ok(figures->back == 0, "%s: MONOTONIC does not go back (%llu times, worst %lld ns)",
	       scenario->name, (unsigned long long)figures->back,
	       (long long)figures->worst_back_ns);
}

static void run(const struct scenario *scenario)
{
	struct observe_figures figures;
	int64_t follow_ns, worst_ns = 0;
	const struct event *event;
	int r = observe_begin(vclock_page());

	if (!tap_ok(r == 0, "%s: readers (%d)", scenario->name, r))
		return;
	sleep_ms(200);
	for (event = scenario->events; event->what != NULL; event++) {
		follow_ns = happen(scenario, event);
		if (follow_ns > worst_ns)
			worst_ns = follow_ns;
	}
	observe_end(&figures);
	judge(scenario, &figures, worst_ns);
}

static const struct scenario *find(const char *name)
{
	size_t i;

	for (i = 0; i < SCENARIOS; i++)
		if (strcmp(scenarios[i].name, name) == 0)
			return &scenarios[i];
	return NULL;
}

/*
 * The rest of this process's life is in a child in a time namespace, MONOTONIC and BOOTTIME far
 * apart from the machine's. Threads can only be had in a child that was born there.
 */
static int enter_namespace(void)
{
	int r = unshare(CLONE_NEWTIME) != 0 ? -errno : 0, status;
	pid_t pid;

	if (r == 0)
		r = control_write("/proc/self/timens_offsets", "monotonic 1000000 123456789");
	if (r == 0)
		r = control_write("/proc/self/timens_offsets", "boottime 5000000 987654321");
	if (r != 0)
		return r;
	pid = fork();
	if (pid <= 0)
		return pid;
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		_exit(128);
	_exit(WEXITSTATUS(status));
}

static int begin(const struct scenario *scenario)
{
	struct vclock_publisher_options options = {.size = sizeof(options), .wait_ms = 3000};
	int r = 0;

	if (strcmp(scenario->name, "namespace") == 0)
		r = enter_namespace();
	if (r == 0)
		r = is_killed ? daemon_start() : vclock_publisher_start(&options);
	return r == 0 && is_killed ? daemon_wait() : r;
}

static void end(void)
{
	if (is_killed)
		daemon_kill();
	else
		vclock_publisher_stop();
}

int main(int argc, char **argv)
{
	const struct scenario *scenario;
	int r, i;

	for (i = 1; i < argc - 1; i++) {
		is_exact |= strcmp(argv[i], "--exact") == 0;
		is_killed |= strcmp(argv[i], "--killed") == 0;
	}
	scenario = argc < 2 ? NULL : find(argv[argc - 1]);
	if (scenario == NULL) {
		fprintf(stderr, "usage: scenario [--exact] [--killed] NAME\n");
		return 2;
	}
	r = begin(scenario);
	if (tap_ok(r == 0, "a publisher (%d)", r)) {
		sleep_ms(WINDOW_MS);
		run(scenario);
		end();
	}
	return tap_done();
}
