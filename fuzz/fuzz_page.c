/* SPDX-License-Identifier: MIT */
/*
 * fuzz_page.c - any bytes as a page: what the opener looks at, and every reader.
 *
 * No crash and no hang whatever they are. Of a page that page_check() lets through every answer is
 * what the page's own lines say at that counter value, worked out here by itself in 128 bits; and
 * where they say nothing there is no answer. A broken promise aborts; sanitizers do the rest.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "publish/page_check.h"
#include "support_wide.h"
#include "vclock/read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Those of a page, and ids beyond. */
static const uint32_t clocks[] = {
	VCLOCK_REALTIME,       VCLOCK_MONOTONIC,      VCLOCK_MONOTONIC_RAW, VCLOCK_BOOTTIME,
	VCLOCK_REALTIME_ALARM, VCLOCK_BOOTTIME_ALARM, VCLOCK_TAI,	    VCLOCK_REALTIME_COARSE,
	VCLOCK_BASES,	       VCLOCK_REALTIME + 32,  UINT32_MAX,
};
#define CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

static _Alignas(64) struct vclock_page page;

static void broken(const char *what, uint32_t clk, uint64_t cyc)
{
	fprintf(stderr, "fuzz_page: %s: clock %u at %llu\n", what, clk, (unsigned long long)cyc);
	abort();
}

/* Floored nanoseconds of a line after delta cycles, in 128 bits. */
static struct vclock_timespec value_at(const struct vclock_line *line, uint32_t clk, uint32_t delta)
{
	uint32_t mult = line->mult[clk == VCLOCK_MONOTONIC_RAW];
	struct wide fns = wide_add(wide_mul(delta, mult), line->base[clk].fns);
	struct vclock_timespec ts;
	uint64_t rest;

	ts.tv_sec = line->base[clk].sec +
		    (int64_t)wide_div(wide_shr(fns, page.shift), VCLOCK_NSEC_PER_SEC, &rest).lo;
	ts.tv_nsec = (int64_t)rest;
	return ts;
}

static bool covers(const struct vclock_line *line, uint64_t cyc)
{
	return cyc - line->start_cyc < line->length_cyc;
}

/* What the live slot says; NULL: nothing. */
static const struct vclock_line *line_at(uint64_t cyc, uint32_t clk, uint32_t *ret_delta)
{
	const struct vclock_slot *slot = &page.slot[page.generation & 1];
	const struct vclock_line *line;
	int i;

	for (i = 0; i < 2; i++) {
		*ret_delta = (uint32_t)(cyc - slot->line[i].start_cyc);
		if (covers(&slot->line[i], cyc))
			return &slot->line[i];
	}
	for (i = 1; i >= 0 && (VCLOCK_BIT(clk) & VCLOCK_STEADY_CLOCKS) != 0; i--) {
		line = &slot->line[i];
		*ret_delta = line->length_cyc;
		if (line->length_cyc != 0 &&
		    cyc - (line->start_cyc + line->length_cyc) < slot->clamp_cyc)
			return line;
	}
	return NULL;
}

static bool is_on_page(uint32_t clk)
{
	return page.generation != 0 && clk < VCLOCK_BASES &&
	       (VCLOCK_PAGE_CLOCKS & VCLOCK_BIT(clk)) != 0;
}

static void hold(uint32_t clk, uint64_t cyc, int r, const struct vclock_timespec *got)
{
	const struct vclock_line *line = NULL;
	struct vclock_timespec want;
	uint32_t delta;

	if (is_on_page(clk))
		line = line_at(cyc, clk, &delta);
	if ((r == 0) != (line != NULL))
		broken(r == 0 ? "an answer out of nothing" : "no answer", clk, cyc);
	if (line == NULL)
		return;
	want = value_at(line, clk, delta);
	if (got->tv_sec != want.tv_sec || got->tv_nsec != want.tv_nsec)
		broken("not what the line says", clk, cyc);
}

/* The live lines, then history from the youngest, but for the oldest entry. */
static const struct vclock_line *stamp_line(uint64_t cyc)
{
	const struct vclock_slot *slot = &page.slot[page.generation & 1];
	const struct vclock_line *line;
	uint32_t n;

	for (n = 0; n < 2; n++)
		if (covers(&slot->line[n], cyc))
			return &slot->line[n];
	for (n = 1; n <= slot->history_count && n < VCLOCK_HISTORY; n++) {
		line = &page.history[(slot->history_count - n) % VCLOCK_HISTORY];
		if (covers(line, cyc))
			return line;
	}
	return NULL;
}

static void hold_stamp(uint32_t clk, uint64_t cyc, int r, uint64_t got)
{
	const struct vclock_line *line = is_on_page(clk) ? stamp_line(cyc) : NULL;
	struct vclock_timespec want;

	if ((r == 0) != (line != NULL))
		broken(r == 0 ? "a stamp out of nothing" : "no stamp", clk, cyc);
	if (line == NULL)
		return;
	want = value_at(line, clk, (uint32_t)(cyc - line->start_cyc));
	if (got != (uint64_t)want.tv_sec * VCLOCK_NSEC_PER_SEC + (uint64_t)want.tv_nsec)
		broken("a stamp that is not what the line says", clk, cyc);
}

