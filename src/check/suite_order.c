/* SPDX-License-Identifier: MIT */
/*
 * suite_order.c - causality and monotonicity: time does not go back.
 *
 * Monotonicity: in one thread, from one read to the next; several threads do it at once.
 * Causality: between threads on different CPUs. Each publishes its newest time with release order;
 * a thread that acquires a time it has not seen yet and then reads the clock must not get less.
 * That pair is one observation.
 *
 * Both run over the subject alone, and again mixed with reads of the kernel, as a program sees it
 * that asks both. Alone, nothing may ever go back. Mixed, two things are in a page's right: to lie
 * beside the kernel's clock by its stated error when tally.h excuses it; and, when its writer is
 * late, to stand still for some 40 us while the kernel's clock goes on. It stands still when the
 * next read gives the same value once more, or, that time being over, leaves for the kernel's.
 */
#include "check/oracle.h"
#include "check/steady.h"
#include "check/suites.h"
#include "check/tally.h"
#include "check/team.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_NS 1000000000u
#define SHORT_NS 100000000u
#define PATIENCE_NS 3000000000u

/* 8-byte aligned on 32-bit machines too, so that atomics need no lock there. */
typedef uint64_t __attribute__((aligned(8))) shared_ns;

struct order_member {
	shared_ns published; /* the one field that other members read */
	uint64_t observations;
	uint32_t random;
	struct tally tally;

} __attribute__((aligned(128)));

struct order {
	const struct check_subject *subject;
	oracle_gettime kernel;
	int32_t clk;
	bool is_mixed, is_across;
	uint64_t wanted; /* by each member in this block; 0: until the time is over */

	struct order_member member[TEAM_MAX];
};

static int read_kernel(const struct order *order, uint32_t random, struct vclock_timespec *ret_ts)
{
	return (random & 64 ? order->kernel : oracle_syscall_gettime)(order->clk, ret_ts);
}

/*
 * One read in eight comes from the kernel when mixed; half of these by system call. The stated
 * error is looked at before each of them: who judges may come when the page says something else.
 */
static int read_one(struct order *order, struct order_member *m, int64_t *ret_ns)
{
	struct vclock_timespec ts;
	uint32_t random = order->is_mixed ? suite_random(&m->random) : 8;
	int r;

	if (order->is_mixed)
		tally_look_at_error(&m->tally, tally_stated_error_ns(order->subject));
	if (random & 0x38)
		r = order->subject->gettime(order->subject, order->clk, &ts);
	else
		r = read_kernel(order, random, &ts);
	if (VCLOCK_LIKELY(r == 0)) {
		m->tally.reads++;
		*ret_ns = oracle_ns(&ts);
	} else {
		tally_no_value(&m->tally, r);
	}
	return r;
}

static void note_back(const struct order *order, struct order_member *m, int64_t before,
		      int64_t now)
{
	if (!order->is_mixed) {
		/* Nothing excuses this; it counts as beyond any error. */
		m->tally.block_outside++;
		m->tally.block_beyond++;
		if (now - before < m->tally.block_worst_ns) {
			m->tally.block_worst_ns = now - before;
			m->tally.block_worst_cpu = sched_getcpu();
		}
	} else if (!tally_clock_stands_still(order->subject, order->clk, before, now)) {
		tally_outside(&m->tally, now, now - before);
	}
}

static void member_monotonic(struct team *team, unsigned index)
{
	struct order *order = team->arg;
	struct order_member *m = &order->member[index];
	int64_t previous = 0, now;

	while (!team_is_over(team)) {
		if (read_one(order, m, &now) != 0)
			continue;
		if (VCLOCK_UNLIKELY(now < previous))
			note_back(order, m, previous, now);
		previous = now;
		if (m->observations % 1024 == 0)
			tally_look_at_error(&m->tally, tally_stated_error_ns(order->subject));
		if (++m->observations == order->wanted)
			team_done(team);
	}
}

static void member_causal(struct team *team, unsigned index)
{
	struct order *order = team->arg;
	struct order_member *m = &order->member[index];
	uint64_t seen[TEAM_MAX] = {0}, theirs;
	unsigned other = index;
	int64_t now;

	while (!team_is_over(team)) {
		other = other + 1 < team->count ? other + 1 : 0;
		if (other == index)
			continue;
		theirs = __atomic_load_n(&order->member[other].published, __ATOMIC_ACQUIRE);
		if (read_one(order, m, &now) != 0)
			continue;
		if (VCLOCK_UNLIKELY(now < (int64_t)theirs))
			note_back(order, m, (int64_t)theirs, now);
		__atomic_store_n(&m->published, (uint64_t)now, __ATOMIC_RELEASE);
		if (theirs == seen[other])
			continue;
		seen[other] = theirs;
		if (m->observations % 1024 == 0)
			tally_look_at_error(&m->tally, tally_stated_error_ns(order->subject));
		if (++m->observations == order->wanted)
			team_done(team);
	}
}

