/* SPDX-License-Identifier: MIT */
/*
 * team.c - threads for the suites that need several CPUs. It must never outlive its time limit by
 * more than a scheduling delay.
 */
#include "check/team.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <time.h>

#include "check/oracle.h"

struct seat {
	struct team *team;
	unsigned index;
	pthread_t thread;
};

unsigned team_cpus(int *ret_cpus)
{
	cpu_set_t set;
	unsigned count = 0;
	int cpu;

	if (sched_getaffinity(0, sizeof(set), &set) != 0) {
		ret_cpus[0] = 0;
		return 1;
	}
	for (cpu = 0; cpu < CPU_SETSIZE && count < TEAM_MAX; cpu++)
		if (CPU_ISSET(cpu, &set))
			ret_cpus[count++] = cpu;
	return count;
}

void team_pin(unsigned index)
{
	int cpus[TEAM_MAX];
	unsigned count = team_cpus(cpus);
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpus[index % count], &set);
	pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *run_member(void *arg)
{
	struct seat *seat = arg;

	team_pin(seat->index);
	seat->team->member(seat->team, seat->index);
	return NULL;
}

int team_run(struct team *team, unsigned count, uint64_t time_ns)
{
	const struct timespec nap = {0, 1000000};
	struct seat seats[TEAM_MAX];
	uint64_t end = oracle_now_ns() + time_ns;
	unsigned started;
	int r = 0;

	team->count = count;
	team->done = 0;
	team->stop = 0;
	for (started = 0; started < count && r == 0; started++) {
		seats[started].team = team;
		seats[started].index = started;
		r = -pthread_create(&seats[started].thread, NULL, run_member, &seats[started]);
	}
	started -= r != 0;
	while (r == 0 && __atomic_load_n(&team->done, __ATOMIC_RELAXED) < count &&
	       oracle_now_ns() < end)
		nanosleep(&nap, NULL);
	__atomic_store_n(&team->stop, 1, __ATOMIC_RELAXED);
	while (started-- > 0)
		pthread_join(seats[started].thread, NULL);
	return r;
}
