/* SPDX-License-Identifier: MIT */
/*
 * suite_resolution.c - the last digits are real nanoseconds: no clock is cut to us or to a tick.
 *
 * What clock_getres says and what steps are seen are two things, and nobody promises that they are
 * equal; both are shown. Judged is only that the remainders of 1000 vary: as much as half as those
 * of the kernel's own clock do, and for a reader of the counter at least somewhat, whatever the
 * kernel has.
 */
#include "check/oracle.h"
#include "check/suites.h"
#include "check/tally.h"

#include <stdio.h>
#include <string.h>

#define READS 6000
/* The slowest counter in use, 10 MHz, gives 10 remainders without a remainder of its own rate. */
#define FINE_MIN 10

struct digits {
	uint8_t seen[1000];
	int distinct;
	int64_t previous_ns, smallest_step_ns;
};

static void digits_add(struct digits *digits, int64_t ns)
{
	int64_t step = ns - digits->previous_ns;

	digits->distinct += !digits->seen[ns % 1000];
	digits->seen[ns % 1000] = 1;
	if (step > 0 && digits->previous_ns != 0 && step < digits->smallest_step_ns)
		digits->smallest_step_ns = step;
	digits->previous_ns = ns;
}

static void run_clock(struct check_run *run, const struct check_subject *subject, int32_t clk)
{
	static struct digits ours, kernels;
	static struct tally tally;
	oracle_gettime kernel = oracle_for(run, subject);
	struct check_result result;
	struct vclock_timespec ts, res = {0, 0};
	uint64_t fallbacks = suite_fallbacks(subject);
	char name[24];
	int i, r, want;

	memset(&ours, 0, sizeof(ours));
	memset(&kernels, 0, sizeof(kernels));
	tally_init(&tally, subject);
	ours.smallest_step_ns = kernels.smallest_step_ns = INT64_MAX;
	for (i = 0; i < READS; i++) {
		r = subject->gettime(subject, clk, &ts);
		if (r == 0) {
			tally.reads++;
			digits_add(&ours, oracle_ns(&ts));
		} else {
			tally_no_value(&tally, r);
		}
		if (kernel(clk, &ts) == 0)
			digits_add(&kernels, oracle_ns(&ts));
	}
	tally.fallbacks = suite_fallbacks(subject) - fallbacks;
	oracle_syscall_getres(clk, &res);
	want = kernels.distinct / 2;
	if (subject->is_fine && want < FINE_MIN)
		want = FINE_MIN;
	/* Judged where the subject answered; a page that did not is a failure of its own. */
	tally.violations = ours.distinct < want && tally.uncovered + tally.fallbacks < READS / 20;
	tally_result(&tally, &result);
	if (result.verdict == CHECK_PASS || tally.violations > 0)
		snprintf(result.note, sizeof(result.note),
			 "%d remainders of 1000 (kernel %d), smallest step %lld ns, getres %lld ns",
			 ours.distinct, kernels.distinct, (long long)ours.smallest_step_ns,
			 (long long)oracle_ns(&res));
	tally_report(run, "resolution", subject, tally_clock_name(clk, name), &result);
}

/* What a reader says of a clock that the kernel does not have is the subject of "errors". */
void suite_resolution(struct check_run *run, const struct check_subject *subject)
{
	oracle_gettime kernel = oracle_for(run, subject);
	uint32_t clk;

	for (clk = 0; clk < VCLOCK_BASES; clk++)
		if (suite_wants(run, subject, clk) && oracle_read(kernel, (int32_t)clk) >= 0)
			run_clock(run, subject, (int32_t)clk);
}
