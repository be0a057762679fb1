/* SPDX-License-Identifier: MIT */
/*
 * suite_bracket.c - kernel, subject, kernel: the value must lie between (tally.h has the rule).
 *
 * Rows are read in turn, some hundred reads at a time, so that all of them see the same blocks.
 * Only CLOCK against its own kind: REALTIME and TAI by the kernel's REALTIME and TAI.
 */
#include "check/oracle.h"
#include "check/steady.h"
#include "check/suites.h"
#include "check/tally.h"

#include <string.h>

#define BLOCK_NS 1000000000u
#define BATCH 400
#define ROWS_MAX 12

enum row_kind { ROW_CLOCK, ROW_TIMEOFDAY, ROW_NOW, ROW_NOW_DIFFERENCE, ROW_STAMP };

struct row {
	const char *name;
	enum row_kind kind;
	int32_t clk;
	bool is_wall; /* REALTIME and TAI may be set */
};

static const struct row all_rows[] = {
	{"REALTIME", ROW_CLOCK, VCLOCK_REALTIME, true},
	{"MONOTONIC", ROW_CLOCK, VCLOCK_MONOTONIC, false},
	{"MONOTONIC_RAW", ROW_CLOCK, VCLOCK_MONOTONIC_RAW, false},
	{"BOOTTIME", ROW_CLOCK, VCLOCK_BOOTTIME, false},
	{"TAI", ROW_CLOCK, VCLOCK_TAI, true},
	{"gettimeofday", ROW_TIMEOFDAY, VCLOCK_REALTIME, true},
	{"now: REALTIME", ROW_NOW, VCLOCK_REALTIME, true},
	{"now: MONOTONIC", ROW_NOW, VCLOCK_MONOTONIC, false},
	{"now: difference", ROW_NOW_DIFFERENCE, VCLOCK_REALTIME, true},
	{"stamp: MONOTONIC", ROW_STAMP, VCLOCK_MONOTONIC, false},
};

struct bracket {
	const struct check_subject *subject;
	oracle_gettime kernel;
	int64_t real_minus_mono_ns;
	unsigned count;
	const struct row *row[ROWS_MAX];
	struct tally tally[ROWS_MAX];
};

static bool is_whole(const struct vclock_timespec *ts)
{
	return (uint64_t)ts->tv_nsec < VCLOCK_NSEC_PER_SEC;
}

static int64_t timeval_ns(const struct vclock_timeval *tv)
{
	return tv->tv_sec * 1000000000 + tv->tv_usec * 1000;
}

/* One more read of what a row reads, for a value that was too low. */
static bool stands_still(const struct bracket *b, const struct row *row, int64_t k1, int64_t v)
{
	const struct check_subject *subject = b->subject;
	struct vclock_timespec real, mono;
	struct vclock_timeval tv;
	int r;

	if (row->kind == ROW_CLOCK || subject->page == NULL)
		return tally_clock_stands_still(subject, row->clk, k1, v);
	if (row->kind == ROW_TIMEOFDAY) {
		r = subject->gettimeofday(subject, &tv);
		return tally_stands_still(subject->page, k1, v, r, r == 0 ? timeval_ns(&tv) : 0);
	}
	r = subject->now(subject, &real, &mono);
	if (r != 0)
		return tally_stands_still(subject->page, k1, v, r, 0);
	return tally_stands_still(subject->page, k1, v, r,
				  oracle_ns(row->clk == VCLOCK_MONOTONIC ? &mono : &real));
}

/* A nanosecond field out of range has no value that could lie in a bracket. */
static void judge_timespec(const struct bracket *b, const struct row *row, struct tally *tally,
			   int64_t k1, const struct vclock_timespec *ts, int64_t k2)
{
	if (VCLOCK_UNLIKELY(!is_whole(ts)))
		tally_no_value(tally, -ERANGE);
	else if (VCLOCK_UNLIKELY(oracle_ns(ts) < k1) && stands_still(b, row, k1, oracle_ns(ts)))
		tally_excused(tally);
	else
		tally_bracket(tally, k1, oracle_ns(ts), k2);
}

static void read_clock(const struct bracket *b, const struct row *row, struct tally *tally)
{
	struct vclock_timespec k1, v, k2;
	int r;

	if (b->kernel(row->clk, &k1) != 0)
		return;
	r = b->subject->gettime(b->subject, row->clk, &v);
	if (b->kernel(row->clk, &k2) != 0)
		return;
	if (VCLOCK_LIKELY(r == 0))
		judge_timespec(b, row, tally, oracle_ns(&k1), &v, oracle_ns(&k2));
	else
		tally_no_value(tally, r);
}

/* Microseconds are cut, so the lower end is cut as well. */
static void read_timeofday(const struct bracket *b, const struct row *row, struct tally *tally)
{
	int64_t k1 = oracle_read(b->kernel, row->clk) / 1000 * 1000, k2;
	struct vclock_timeval tv;
	int r = b->subject->gettimeofday(b->subject, &tv);

	k2 = oracle_read(b->kernel, row->clk);
	if (r == 0 && (uint64_t)tv.tv_usec >= 1000000)
		r = -ERANGE;
	if (r != 0)
		tally_no_value(tally, r);
	else if (VCLOCK_UNLIKELY(timeval_ns(&tv) < k1) && stands_still(b, row, k1, timeval_ns(&tv)))
		tally_excused(tally);
	else
		tally_bracket(tally, k1, timeval_ns(&tv), k2);
}

