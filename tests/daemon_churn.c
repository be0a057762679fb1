/* SPDX-License-Identifier: MIT */
/*
 * daemon_churn.c - two readers at full speed while the daemon is killed, stopped and restarted.
 *
 * Readers use the inline reader and the library's fallback. Every value is held against the largest
 * that any thread had published before it began (no step back, in a thread or across), and every
 * fourth lies between two kernel reads, or within the page's stated error of them: the first lines
 * after a restart start at the upper edge of what the kernel can have said. Where the page states
 * no more than it does in the steady state, every value lies within the bracket itself. Where a
 * line has ended and the clock stands still for the page's clamp, it may be below by as much:
 * seldom.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support_daemon.h"
#include "support_lib.h"
#include "tap.h"
#include "vclock.h"
#include "vclock/compiler.h"

/* A try of the inline reader has two of these. */
static _Thread_local unsigned fences;
#define vclock_fence_acquire() (fences++, (vclock_fence_acquire)())
#include "vclock/read.h"
#undef vclock_fence_acquire

#define READERS 2
#define TRIES_MAX 3
/* What a page states when the rate does not change and nothing was late: 50 ns, and a little for
 * what is rounded. A kernel clock that is slow to read has more, and is not judged by this. */
#define STEADY_NS 64
/* From the start of a new daemon to the first read that the page answers, less twice what it takes
 * to start the same program for nothing at that time: a busy machine and a sanitizer make that
 * slow, and hold up the samples as well as the start. Medians of all restarts. */
#define BACK_MS 150
#define ROUNDS_MAX 1000

static struct support_daemon daemon_;
static atomic_bool stop;
static _Atomic uint64_t published;

struct reader {
	pthread_t thread;
	uint64_t reads, page_reads, steps_back, steps_across, outside, still;
	uint64_t steady_reads, steady_outside;
	int64_t worst_ns;
	unsigned tries;
};

static uint64_t kernel_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void note(struct reader *reader, uint64_t *count, int64_t ns)
{
	++*count;
	if (ns > reader->worst_ns)
		reader->worst_ns = ns;
}

static uint32_t stated_error_ns(const struct vclock_page *page)
{
	return VCLOCK_LOAD32(&page->slot[VCLOCK_LOAD32(&page->generation) & 1].error_ns);
}

static uint64_t clamp_ns(const struct vclock_page *page)
{
	const struct vclock_slot *slot = &page->slot[VCLOCK_LOAD32(&page->generation) & 1];

	return ((uint64_t)VCLOCK_LOAD32(&slot->clamp_cyc) *
		VCLOCK_LOAD32(&slot->line[1].mult[0])) >>
	       VCLOCK_LOAD32(&page->shift);
}

/* One bracketed read. */
static void judge(struct reader *reader, uint64_t before, uint64_t ns, uint64_t after,
		  uint32_t error)
{
	if (error <= STEADY_NS) {
		reader->steady_reads++;
		reader->steady_outside += ns > after ||
					  ns + (ns < before ? clamp_ns(vclock_page()) : 0) < before;
	}
	if (ns > after + error)
		note(reader, &reader->outside, (int64_t)(ns - after));
	else if (ns + error >= before)
		return;
	else if (ns + error + clamp_ns(vclock_page()) >= before)
		reader->still++;
	else
		note(reader, &reader->outside, (int64_t)(before - ns));
}

static void publish(uint64_t ns)
{
	uint64_t seen = atomic_load(&published);

	while (seen < ns && !atomic_compare_exchange_weak(&published, &seen, ns))
		;
}

static void *read_clock(void *arg)
{
	const struct vclock_page *page = vclock_page();
	struct reader *reader = arg;
	uint64_t previous = 0;

	while (!atomic_load(&stop)) {
		bool is_bracketed = (reader->reads & 3) == 0, is_page;
		uint32_t error = is_bracketed ? stated_error_ns(page) : 0;
		uint64_t before = is_bracketed ? kernel_ns() : 0;
		uint64_t others = atomic_load(&published), ns, after;

		fences = 0;
		is_page = vclock_read_ns(page, VCLOCK_MONOTONIC, &ns) == 0;
		if (fences > reader->tries * 2)
			reader->tries = fences / 2;
		if (!is_page)
			ns = vclock_monotonic_ns();
		after = is_bracketed ? kernel_ns() : 0;
		reader->reads++;
		reader->page_reads += is_page;
		if (ns < previous)
			note(reader, &reader->steps_back, (int64_t)(previous - ns));
		if (ns < others)
			note(reader, &reader->steps_across, (int64_t)(others - ns));
		if (is_bracketed && stated_error_ns(page) > error)
			error = stated_error_ns(page);
		if (is_bracketed)
			judge(reader, before, ns, after, error);
		previous = ns;
		publish(ns);
	}
	return NULL;
}

/* How long until the page answers after a restart, in ms; -1: not within ten seconds. */
static int restart(void)
{
	uint64_t begin, ns;

	support_daemon_stop(&daemon_, SIGKILL);
	usleep((useconds_t)(rand() % 30000));
	begin = kernel_ns();
	if (!support_daemon_start(&daemon_, NULL))
		return -1;
	while (kernel_ns() - begin < 10000000000u) {
		if (kernel_ns() - begin > 1000000 &&
		    vclock_read_ns(vclock_page(), VCLOCK_MONOTONIC, &ns) == 0 &&
		    vclock_page()->writer_pid == (uint32_t)daemon_.pid)
			return (int)((kernel_ns() - begin) / 1000000);
		usleep(500);
	}
	return -1;
}

