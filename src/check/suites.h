/* SPDX-License-Identifier: MIT */
/*
 * suites.h - one function for each suite; the table of them is in suites.c.
 */
#ifndef SUITES_H
#define SUITES_H

#include "check/check.h"

void suite_bracket(struct check_run *run, const struct check_subject *subject);
void suite_causality(struct check_run *run, const struct check_subject *subject);
void suite_monotonicity(struct check_run *run, const struct check_subject *subject);
void suite_resolution(struct check_run *run, const struct check_subject *subject);
void suite_getres(struct check_run *run, const struct check_subject *subject);
void suite_errors(struct check_run *run, const struct check_subject *subject);
void suite_fork(struct check_run *run, const struct check_subject *subject);
void suite_coarse(struct check_run *run, const struct check_subject *subject);
void suite_skew(struct check_run *run, const struct check_subject *subject);

/* Whether the run wants clk, and the subject has it. */
static inline bool suite_wants(const struct check_run *run, const struct check_subject *subject,
			       uint32_t clk)
{
	uint32_t wanted = run->clocks != 0 ? run->clocks : ~0u;

	return (subject->clocks & wanted & VCLOCK_BIT(clk)) != 0;
}

static inline uint64_t suite_fallbacks(const struct check_subject *subject)
{
	return subject->fallbacks != NULL ? subject->fallbacks(subject) : 0;
}

/* xorshift32; the state is never 0. */
static inline uint32_t suite_random(uint32_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return *state;
}

#endif /* SUITES_H */
