/* SPDX-License-Identifier: MIT */
/*
 * tally.c - from counts to a verdict. It must never turn "nothing was read" or "nothing came from
 * the page" into a pass.
 */
#include "check/tally.h"

#include "check/oracle.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "publish/page_check.h"
#include "vclock/read.h"

void tally_init(struct tally *tally, const struct check_subject *subject)
{
	memset(tally, 0, sizeof(*tally));
	tally->subject = subject;
	tally->clk = TALLY_NO_CLOCK;
	tally->below_min_ns = INT64_MAX;
	tally->above_min_ns = INT64_MAX;
}

void tally_block_begin(struct tally *tally)
{
	tally->block_is_void = false;
	tally->block_error_ns = tally_stated_error_ns(tally->subject);
	tally->block_outside = 0;
	tally->block_beyond = 0;
	tally->block_excused = 0;
	tally->block_worst_ns = 0;
}

static int64_t magnitude(int64_t value)
{
	return value < 0 ? -value : value;
}

/* Whether `newer` starts where `older` ends. */
static bool abuts(const struct vclock_line *older, const struct vclock_line *newer)
{
	return older->start_cyc + older->length_cyc == newer->start_cyc;
}

/* Lines are looked at from the newest back; a page with fewer than ten ended ones is just begun. */
static bool has_gap(const struct vclock_page *page)
{
	const struct vclock_slot *slot = &page->slot[page->generation & 1];
	const struct vclock_line *newer = &slot->line[0], *older;
	uint32_t n;

	if (slot->history_count < VCLOCK_HISTORY - 1 || !abuts(&slot->line[0], &slot->line[1]))
		return true;
	for (n = 1; n < VCLOCK_HISTORY; n++) {
		older = &page->history[(slot->history_count - n) % VCLOCK_HISTORY];
		if (!abuts(older, newer))
			return true;
		newer = older;
	}
	return false;
}

static int64_t line_ns(const struct vclock_page *page, const struct vclock_line *line, int32_t clk,
		       uint32_t delta)
{
	int64_t sec;
	uint32_t nsec;

	vclock_line_value(line, (uint32_t)clk, delta, page->shift & 63, &sec, &nsec);
	return sec * 1000000000 + nsec;
}

/*
 * Whether v is of a line that has left the page, or of one of the two oldest there: then the line
 * that began after a gap, at v or just before, is not to be seen any more.
 */
static bool has_forgotten(const struct vclock_page *page, int32_t clk, int64_t v)
{
	uint32_t count = page->slot[page->generation & 1].history_count;
	const struct vclock_line *third =
		&page->history[(count - (VCLOCK_HISTORY - 3)) % VCLOCK_HISTORY];

	return vclock_page_has(page, (uint32_t)clk) && v < line_ns(page, third, clk, 0);
}

/* Whether v may be of one of the first two lines after a gap, as far as the page still tells. */
static bool may_be_after_gap(const struct tally *tally, int64_t v)
{
	struct vclock_page copy;

	return tally->subject->page != NULL && page_copy(tally->subject->page, &copy) == 0 &&
	       (has_gap(&copy) || has_forgotten(&copy, tally->clk, v));
}

static int64_t clamp_ns(const struct vclock_page *page)
{
	uint32_t generation = VCLOCK_LOAD32(&page->generation);
	uint64_t clamp = VCLOCK_LOAD32(&page->slot[generation & 1].clamp_cyc);

	return page->counter_hz == 0 ? 0 : (int64_t)(clamp * 1000000000u / page->counter_hz);
}

/* Two reads in a row are nearer than half a clamp, but for an interruption. */
bool tally_stands_still(const struct vclock_page *page, int64_t floor, int64_t v, int r,
			int64_t next)
{
	int64_t limit = clamp_ns(page);

	if (floor - v > limit || (r != 0 && r != CHECK_UNCOVERED))
		return false;
	return r == CHECK_UNCOVERED || next == v || (next >= floor && next - v > limit / 2);
}

static bool ends_with(const struct vclock_page *page, const struct vclock_line *line, int32_t clk,
		      int64_t v)
{
	return line->length_cyc != 0 && line_ns(page, line, clk, line->length_cyc) == v;
}

