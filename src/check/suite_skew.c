/* SPDX-License-Identifier: MIT */
/*
 * suite_skew.c - do two CPUs agree on the time?
 *
 * Two pinned threads pass a ball. The first reads t1, the second t2 when it has the ball, the first
 * t3 when it is back: t1 <= t2 <= t3 in the order that memory gives, so t2 outside [t1, t3] is a
 * skew that is proven. The tightest round bounds what cannot be seen: half its length.
 */
#include "check/oracle.h"
#include "check/steady.h"
#include "check/suites.h"
#include "check/tally.h"
#include "check/team.h"

#include <stdio.h>
#include <string.h>

#define PATIENCE_NS 3000000000u

struct skew {
	const struct check_subject *subject;
	/* Odd: the second thread's turn. The values go with it. */
	uint32_t ball __attribute__((aligned(128)));
	int64_t t2;
	int r2;
	unsigned peer_cpu; /* index of the second thread's CPU */
	uint64_t wanted;
	int64_t best_round_ns, best_offset_ns;
	struct tally tally __attribute__((aligned(128)));
};

static int read_mono(const struct skew *skew, int64_t *ret_ns)
{
	struct vclock_timespec ts;
	int r = skew->subject->gettime(skew->subject, VCLOCK_MONOTONIC, &ts);

	if (r == 0)
		*ret_ns = oracle_ns(&ts);
	return r;
}

static bool wait_for(struct team *team, const uint32_t *ball, uint32_t value)
{
	while (__atomic_load_n(ball, __ATOMIC_ACQUIRE) != value)
		if (team_is_over(team))
			return false;
	return true;
}

static void note_round(struct skew *skew, int64_t t1, int64_t t3)
{
	int64_t offset = skew->t2 - t1 - (t3 - t1) / 2;

	tally_bracket(&skew->tally, t1, skew->t2, t3);
	if (t3 - t1 < skew->best_round_ns) {
		skew->best_round_ns = t3 - t1;
		skew->best_offset_ns = offset;
	}
}

static void throw_balls(struct team *team, struct skew *skew)
{
	uint32_t ball = 0;
	int64_t t1 = 0, t3 = 0;
	int r;

	while (!team_is_over(team)) {
		r = read_mono(skew, &t1);
		__atomic_store_n(&skew->ball, ball + 1, __ATOMIC_RELEASE);
		if (!wait_for(team, &skew->ball, ball + 2))
			return;
		ball += 2;
		r = r != 0 ? r : read_mono(skew, &t3);
		r = r != 0 ? r : skew->r2;
		if (r == 0)
			note_round(skew, t1, t3);
		else
			tally_no_value(&skew->tally, r);
		if (skew->tally.reads == skew->wanted)
			team_done(team);
	}
}

static void return_balls(struct team *team, struct skew *skew)
{
	uint32_t ball = 0;

	team_pin(skew->peer_cpu);
	team_done(team);
	while (wait_for(team, &skew->ball, ball + 1)) {
		skew->r2 = read_mono(skew, &skew->t2);
		ball += 2;
		__atomic_store_n(&skew->ball, ball, __ATOMIC_RELEASE);
	}
}

static void member(struct team *team, unsigned index)
{
	if (index == 0)
		throw_balls(team, team->arg);
	else
		return_balls(team, team->arg);
}

static void run_pair(struct check_run *run, const struct check_subject *subject, int first_cpu,
		     int second_cpu, unsigned second, uint64_t time_ns)
{
	static struct skew skew;
	struct team team = {.member = member, .arg = &skew};
	struct check_result result;
	uint64_t begin = oracle_now_ns(), fallbacks = suite_fallbacks(subject);
	char name[24];
	int r;

	memset(&skew, 0, sizeof(skew));
	tally_init(&skew.tally, subject);
	skew.subject = subject;
	skew.peer_cpu = second;
	skew.wanted = run->reads;
	skew.best_round_ns = INT64_MAX;
	tally_block_begin(&skew.tally);
	check_steady_look(&run->steady);
	/* On a busy machine a short stretch may have no whole round. */
	do {
		skew.ball = 0;
		r = team_run(&team, 2, time_ns);
	} while (r == 0 && skew.tally.reads == 0 && oracle_now_ns() < begin + PATIENCE_NS);
	if (r != 0) {
		tally_impossible(run, "skew", subject, "no threads");
		return;
	}

	check_steady_look(&run->steady);
	/* On the page alone time is a function of the counter, whatever the kernel does. */
	tally_block_end(&skew.tally, subject->fallbacks == NULL || steady_rate(&run->steady, begin),
			false);
	skew.tally.fallbacks = suite_fallbacks(subject) - fallbacks;
	tally_result(&skew.tally, &result);
	if (result.verdict == CHECK_PASS)
		snprintf(result.note, sizeof(result.note), "offset %lld ns, known to +-%lld ns",
			 (long long)skew.best_offset_ns, (long long)skew.best_round_ns / 2);
	snprintf(name, sizeof(name), "cpu %d - cpu %d", first_cpu, second_cpu);
	tally_report(run, "skew", subject, name, &result);
}

void suite_skew(struct check_run *run, const struct check_subject *subject)
{
	int cpus[TEAM_MAX];
	unsigned count = team_cpus(cpus), i;

	if (count < 2) {
		tally_impossible(run, "skew", subject, "only one CPU");
		return;
	}
	for (i = 1; i < count; i++)
		run_pair(run, subject, cpus[0], cpus[i], i, run->time_ns / (count - 1));
}
