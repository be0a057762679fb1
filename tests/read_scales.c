/* SPDX-License-Identifier: MIT */
/*
 * A read costs the same however many threads read: nothing on its path is written that they share
 * (M12). Compared is the CPU time of a read, alone and from every CPU at once: waiting for a CPU is
 * not in it, and siblings of one core that share its units make it twice at most.  The twin is a
 * reader that stores a shared word, as a clamp by a global "last value" would; some times over, so
 * that it is seen also where other load seldom lets two run at once.

 */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <time.h>

#include "check/team.h"
#include "support_check.h"
#include "tap.h"

#define ROUNDS 6
/* Both ends: a round is some 10 to 200 ms, and real-time threads end by themselves. */
#define READS_MAX 200000u
#define ROUND_NS 1000000000u
#define ALLOWED_PERCENT 200

struct scales {
	uint64_t (*read)(void);
	uint64_t cpu_ps[TEAM_MAX]; /* for a read */
};

static volatile uint64_t sink;
static uint32_t shared_last __attribute__((aligned(64)));

static uint64_t shared_clamp(void)
{
	uint64_t now = vclock_monotonic_ns();
	int i;

	for (i = 0; i < 64; i++)
		__atomic_add_fetch(&shared_last, 1, __ATOMIC_SEQ_CST);
	return now;
}

static uint64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* Before everything else that wants the CPUs, where that is allowed: so that all run at once. Below
 * the publisher. */
static void go_first(void)
{
	struct sched_param param = {.sched_priority = 1};

	pthread_setschedparam(pthread_self(), SCHED_FIFO, &param);
}

static void member(struct team *team, unsigned index)
{
	struct scales *scales = team->arg;
	uint64_t begin, reads = 0, sum = 0;
	int i;

	go_first();
	begin = cpu_ns();
	while (!team_is_over(team) && reads < READS_MAX) {
		for (i = 0; i < 100; i++)
			sum += scales->read();
		reads += 100;
	}
	sink = sum;
	scales->cpu_ps[index] = reads == 0 ? 0 : (cpu_ns() - begin) * 1000 / reads;
	team_done(team);
}

static uint64_t round_ps(uint64_t (*read)(void), unsigned threads)
{
	struct scales scales = {.read = read};
	struct team team = {.member = member, .arg = &scales};
	uint64_t worst = 0;
	unsigned i;

	team_run(&team, threads, ROUND_NS);
	for (i = 0; i < threads; i++)
		if (scales.cpu_ps[i] > worst)
			worst = scales.cpu_ps[i];
	return worst;
}

/* The least and the most that a read costs on all CPUs, in percent of what it costs on one. */
static void compare(const char *what, uint64_t (*read)(void), unsigned threads, uint64_t *ret_least,
		    uint64_t *ret_most)
{
	uint64_t alone, together, percent;
	int i;

	*ret_least = UINT64_MAX;
	*ret_most = 0;
	for (i = 0; i < ROUNDS; i++) {
		alone = round_ps(read, 1);
		together = round_ps(read, threads);
		percent = alone == 0 ? 0 : together * 100 / alone;
		tap_diag("%s: %llu ps alone, %llu ps on each of %u CPUs", what,
			 (unsigned long long)alone, (unsigned long long)together, threads);
		if (percent < *ret_least)
			*ret_least = percent;
		if (percent > *ret_most)
			*ret_most = percent;
	}
}

int main(void)
{
	int cpus[TEAM_MAX];
	unsigned threads = team_cpus(cpus);
	uint64_t least, most;

	tap_ok(support_start_page(0) == 0, "a publisher starts");
	if (threads < 2) {
		tap_skip("reads from several CPUs", "only one CPU");
		return tap_done();
	}
	if (getenv("VCLOCK_TEST_VM") != NULL) {
		tap_skip("reads from several CPUs",
			 "the CPUs of a translated machine slow one another down");
		return tap_done();
	}
	compare("read", vclock_monotonic_ns, threads, &least, &most);
	tap_ok(least <= ALLOWED_PERCENT, "reads do not slow one another down");
	compare("read with a shared store", shared_clamp, threads, &least, &most);
	tap_ok(most > ALLOWED_PERCENT, "a shared store in a read is noticed");
	vclock_publisher_stop();
	return tap_done();
}