/* Whether v is the very value that a steady clock had where a line ended. */
static bool is_end(const struct vclock_page *page, int32_t clk, int64_t v)
{
	const struct vclock_slot *slot = &page->slot[page->generation & 1];
	uint32_t n;

	if (!vclock_page_has(page, (uint32_t)clk) || (VCLOCK_BIT(clk) & VCLOCK_STEADY_CLOCKS) == 0)
		return false;
	for (n = 1; n < VCLOCK_HISTORY && n <= slot->history_count; n++)
		if (ends_with(page, &page->history[(slot->history_count - n) % VCLOCK_HISTORY], clk,
			      v))
			return true;
	return ends_with(page, &slot->line[0], clk, v) || ends_with(page, &slot->line[1], clk, v);
}

/* A line that the writer was just in time with has an end too, and goes on from it: the next read
 * tells nothing then. */
bool tally_clock_stands_still(const struct check_subject *subject, int32_t clk, int64_t floor,
			      int64_t v)
{
	struct vclock_timespec ts = {0, 0};
	struct vclock_page copy;
	int r;

	if (subject->page == NULL)
		return false;
	if (page_copy(subject->page, &copy) == 0 && is_end(&copy, clk, v))
		return floor - v <= clamp_ns(&copy);
	r = subject->gettime(subject, clk, &ts);
	return tally_stands_still(subject->page, floor, v, r, oracle_ns(&ts));
}

uint32_t tally_stated_error_ns(const struct check_subject *subject)
{
	const struct vclock_page *page = subject->page;

	if (page == NULL)
		return 0;
	return VCLOCK_LOAD32(&page->slot[VCLOCK_LOAD32(&page->generation) & 1].error_ns);
}

bool tally_outside(struct tally *tally, int64_t v, int64_t distance_ns)
{
	tally_look_at_error(tally, tally_stated_error_ns(tally->subject));
	if (magnitude(distance_ns) > tally->block_error_ns)
		tally->block_beyond++;
	else if (may_be_after_gap(tally, v)) {
		tally->block_excused++;
		return false;
	}
	tally->block_outside++;
	if (magnitude(distance_ns) > magnitude(tally->block_worst_ns)) {
		tally->block_worst_ns = distance_ns;
		tally->block_worst_cpu = sched_getcpu();
	}
	return true;
}

void tally_excused(struct tally *tally)
{
	tally->reads++;
	tally->block_excused++;
}

void tally_no_value(struct tally *tally, int r)
{
	tally->reads++;
	if (r == CHECK_UNCOVERED) {
		tally->uncovered++;
		return;
	}
	if (tally->errors++ == 0)
		tally->first_error = r;
}

void tally_block_end(struct tally *tally, bool is_steady, bool is_void)
{
	uint64_t count = tally->block_outside;

	is_void |= tally->block_is_void;
	if (!is_steady)
		count = magnitude(tally->block_worst_ns) > tally->block_error_ns
				? tally->block_beyond
				: 0;
	tally->blocks++;
	tally->steady += is_steady && !is_void;
	if (tally->block_error_ns > tally->error_ns)
		tally->error_ns = tally->block_error_ns;
	if (!is_void) {
		tally->violations += count;
		tally->excused += tally->block_excused + tally->block_outside - count;
	}
	if (!is_void && count > 0 &&
	    magnitude(tally->block_worst_ns) > magnitude(tally->worst_ns)) {
		tally->worst_ns = tally->block_worst_ns;
		tally->worst_cpu = tally->block_worst_cpu;
	}
	tally_block_begin(tally);
}

/* The distance that one read in a million stays below. */
static int64_t ppm_quantile(const uint64_t *bins, uint64_t total)
{
	uint64_t sum = 0, limit = total / 1000000;
	int64_t i;

	for (i = 0; i < CHECK_MARGIN_NS; i++) {
		sum += bins[i];
		if (sum > limit)
			break;
	}
	return i;
}

