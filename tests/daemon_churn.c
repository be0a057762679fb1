/* SPDX-License-Identifier: MIT */
/*
 * daemon_churn.c - two readers at full speed while the daemon is killed, stopped and restarted.
 *
 * Readers use the inline reader and the library's fallback. Every value is held against the largest
 * that any thread had published before it began (no step back, in a thread or across), and every
 * fourth lies between two kernel reads, or within the page's stated error of them: the first lines
 * after a restart start at the upper edge of what the kernel can have said. Where a line has ended
 * and the clock stands still for the page's clamp, it may be below by as much: seldom.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "support_daemon.h"
#include "tap.h"
#include "vclock.h"
#include "vclock/read.h"

#define READERS 2
/* From the start of a new daemon to the first read that the page answers, less what it takes to
 * start the same program for nothing at that time: a busy machine and a sanitizer make that slow.
 * The median of all restarts. */
#define BACK_MS 150
#define ROUNDS_MAX 1000

static struct support_daemon daemon_;
static atomic_bool stop;
static _Atomic uint64_t published;

struct reader {
	pthread_t thread;
	uint64_t reads, page_reads, steps_back, steps_across, outside, still;
	int64_t worst_ns;
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

		is_page = vclock_read_ns(page, VCLOCK_MONOTONIC, &ns) == 0;
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

/* How long until the page answers after a restart, in ms; -1: not within two seconds. */
static int restart(void)
{
	uint64_t begin, ns;

	support_daemon_stop(&daemon_, SIGKILL);
	usleep((useconds_t)(rand() % 30000));
	begin = kernel_ns();
	if (!support_daemon_start(&daemon_, NULL))
		return -1;
	while (kernel_ns() - begin < 2000000000u) {
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

int main(int argc, char **argv)
{
	struct reader reader[READERS] = {{0}};
	unsigned rounds = tap_is_long() ? 1000 : 40, seed = (unsigned)time(NULL), i;
	unsigned kills = 0, lost = 0;
	static int took_ms[ROUNDS_MAX], start_ms[ROUNDS_MAX];
	uint64_t reads = 0, page_reads = 0, back = 0, across = 0, outside = 0, still = 0;
	int64_t worst = 0;
	int ms;

	(void)argc;
	tap_diag("seed %u", seed);
	srand(seed);
	if (!tap_ok(support_daemon_begin(&daemon_, argv[0]) &&
			    support_daemon_start(&daemon_, NULL) &&
			    support_daemon_wait(&daemon_, 5000),
		    "the daemon's page answers"))
		return tap_done();
	for (i = 0; i < READERS; i++)
		pthread_create(&reader[i].thread, NULL, read_clock, &reader[i]);
	for (i = 0; i < rounds; i++) {
		usleep(300000);
		if (rand() % 2 == 0) {
			pause_daemon();
			continue;
		}
		ms = restart();
		lost += ms < 0;
		took_ms[kills] = ms;
		start_ms[kills++] = start_only();
	}
	atomic_store(&stop, true);
	for (i = 0; i < READERS; i++) {
		pthread_join(reader[i].thread, NULL);
		reads += reader[i].reads;
		page_reads += reader[i].page_reads;
		back += reader[i].steps_back;
		across += reader[i].steps_across;
		outside += reader[i].outside;
		still += reader[i].still;
		worst = reader[i].worst_ns > worst ? reader[i].worst_ns : worst;
	}
	support_daemon_end(&daemon_);
	qsort(took_ms, kills, sizeof(took_ms[0]), compare);
	qsort(start_ms, kills, sizeof(start_ms[0]), compare);
	tap_diag("%llu reads, %llu by the page, %llu at a line's end; %u kills, %u stops",
		 (unsigned long long)reads, (unsigned long long)page_reads,
		 (unsigned long long)still, kills, rounds - kills);
	if (kills > 0)
		tap_diag("restart to page: median %d ms, slowest %d ms; the program's start alone: "
			 "median %d ms",
			 took_ms[kills / 2], took_ms[kills - 1], start_ms[kills / 2]);
	tap_ok(back == 0, "no step back in a thread: %llu", (unsigned long long)back);
	tap_ok(across == 0, "no step back across threads: %llu", (unsigned long long)across);
	tap_ok(outside == 0, "no read outside the stated error: %llu (worst %lld ns)",
	       (unsigned long long)outside, (long long)worst);
	tap_ok(page_reads * 2 >= reads, "half of the reads and more come from the page");
	tap_ok(lost == 0, "every restart brings the page back");
	tap_ok(still * 1000 <= reads, "one read in a thousand at the most stands at a line's end");
	tap_ok(kills == 0 || took_ms[kills / 2] - start_ms[kills / 2] <= BACK_MS,
	       "a restart takes %d ms at the most, beyond the program's start", BACK_MS);
	return tap_done();
}