/* What starting the program and its end take, in ms. */
static int start_only(void)
{
	const char *const version[] = {"--version", NULL};
	struct support_daemon idle = daemon_;
	uint64_t begin = kernel_ns();

	if (!support_daemon_start(&idle, version) || support_daemon_stop(&idle, 0) != 0)
		return -1;
	return (int)((kernel_ns() - begin) / 1000000);
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void pause_daemon(void)
{
	kill(daemon_.pid, SIGSTOP);
	usleep((useconds_t)(rand() % 60000));
	kill(daemon_.pid, SIGCONT);
}

static int took_ms[ROUNDS_MAX], start_ms[ROUNDS_MAX];

/* Kills and stops by turns; returns how many kills there were. */
static unsigned churn(unsigned rounds, unsigned *ret_lost)
{
	unsigned kills = 0, i;

	for (i = 0; i < rounds; i++) {
		usleep(300000);
		if (rand() % 2 == 0) {
			pause_daemon();
			continue;
		}
		took_ms[kills] = restart();
		*ret_lost += took_ms[kills] < 0;
		start_ms[kills++] = start_only();
	}
	return kills;
}

static void add(struct reader *sum, const struct reader *reader)
{
	sum->reads += reader->reads;
	sum->page_reads += reader->page_reads;
	sum->steps_back += reader->steps_back;
	sum->steps_across += reader->steps_across;
	sum->outside += reader->outside;
	sum->still += reader->still;
	sum->steady_reads += reader->steady_reads;
	sum->steady_outside += reader->steady_outside;
	sum->worst_ns = reader->worst_ns > sum->worst_ns ? reader->worst_ns : sum->worst_ns;
	sum->tries = reader->tries > sum->tries ? reader->tries : sum->tries;
}

static void judge_restarts(unsigned kills, unsigned lost)
{
	tap_ok(lost == 0, "every restart brings the page back");
	if (kills == 0)
		return;
	qsort(took_ms, kills, sizeof(took_ms[0]), compare);
	qsort(start_ms, kills, sizeof(start_ms[0]), compare);
	tap_diag("restart to page: median %d ms, slowest %d ms; the program's start alone: "
		 "median %d ms",
		 took_ms[kills / 2], took_ms[kills - 1], start_ms[kills / 2]);
	if (getenv("VCLOCK_TEST_VM") != NULL) {
		tap_skip("how soon a restart is back",
			 "the CPUs of a translated machine slow one another down");
		return;
	}
	tap_ok(took_ms[kills / 2] - 2 * start_ms[kills / 2] <= BACK_MS,
	       "a restart takes %d ms at the most, beyond twice the program's start", BACK_MS);
}

static void judge_reads(const struct reader *sum)
{
	tap_ok(sum->steps_back == 0, "no step back in a thread: %llu",
	       (unsigned long long)sum->steps_back);
	tap_ok(sum->steps_across == 0, "no step back across threads: %llu",
	       (unsigned long long)sum->steps_across);
	tap_ok(sum->outside == 0, "no read outside the stated error: %llu (worst %lld ns)",
	       (unsigned long long)sum->outside, (long long)sum->worst_ns);
	tap_ok(sum->steady_outside == 0,
	       "no read outside its bracket where the page is steady: %llu of %llu",
	       (unsigned long long)sum->steady_outside, (unsigned long long)sum->steady_reads);
	tap_ok(sum->tries > 0 && sum->tries <= TRIES_MAX, "no call takes more than %d tries: %u",
	       TRIES_MAX, sum->tries);
	tap_ok(sum->page_reads * 2 >= sum->reads, "half of the reads and more come from the page");
	tap_ok(sum->still * 1000 <= sum->reads,
	       "one read in a thousand at the most stands at a line's end");
}

int main(int argc, char **argv)
{
	struct reader reader[READERS] = {{0}}, sum = {0};
	unsigned rounds = tap_is_long() ? 1000 : 100, seed = (unsigned)time(NULL), i;
	unsigned kills, lost = 0;

	(void)argc;
	if (support_is_emulated()) {
		tap_skip("a daemon", "the emulator does not run other programs");
		return tap_done();
	}
	tap_diag("seed %u", seed);
	srand(seed);
	if (!tap_ok(support_daemon_begin(&daemon_, argv[0]) &&
			    support_daemon_start(&daemon_, NULL) &&
			    support_daemon_wait(&daemon_, 5000),
		    "the daemon's page answers"))
		return tap_done();
	for (i = 0; i < READERS; i++)
		pthread_create(&reader[i].thread, NULL, read_clock, &reader[i]);
	kills = churn(rounds, &lost);
	atomic_store(&stop, true);
	for (i = 0; i < READERS; i++) {
		pthread_join(reader[i].thread, NULL);
		add(&sum, &reader[i]);
	}
	support_daemon_end(&daemon_);
	tap_diag("%llu reads, %llu by the page, %llu at a line's end; %u kills, %u stops",
		 (unsigned long long)sum.reads, (unsigned long long)sum.page_reads,
		 (unsigned long long)sum.still, kills, rounds - kills);
	judge_reads(&sum);
	judge_restarts(kills, lost);
	return tap_done();
}