/* Moves a block's counts from the members to the row's tally. */
static void collect(struct order *order, unsigned threads, struct tally *tally)
{
	struct tally *m;
	unsigned i;

	for (i = 0; i < threads; i++) {
		m = &order->member[i].tally;
		tally->reads += m->reads;
		tally->uncovered += m->uncovered;
		if (m->errors > 0 && tally->errors == 0)
			tally->first_error = m->first_error;
		tally->errors += m->errors;
		tally->block_outside += m->block_outside;
		tally->block_beyond += m->block_beyond;
		tally->block_excused += m->block_excused;
		tally_look_at_error(tally, m->block_error_ns);
		if (m->block_worst_ns < tally->block_worst_ns) {
			tally->block_worst_ns = m->block_worst_ns;
			tally->block_worst_cpu = m->block_worst_cpu;
		}
	}
}

static uint64_t observations(const struct order *order, unsigned threads)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < threads; i++)
		sum += order->member[i].observations;
	return sum;
}

static void reset_members(struct order *order, uint32_t seed)
{
	struct order_member *m;
	unsigned i;

	for (i = 0; i < TEAM_MAX; i++) {
		m = &order->member[i];
		m->published = 0;
		m->observations = 0;
		m->random = seed * 2654435761u + i + 1;
		tally_init(&m->tally, order->subject);
		m->tally.clk = order->clk;
		tally_block_begin(&m->tally);
	}
}

static int run_block(struct order *order, struct check_run *run, unsigned threads, uint64_t time_ns,
		     struct tally *tally)
{
	struct team team = {.arg = order,
			    .member = order->is_across ? member_causal : member_monotonic};
	uint64_t begin = oracle_now_ns(), fallbacks = suite_fallbacks(order->subject);
	int r;

	run->seed = run->seed * 1103515245u + 12345u;
	reset_members(order, run->seed);
	tally_block_begin(tally);
	check_steady_look(&run->steady);
	r = team_run(&team, threads, time_ns < BLOCK_NS ? time_ns : BLOCK_NS);
	check_steady_look(&run->steady);
	tally->fallbacks += suite_fallbacks(order->subject) - fallbacks;
	collect(order, threads, tally);
	/* Alone, the kernel's rate does not matter: what went back counts in every block. */
	tally_block_end(tally,
			!order->is_mixed || order->subject->page == NULL ||
				steady_rate(&run->steady, begin),
			false);
	return r;
}

static unsigned thread_count(const struct check_run *run)
{
	int cpus[TEAM_MAX];
	unsigned count = run->threads != 0 ? run->threads : team_cpus(cpus);

	return count < 2 ? 2 : count > TEAM_MAX ? TEAM_MAX : count;
}

static void run_row(struct order *order, struct check_run *run, uint64_t time_ns, const char *suite)
{
	uint64_t end = oracle_now_ns() + time_ns, now = oracle_now_ns(), seen = 0;
	struct check_result result;
	struct tally *tally = calloc(1, sizeof(*tally));
	unsigned threads = thread_count(run);
	char name[24];
	int r = tally == NULL ? -ENOMEM : 0;

	if (r == 0)
		tally_init(tally, order->subject);
	/* On a busy machine a short stretch may have no two threads running at once. */
	while (r == 0 &&
	       (now < end || (seen == 0 && tally->errors == 0 && now < end + PATIENCE_NS)) &&
	       (run->reads == 0 || seen < run->reads)) {
		order->wanted = run->reads == 0 ? 0 : (run->reads - seen) / threads + 1;
		r = run_block(order, run, threads, now < end ? end - now : SHORT_NS, tally);
		seen += observations(order, threads);
		now = oracle_now_ns();
	}
	if (r != 0) {
		tally_impossible(run, suite, order->subject, "no memory or no threads");
		free(tally);
		return;
	}
	/* Routes and the 95 % are of reads; the row counts observations. */
	tally_result(tally, &result);
	result.reads = seen;
	if (seen == 0 && result.verdict == CHECK_PASS) {
		result.verdict = CHECK_FAIL;
		strcpy(result.note, "no two threads ran at once");
	}

	strcpy(name, order->clk == VCLOCK_MONOTONIC  ? "MONOTONIC"
		     : order->clk == VCLOCK_BOOTTIME ? "BOOTTIME"
						     : "MONOTONIC_RAW");
	if (order->is_mixed)
		strcat(name, " mixed");
	tally_report(run, suite, order->subject, name, &result);
	free(tally);
}

static void run_rows(struct check_run *run, const struct check_subject *subject, bool is_across,
		     const char *suite)
{
	static const int32_t clocks[] = {VCLOCK_MONOTONIC, VCLOCK_MONOTONIC_RAW, VCLOCK_BOOTTIME};
	static struct order order;
	unsigned i, rows = 0;

	memset(&order, 0, sizeof(order));
	order.subject = subject;
	order.kernel = oracle_for(run, subject);
	order.is_across = is_across;
	for (i = 0; i < 3; i++)
		rows += 2 * suite_wants(run, subject, (uint32_t)clocks[i]);
	for (i = 0; i < 6 && rows > 0; i++) {
		order.clk = clocks[i / 2];
		order.is_mixed = i % 2 == 1;
		if (suite_wants(run, subject, (uint32_t)order.clk))
			run_row(&order, run, run->time_ns / rows, suite);
	}
}

void suite_causality(struct check_run *run, const struct check_subject *subject)
{
	int cpus[TEAM_MAX];

	if (team_cpus(cpus) < 2)
		tally_impossible(run, "causality", subject, "only one CPU");
	else
		run_rows(run, subject, true, "causality");
}

void suite_monotonicity(struct check_run *run, const struct check_subject *subject)
{
	run_rows(run, subject, false, "monotonicity");
}
