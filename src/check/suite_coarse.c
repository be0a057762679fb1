/* SPDX-License-Identifier: MIT */
/*
 * suite_coarse.c - COARSE clocks and time(): the tick's value, never ahead of the fine clock.
 *
 * A COARSE value lies between two COARSE reads of the kernel, to the ns: there is no tolerance to
 * tune, and a late tick cannot fail it. Where no vDSO gives ticks, the value is the fine clock cut
 * to the resolution: it may be ahead of the kernel's COARSE clock by the subject's coarse_ticks.
 * time() is the second of some tick: between COARSE before and the fine clock after.
 */
#include "check/oracle.h"
#include "check/steady.h"
#include "check/suites.h"
#include "check/tally.h"

#include <stdlib.h>

#define BATCH 200
#define SECOND_NS 1000000000

struct coarse {
	const struct check_subject *subject;
	oracle_gettime kernel;
	int32_t clk; /* COARSE id; -1: time() */
	int64_t slack_ns;
	int64_t previous_ns;
	struct tally *tally;
};

static void read_coarse(struct coarse *c)
{
	int32_t fine = c->clk == VCLOCK_REALTIME_COARSE ? VCLOCK_REALTIME : VCLOCK_MONOTONIC;
	int64_t k1 = oracle_read(c->kernel, c->clk), k2, limit, v;
	struct vclock_timespec ts;
	int r = c->subject->gettime(c->subject, c->clk, &ts);

	k2 = oracle_read(c->kernel, c->clk);
	limit = oracle_read(c->kernel, fine);
	if (r != 0) {
		tally_no_value(c->tally, r);
		return;
	}
	v = oracle_ns(&ts);
	/* Cut to the resolution, it may be behind the kernel's tick by part of a tick too. */
	tally_bracket(c->tally, k1 - c->slack_ns, v,
		      k2 + c->slack_ns < limit ? k2 + c->slack_ns : limit);
	if (v < c->previous_ns)
		tally_outside(c->tally, v, v - c->previous_ns);
	c->previous_ns = v;
}

static void read_time(struct coarse *c)
{
	int64_t k1 = oracle_read(c->kernel, VCLOCK_REALTIME_COARSE), v, k2;

	v = c->subject->time(c->subject);
	k2 = oracle_read(c->kernel, VCLOCK_REALTIME);
	if (v < 0) {
		tally_no_value(c->tally, (int)v);
		return;
	}
	v *= SECOND_NS;
	tally_bracket(c->tally, k1 / SECOND_NS * SECOND_NS - c->slack_ns, v, k2);
	if (v < c->previous_ns)
		tally_outside(c->tally, v, v - c->previous_ns);
	c->previous_ns = v;
}

/* The kernel's own statement of how long a tick is; 10 ms (HZ=100) is the longest in use. */
static int64_t tick_ns(void)
{
	struct vclock_timespec res = {0, 10000000};

	oracle_syscall_getres(VCLOCK_MONOTONIC_COARSE, &res);
	return oracle_ns(&res);
}

static void run_row(struct check_run *run, struct coarse *c, const char *name, uint64_t time_ns)
{
	struct check_subject kernel_only = *c->subject;
	struct check_result result;
	uint64_t begin = oracle_now_ns();
	int i;

	/* COARSE clocks are not on the page: no share of it is demanded, and nothing excused. */
	kernel_only.page = NULL;
	if (kernel_only.coarse_ticks == 0)
		kernel_only.route = c->subject->fallback_route;
	c->tally = calloc(1, sizeof(*c->tally));
	if (c->tally == NULL)
		return;
	tally_init(c->tally, &kernel_only);
	c->previous_ns = 0;
	tally_block_begin(c->tally);
	check_steady_look(&run->steady);
	do
		for (i = 0; i < BATCH; i++)
			c->clk < 0 ? read_time(c) : read_coarse(c);
	while (oracle_now_ns() < begin + time_ns &&
	       (run->reads == 0 || c->tally->reads < run->reads));
	check_steady_look(&run->steady);
	tally_block_end(c->tally, true,
			c->clk != VCLOCK_MONOTONIC_COARSE && !steady_wall(&run->steady, begin));
	tally_result(c->tally, &result);
	tally_report(run, "coarse", c->subject, name, &result);
	free(c->tally);
}

void suite_coarse(struct check_run *run, const struct check_subject *subject)
{
	struct coarse c = {.subject = subject, .kernel = oracle_for(run, subject)};

	c.slack_ns = subject->coarse_ticks * tick_ns();
	if (subject->takes_any_id && subject->gettime != NULL) {
		c.clk = VCLOCK_REALTIME_COARSE;
		run_row(run, &c, "REALTIME_COARSE", run->time_ns / 3);
		c.clk = VCLOCK_MONOTONIC_COARSE;
		run_row(run, &c, "MONOTONIC_COARSE", run->time_ns / 3);
	}
	if (subject->time != NULL) {
		c.clk = -1;
		run_row(run, &c, "time", run->time_ns / 3);
	}
}
