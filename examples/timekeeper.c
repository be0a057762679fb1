/* SPDX-License-Identifier: MIT */
/*
 * timekeeper.c - a timekeeper of its own, for readers of its own: a simulator that gives its guests
 * a clock at half speed.
 *
 * It uses <vclock/publish.h> to keep a page and <vclock/read.h> to read it, and nothing else of
 * vclock. The guest is a forked process that maps the page read-only; a sandbox would pass it a
 * descriptor. Host and guest share the CPU's counter; the guest's time is a function of it, so the
 * host is asked nothing, and need not run at the moment of a read.
 *
 * Prints how the guest's clock went against the host's.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <vclock/publish.h>
#include <vclock/read.h>

#define NSEC 1000000000u
#define INTERVAL_NS 10000000u
#define RUN_NS 300000000u

static uint64_t host_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC + (uint64_t)ts.tv_nsec;
}

static void sleep_ns(uint64_t ns)
{
	struct timespec ts = {(time_t)(ns / NSEC), (long)(ns % NSEC)};

	nanosleep(&ts, NULL);
}

/* The counter's rate over 20 ms; a simulator that has a clock of its own would know it. */
static uint64_t counter_hz(void)
{
	uint64_t cyc = vclock_counter_ordered(), ns = host_ns();

	sleep_ns(20000000);
	cyc = vclock_counter_ordered() - cyc;
	ns = host_ns() - ns;
	return (uint64_t)((double)cyc * NSEC / (double)ns);
}

/* The guest's clock starts at noon of 2040-01-01, 5 s after its boot, and runs at half speed. */
static void timekeeper_start(struct vclock_timekeeper *tk, const struct vclock_page *page)
{
	memset(tk, 0, sizeof(*tk));
	tk->cycle_last = vclock_counter_ordered();
	tk->shift = page->shift;
	tk->mult = (uint32_t)((((uint64_t)NSEC << page->shift) / page->counter_hz) / 2);
	tk->raw_mult = tk->mult;
	tk->xtime_sec = 2208988800 + 12 * 3600;
	tk->wall_to_monotonic.tv_sec = 5 - tk->xtime_sec;
	tk->raw_sec = 5;
	tk->tai_offset_sec = 37;
	tk->clock_was_set_seq = 1;
}

/* The same line, stated at the counter's value now: the kernel's own accumulation. */
static void timekeeper_advance(struct vclock_timekeeper *tk)
{
	uint64_t now = vclock_counter_ordered(), ns = (now - tk->cycle_last) * tk->mult;

	tk->cycle_last = now;
	tk->xtime_nsec += ns;
	tk->raw_nsec += ns;
	while (tk->xtime_nsec >= (uint64_t)NSEC << tk->shift) {
		tk->xtime_nsec -= (uint64_t)NSEC << tk->shift;
		tk->xtime_sec++;
	}
	while (tk->raw_nsec >= (uint64_t)NSEC << tk->shift) {
		tk->raw_nsec -= (uint64_t)NSEC << tk->shift;
		tk->raw_sec++;
	}
}

/* Both clocks at one moment: a read of the guest's between two of the host's that are close. */
static void both_clocks(const struct vclock_page *page, uint64_t *ret_guest, uint64_t *ret_host)
{
	uint64_t before, after;
	int tries = 0, r;

	do {
		before = host_ns();
		r = vclock_read_ns(page, VCLOCK_MONOTONIC, ret_guest);
		after = host_ns();
		if (r != 0)
			sleep_ns(1000000); /* the host is late, or has not begun */
	} while ((r != 0 || after - before > 100000) && ++tries < 10000);
	*ret_host = before;
}

/* The guest: 0 when its clock went half as fast as the host's and never back. */
static int guest(const struct vclock_page *page)
{
	struct vclock_timespec real, mono;
	uint64_t host_begin = 0, host_end = 0, begin = 0, end = 0, last = 0, now = 0;
	unsigned long long reads = 0, missed = 0;
	double speed;

	both_clocks(page, &begin, &host_begin);
	while (host_ns() - host_begin < RUN_NS) {
		reads++;
		if (vclock_read_ns(page, VCLOCK_MONOTONIC, &now) != 0) {
			missed++; /* a guest with a clock of last resort would ask it here */
			continue;
		}
		if (now < last) {
			printf("guest: time went back by %llu ns\n",
			       (unsigned long long)(last - now));
			return 1;
		}
		last = now;
	}
	both_clocks(page, &end, &host_end);
	speed = (double)(end - begin) / (double)(host_end - host_begin);
	if (vclock_read_now(page, &real, &mono) == 0)
		printf("guest: REALTIME %lld.%09lld, MONOTONIC %lld.%09lld\n",
		       (long long)real.tv_sec, (long long)real.tv_nsec, (long long)mono.tv_sec,
		       (long long)mono.tv_nsec);
	printf("guest: %llu reads, %llu of them while the host was late\n", reads, missed);
	printf("guest: %.3f s of the host's clock were %.3f s here: speed %.3f\n",
	       (double)(host_end - host_begin) / NSEC, (double)(end - begin) / NSEC, speed);
	return speed > 0.49 && speed < 0.51 ? 0 : 1;
}

int main(void)
{
	struct vclock_page_config config = {.counter_kind = VCLOCK_COUNTER_KIND,
					    .interval_ns = INTERVAL_NS,
					    .ahead_ns = INTERVAL_NS};
	struct vclock_timekeeper tk;
	struct vclock_page *page;
	int status = 1;
	pid_t pid, done;

	page = mmap(NULL, VCLOCK_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		    0);
	if (page == MAP_FAILED)
		return 2;
	config.counter_hz = counter_hz();
	if (vclock_page_init(page, &config) != 0)
		return 2;
	timekeeper_start(&tk, page);
	pid = fork();
	if (pid == 0) {
		mprotect(page, VCLOCK_PAGE_SIZE, PROT_READ);
		status = guest(page);
		fflush(stdout);
		_exit(status);
	}
	if (pid < 0)
		return 2;
	do {
		/* Any failure heals by itself: late, and the next update starts after a gap. */
		timekeeper_advance(&tk);
		(void)vclock_page_update(page, &tk);
		sleep_ns(INTERVAL_NS);
		done = waitpid(pid, &status, WNOHANG);
	} while (done == 0);
	vclock_page_retire(page, VCLOCK_RETIRED_STOPPED, NULL, NULL);
	return done == pid && WIFEXITED(status) ? WEXITSTATUS(status) : 2;
}
