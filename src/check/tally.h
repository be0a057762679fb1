/* SPDX-License-Identifier: MIT */
/*
 * tally.h - counts reads against their brackets, and turns the counts into a verdict.
 *
 * The bracket rule: k1 = kernel, v = subject, k2 = kernel, read in this order by one thread;
 * k1 <= v <= k2. No allowance is made for truncation: all three are the floor of a time in ns, and
 * the floor keeps the order. Interrupted and preempted reads have wide brackets, and no others.
 *
 * A page may lie outside by its stated error, and by no more, in two cases: while the kernel's rate
 * changes (steady.h), and on the first lines after its writer came late, since such a line starts
 * above all that the kernel can have given out meanwhile. And it may stand still for some 40 us
 * while it has no line. Those reads are excused, and counted. So are those of a reader that was
 * held up before it came here, until the page had forgotten which lines there were.
 */
#ifndef TALLY_H
#define TALLY_H

#include "check/check.h"

#define TALLY_NO_CLOCK (-1)

struct tally {
	const struct check_subject *subject;
	int32_t clk; /* whose times come next; TALLY_NO_CLOCK: values that are no clock's */
	uint64_t reads, uncovered, fallbacks, errors;
	uint64_t violations, wide;
	int64_t worst_ns;
	int worst_cpu;
	int first_error; /* of the subject: -errno */
	uint32_t blocks, steady;
	uint32_t error_ns; /* the largest one that anything was judged by */
	uint64_t excused;
	/* The block that runs. */
	bool block_is_void;
	uint32_t block_error_ns; /* the largest one stated */
	uint64_t block_outside;	 /* by the bracket rule, or by the error after a gap */
	uint64_t block_beyond;	 /* outside by more than the error */
	uint64_t block_excused;	 /* outside by less, after a gap */
	int64_t block_worst_ns;
	int block_worst_cpu;
	/* By distance to the bracket's ends; without what was excused. */

	int64_t below_min_ns, above_min_ns;
	uint64_t bracketed;
	uint64_t below[CHECK_MARGIN_NS + 1], above[CHECK_MARGIN_NS + 1];
};

/* clk is TALLY_NO_CLOCK until the caller sets it. */
void tally_init(struct tally *tally, const struct check_subject *subject);

void tally_block_begin(struct tally *tally);
/*
 * Judges the block: everything outside is a violation where it was steady, what is farther than the
 * error where it was not, and nothing where the clock itself was stepped (is_void).
 */
void tally_block_end(struct tally *tally, bool is_steady, bool is_void);

/*
 * A page whose writer is late stands still at its last line's end for clamp_cyc, some 40 us, and
 * then leaves for the kernel. Whether v, below floor, is such a value: the next read of the same
 * thing returned r and next, the same again, or, the time being over, what the kernel says.
 */
bool tally_stands_still(const struct vclock_page *page, int64_t floor, int64_t v, int r,
			int64_t next);

/*
 * The same of one clock of the subject: v is what a line of its page ends with, or the clock, read
 * once more, tells. Always false without a page.
 */
bool tally_clock_stands_still(const struct check_subject *subject, int32_t clk, int64_t floor,
			      int64_t v);

/* The error that the subject's page states now; 0 without one. */
uint32_t tally_stated_error_ns(const struct check_subject *subject);

/* Keeps the largest stated error of the block. Call it more often than lines change. */
static inline void tally_look_at_error(struct tally *tally, uint32_t error_ns)
{
	if (error_ns > tally->block_error_ns)
		tally->block_error_ns = error_ns;
}

/* v: what was read; distance_ns: how far outside, negative for below. False: excused. */
bool tally_outside(struct tally *tally, int64_t v, int64_t distance_ns);
/* A read outside that was in the page's right. */
void tally_excused(struct tally *tally);
/* What gettime and its kin returned, when it was not 0. */
void tally_no_value(struct tally *tally, int r);

static inline void tally_bracket(struct tally *tally, int64_t k1, int64_t v, int64_t k2)
{
	int64_t below = v - k1, above = k2 - v;

	tally->reads++;
	tally->wide += k2 - k1 > 1000;
	if (VCLOCK_UNLIKELY(below < 0 || above < 0)) {
		/* Only a step of the clock itself makes the kernel's own reads go back. */
		if (k2 < k1)
			tally->block_is_void = true;
		if (k2 < k1 || !tally_outside(tally, v, below < 0 ? below : -above))
			return;
	}
	tally->bracketed++;
	if (below < tally->below_min_ns)
		tally->below_min_ns = below;
	if (above < tally->above_min_ns)
		tally->above_min_ns = above;

	tally->below[below < 0 ? 0 : below > CHECK_MARGIN_NS ? CHECK_MARGIN_NS : below]++;
	tally->above[above < 0 ? 0 : above > CHECK_MARGIN_NS ? CHECK_MARGIN_NS : above]++;
}

/* Fills everything but suite, subject and clock from the tally, with its verdict and a note. */
void tally_result(const struct tally *tally, struct check_result *ret_result);

/* Names the row and hands it to the run's report. */
void tally_report(struct check_run *run, const char *suite, const struct check_subject *subject,
		  const char *clock, struct check_result *result);

/* A row that says why a suite cannot run here. */
void tally_impossible(struct check_run *run, const char *suite, const struct check_subject *subject,
		      const char *why);

/* "MONOTONIC"; "clock 17" for others. buffer: 24 bytes. */
const char *tally_clock_name(int32_t clk, char *buffer);

#endif /* TALLY_H */
