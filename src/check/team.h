/* SPDX-License-Identifier: MIT */
/*
 * team.h - a few threads, each pinned to a CPU of its own where there are enough.
 */
#ifndef TEAM_H
#define TEAM_H

#include <stdbool.h>
#include <stdint.h>

#define TEAM_MAX 8u

struct team {
	unsigned count;
	unsigned done; /* members that have what they wanted; atomic */
	unsigned stop; /* atomic */
	void (*member)(struct team *team, unsigned index);
	void *arg;
};

/*
 * Runs count (<= TEAM_MAX) members until all have called team_done(), or time_ns is over. Members
 * look at team_is_over() in every loop. 0, or -errno of the thread that could not be made.
 */
int team_run(struct team *team, unsigned count, uint64_t time_ns);

static inline bool team_is_over(const struct team *team)
{
	return __atomic_load_n(&team->stop, __ATOMIC_RELAXED) != 0;
}

static inline void team_done(struct team *team)
{
	__atomic_add_fetch(&team->done, 1, __ATOMIC_RELAXED);
}

/* CPUs that this process may run on, TEAM_MAX at most. Returns how many. */
unsigned team_cpus(int *ret_cpus);
/* Pins the calling thread to the index-th of them. */
void team_pin(unsigned index);

#endif /* TEAM_H */