static void read_now(const struct bracket *b, const struct row *row, struct tally *tally)
{
	int64_t k1 = oracle_read(b->kernel, row->clk), k2;
	struct vclock_timespec real, mono;
	int r = b->subject->now(b->subject, &real, &mono);

	k2 = oracle_read(b->kernel, row->clk);
	if (r == 0 && !(is_whole(&real) && is_whole(&mono)))
		r = -ERANGE;
	if (r != 0)
		tally_no_value(tally, r);
	else if (row->kind == ROW_NOW)
		judge_timespec(b, row, tally, k1, row->clk == VCLOCK_REALTIME ? &real : &mono, k2);
	else
		/* Each is cut to ns on its own, so the difference may be off by one. */
		tally_bracket(tally, b->real_minus_mono_ns - 1, oracle_ns(&real) - oracle_ns(&mono),
			      b->real_minus_mono_ns + 1);
}

static void read_stamp(const struct bracket *b, const struct row *row, struct tally *tally)
{
	int64_t k1 = oracle_read(b->kernel, row->clk), k2;
	uint64_t ns;
	int r = b->subject->stamp(b->subject, row->clk, &ns);

	k2 = oracle_read(b->kernel, row->clk);
	if (r == 0)
		tally_bracket(tally, k1, (int64_t)ns, k2);
	else
		tally_no_value(tally, r);
}

static void read_batch(const struct bracket *b, const struct row *row, struct tally *tally)
{
	static void (*const reads[])(const struct bracket *, const struct row *, struct tally *) = {
		[ROW_CLOCK] = read_clock, [ROW_TIMEOFDAY] = read_timeofday,
		[ROW_NOW] = read_now,	  [ROW_NOW_DIFFERENCE] = read_now,
		[ROW_STAMP] = read_stamp,
	};
	uint64_t before = suite_fallbacks(b->subject);
	int i;

	for (i = 0; i < BATCH; i++) {
		/* Who judges may come when the page says something else. */
		tally_look_at_error(tally, tally_stated_error_ns(b->subject));
		reads[row->kind](b, row, tally);
	}
	tally->fallbacks += suite_fallbacks(b->subject) - before;
}

static bool has_row(const struct check_run *run, const struct check_subject *subject,
		    const struct row *row)
{
	if (!suite_wants(run, subject, (uint32_t)row->clk))
		return false;
	switch (row->kind) {
	case ROW_CLOCK:
		return subject->gettime != NULL;
	case ROW_TIMEOFDAY:
		return subject->gettimeofday != NULL;
	case ROW_NOW:
		return subject->now != NULL;
	case ROW_NOW_DIFFERENCE:
		return subject->now != NULL && subject->now_is_exact;
	case ROW_STAMP:
		return subject->stamp != NULL;
	}
	return false;
}

/* A clock that the kernel itself refuses (seccomp) cannot be judged by it. */
static void choose_rows(struct bracket *b, const struct check_run *run)
{
	unsigned i;

	for (i = 0; i < sizeof(all_rows) / sizeof(all_rows[0]); i++) {
		if (!has_row(run, b->subject, &all_rows[i]) ||
		    oracle_read(b->kernel, all_rows[i].clk) < 0)
			continue;
		tally_init(&b->tally[b->count], b->subject);
		if (all_rows[i].kind != ROW_NOW_DIFFERENCE)
			b->tally[b->count].clk = all_rows[i].clk;
		b->row[b->count++] = &all_rows[i];
	}
}

static bool is_done(const struct bracket *b, const struct check_run *run)
{
	unsigned i;

	for (i = 0; i < b->count; i++)
		if (run->reads == 0 || b->tally[i].reads < run->reads)
			return false;
	return true;
}

static void run_block(struct bracket *b, struct check_run *run, uint64_t end_ns)
{
	uint64_t begin = oracle_now_ns(), block_end = begin + BLOCK_NS;
	unsigned i;
	bool rate, wall;

	b->real_minus_mono_ns = run->steady.real_minus_mono_ns;
	for (i = 0; i < b->count; i++)
		tally_block_begin(&b->tally[i]);
	if (block_end > end_ns)
		block_end = end_ns;
	do {
		for (i = 0; i < b->count; i++)
			if (run->reads == 0 || b->tally[i].reads < run->reads)
				read_batch(b, b->row[i], &b->tally[i]);
	} while (!is_done(b, run) && oracle_now_ns() < block_end);
	check_steady_look(&run->steady);
	rate = b->subject->page == NULL || steady_rate(&run->steady, begin);
	wall = steady_wall(&run->steady, begin);
	for (i = 0; i < b->count; i++)
		tally_block_end(&b->tally[i], rate, b->row[i]->is_wall && !wall);
}

void suite_bracket(struct check_run *run, const struct check_subject *subject)
{
	static struct bracket b;
	struct check_result result;
	uint64_t end = oracle_now_ns() + run->time_ns;
	unsigned i;

	memset(&b, 0, sizeof(b));
	b.subject = subject;
	b.kernel = oracle_for(run, subject);
	choose_rows(&b, run);
	if (b.count == 0) {
		tally_impossible(run, "bracket", subject, "the kernel's own clocks are refused");
		return;
	}
	check_steady_look(&run->steady);
	do
		run_block(&b, run, end);
	while (!is_done(&b, run) && oracle_now_ns() < end);
	for (i = 0; i < b.count; i++) {
		tally_result(&b.tally[i], &result);
		tally_report(run, "bracket", subject, b.row[i]->name, &result);
	}
}