static void read_at(uint64_t cyc, bool is_accepted)
{
	struct vclock_timespec ts = {0, 0};
	uint64_t ns = 0;
	size_t i;
	int r;

	for (i = 0; i < CLOCKS; i++) {
		r = vclock_read_at(&page, cyc, clocks[i], &ts);
		if (is_accepted)
			hold(clocks[i], cyc, r, &ts);
	}
	/* One of each rate. */
	for (i = VCLOCK_MONOTONIC; i <= VCLOCK_MONOTONIC_RAW; i++) {
		r = vclock_read_stamp(&page, cyc, (uint32_t)i, &ns);
		if (is_accepted)
			hold_stamp((uint32_t)i, cyc, r, ns);
	}
}

/* Both ends of a line, a cycle before and after, and the end of the stand-still. */
static void read_around(const struct vclock_line *line, uint32_t clamp_cyc, bool is_accepted)
{
	uint64_t end = line->start_cyc + line->length_cyc;
	int i;

	for (i = -1; i <= 1; i++) {
		read_at(line->start_cyc + (uint64_t)i, is_accepted);
		read_at(end + (uint64_t)i, is_accepted);
		read_at(end + clamp_cyc + (uint64_t)i, is_accepted);
	}
	read_at(line->start_cyc + line->length_cyc / 2, is_accepted);
}

static bool is_before(const struct vclock_timespec *a, const struct vclock_timespec *b)
{
	return a->tv_sec != b->tv_sec ? a->tv_sec < b->tv_sec : a->tv_nsec < b->tv_nsec;
}

/* A read of the counter lies between two others, and so does the time, while one line covers all
 * of it. */
static void hold_now(uint32_t clk, uint64_t before, uint64_t after,
		     const struct vclock_timespec *got)
{
	const struct vclock_line *first, *last;
	struct vclock_timespec low, high;
	uint32_t from, to;

	first = line_at(before, clk, &from);
	last = line_at(after, clk, &to);
	if (first == NULL || first != last || !covers(first, before) || !covers(first, after))
		return;
	low = value_at(first, clk, from);
	high = value_at(first, clk, to);
	if (is_before(got, &low) || is_before(&high, got))
		broken("not the time of now", clk, before);
}

static void read_now(bool is_accepted)
{
	struct vclock_timespec ts, mono;
	uint64_t before, ns;
	size_t i;
	int r;

	for (i = 0; i < CLOCKS; i++) {
		before = vclock_counter_ordered();
		r = vclock_read_timespec(&page, clocks[i], &ts);
		if (r == 0 && is_accepted)
			hold_now(clocks[i], before, vclock_counter_ordered(), &ts);
		(void)vclock_read_ns(&page, clocks[i], &ns);
		(void)vclock_read_ns_unordered(&page, clocks[i], &ns);
	}
	before = vclock_counter_ordered();
	r = vclock_read_now(&page, &ts, &mono);
	if (r == 0 && is_accepted) {
		hold_now(VCLOCK_REALTIME, before, vclock_counter_ordered(), &ts);
		hold_now(VCLOCK_MONOTONIC, before, vclock_counter_ordered(), &mono);
	}
}

/* Moves the live lines to where the counter is, so that readers of now have an answer. */
static void move_to_now(struct vclock_slot *slot)
{
	uint64_t by =
		vclock_counter_ordered() - slot->line[0].length_cyc / 2 - slot->line[0].start_cyc;

	slot->line[0].start_cyc += by;
	slot->line[1].start_cyc += by;
}

static void read_all(void)
{
	struct vclock_slot *slot = &page.slot[page.generation & 1];
	bool is_accepted = page_check(&page) == 0;
	static struct vclock_page copy;

	if (page_copy(&page, &copy) != 0 || memcmp(&copy, &page, sizeof(page)) != 0)
		broken("a copy that differs", 0, 0);
	read_around(&slot->line[0], slot->clamp_cyc, is_accepted);
	read_around(&slot->line[1], slot->clamp_cyc, is_accepted);
	read_around(&page.history[slot->history_count % VCLOCK_HISTORY], 0, is_accepted);
	read_around(&page.history[(slot->history_count - 1) % VCLOCK_HISTORY], 0, is_accepted);
	read_at(0, is_accepted);
	read_at(slot->published_cyc, is_accepted);
	move_to_now(slot);
	read_now(is_accepted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct vclock_page empty;

	page = empty;
	memcpy(&page, data, size < sizeof(page) ? size : sizeof(page));
	read_all();
	/* With a head that passes, so that more bytes get to the lines. */
	page.magic = VCLOCK_PAGE_MAGIC;
	page.version = VCLOCK_PAGE_VERSION;
	page.size = VCLOCK_PAGE_SIZE;
	page.shift %= VCLOCK_SHIFT_MAX + 1;
	page.counter_kind = VCLOCK_COUNTER_KIND;
	page.counter_hz = 1000000000;
	page.interval_ns = page.ahead_ns = page.coarse_ns = 0;
	read_all();
	return 0;
}