static void count_routes(const struct tally *tally, struct check_result *result)
{
	const struct check_subject *subject = tally->subject;
	uint64_t answered = tally->reads - tally->errors;
	uint64_t other = tally->uncovered + tally->fallbacks;
	uint64_t *by[] = {[VCLOCK_ROUTE_SYSCALL] = &result->by_syscall,
			  [VCLOCK_ROUTE_VDSO] = &result->by_vdso,
			  [VCLOCK_ROUTE_PAGE] = &result->by_page};

	/* Calls that other threads made count as fallbacks too; never more than all. */
	if (other > answered)
		other = answered;
	*by[subject->fallback_route] += other;
	*by[subject->route] += answered - other;
}

static void judge(const struct tally *tally, struct check_result *result)
{
	bool is_page = tally->subject->route == VCLOCK_ROUTE_PAGE;

	result->verdict = CHECK_FAIL;
	if (tally->errors > 0)
		snprintf(result->note, sizeof(result->note), "%llu calls failed, the first with %s",
			 (unsigned long long)tally->errors, strerror(-tally->first_error));
	else if (tally->reads == 0)
		snprintf(result->note, sizeof(result->note), "nothing was read");
	else if (tally->violations > 0)
		snprintf(result->note, sizeof(result->note), "worst on cpu %d", tally->worst_cpu);
	else if (is_page && result->by_page * 100 < tally->reads * 95)
		snprintf(result->note, sizeof(result->note), "only %llu %% came from the page",
			 (unsigned long long)(result->by_page * 100 / tally->reads));
	else if ((uint64_t)tally->steady * 10 < (uint64_t)tally->blocks * 9) {
		result->verdict = CHECK_UNSTEADY;
		snprintf(result->note, sizeof(result->note),
			 "the kernel's clock was being steered or set in %u of %u blocks",
			 tally->blocks - tally->steady, tally->blocks);
	} else
		result->verdict = CHECK_PASS;
}

void tally_result(const struct tally *tally, struct check_result *ret_result)
{
	memset(ret_result, 0, sizeof(*ret_result));
	ret_result->reads = tally->reads;
	ret_result->outside = tally->violations;
	ret_result->worst_ns = tally->worst_ns;
	ret_result->wide = tally->wide;
	ret_result->blocks = tally->blocks;
	ret_result->steady = tally->steady;
	ret_result->error_ns = tally->error_ns;
	ret_result->excused = tally->excused;
	if (tally->bracketed > 0) {
		ret_result->has_margins = true;
		ret_result->below.min_ns = tally->below_min_ns;
		ret_result->above.min_ns = tally->above_min_ns;
		ret_result->below.ppm_ns = ppm_quantile(tally->below, tally->bracketed);
		ret_result->above.ppm_ns = ppm_quantile(tally->above, tally->bracketed);
	}
	count_routes(tally, ret_result);
	judge(tally, ret_result);
}

void tally_report(struct check_run *run, const char *suite, const struct check_subject *subject,
		  const char *clock, struct check_result *result)
{
	result->suite = suite;
	result->subject = subject->name;
	snprintf(result->clock, sizeof(result->clock), "%s", clock);
	run->report(run->report_arg, result);
}

void tally_impossible(struct check_run *run, const char *suite, const struct check_subject *subject,
		      const char *why)
{
	struct check_result result = {.verdict = CHECK_IMPOSSIBLE};

	snprintf(result.note, sizeof(result.note), "%s", why);
	tally_report(run, suite, subject, "-", &result);
}

const char *tally_clock_name(int32_t clk, char *buffer)
{
	static const char *const names[] = {"REALTIME",
					    "MONOTONIC",
					    "PROCESS_CPUTIME",
					    "THREAD_CPUTIME",
					    "MONOTONIC_RAW",
					    "REALTIME_COARSE",
					    "MONOTONIC_COARSE",
					    "BOOTTIME",
					    "REALTIME_ALARM",
					    "BOOTTIME_ALARM",
					    NULL,
					    "TAI"};

	if (clk >= 0 && clk < (int32_t)VCLOCK_BASES && names[clk] != NULL)
		return names[clk];
	snprintf(buffer, 24, "clock %ld", (long)clk);
	return buffer;
}
