/* SPDX-License-Identifier: MIT */
/*
 * support_byo.h - a timekeeper of a test's own, on a counter of its own, for <vclock/publish.h>.
 *
 * The clock is exact: ns = origin + (cyc - origin_cyc) * 10^9 / hz, slowed or sped up by ppm.
 */
#ifndef SUPPORT_BYO_H
#define SUPPORT_BYO_H

#include "vclock/publish.h"

#include <stdbool.h>
#include <stdint.h>

struct byo {
	struct vclock_page page __attribute__((aligned(64)));
	struct vclock_page_config config;
	struct vclock_timekeeper tk;
	uint64_t hz;
	uint64_t cyc;	   /* the counter, now */
	uint64_t look_cyc; /* added to the counter by every look at it */
	unsigned looks;
};

/* hz, interval 10 ms, ahead 10 ms; the page is initialised, nothing is published. The clock stands
 * at mono_sec.mono_nsec, REALTIME at real_sec + the same ns. */
void byo_init(struct byo *byo, uint64_t hz, uint64_t cyc, int64_t mono_sec, uint32_t mono_nsec,
	      int64_t real_sec);

/* The counter goes on; the clock with it, at the timekeeper's rate. */
void byo_advance_ns(struct byo *byo, uint64_t ns);

/* The timekeeper's line, restated at the counter's value now, exact to 2^-shift ns. */
void byo_restate(struct byo *byo);

/* Restates the line and updates the page. */
int byo_update(struct byo *byo);

/* The counter goes on to when the next update is due: a little after the newest line began. */
void byo_next(struct byo *byo);

/* Updates when they are due. Returns the first result that is not 0. */
int byo_run(struct byo *byo, unsigned updates);

/* What the timekeeper's line says of clk at cyc, in ns rounded down, with 128-bit arithmetic. */
int64_t byo_true_ns(const struct byo *byo, uint32_t clk, uint64_t cyc);

/* What a line on a page says, from its fields with 128-bit arithmetic. */
int64_t byo_line_ns(const struct vclock_page *page, const struct vclock_line *line, uint32_t clk,
		    uint64_t cyc);

/* vclock_read_at() as ns; INT64_MIN when the page does not answer. */
int64_t byo_read_ns(const struct vclock_page *page, uint64_t cyc, uint32_t clk);

const struct vclock_slot *byo_live(const struct byo *byo);

#endif /* SUPPORT_BYO_H */
