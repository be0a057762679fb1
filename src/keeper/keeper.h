/* SPDX-License-Identifier: MIT */
/*
 * keeper.h - from samples of a clock to a line through it. Pure arithmetic.
 *
 * A sample says: the clock showed ns at some counter value within a bracket. The keeper holds a
 * window of them, gets the rate from its outer thirds and the offset from its newest eight, and
 * starts the window anew when a sample cannot lie on the line: the rate has changed. No system
 * calls, no floats, no allocation, no clock of its own.
 */
#ifndef KEEPER_H
#define KEEPER_H

#include <stdbool.h>
#include <stdint.h>

#define KEEPER_WINDOW 64u
/* Rates are ns per cycle << 40: 2^60 for a 1 kHz counter, and 10^-11 of a 10 GHz one's. */
#define KEEPER_RATE_SHIFT 40u
/* A rate that differs from nominal by more is not followed (design, 3.8). */
#define KEEPER_RATE_LIMIT_PPM 110000u

/* The clock was in [ns, ns + 1) at a counter value in [before_cyc, after_cyc]. */
struct keeper_bracket {
	uint64_t before_cyc;
	uint64_t after_cyc;
	uint64_t ns;
};

/* clock(cyc) = ns + frac / 2^32 + (cyc - this.cyc) * rate / 2^40, either way from cyc. */
struct keeper_line {
	uint64_t cyc;
	uint64_t ns;
	uint64_t rate;
	uint32_t frac;
};

enum keeper_verdict {
	KEEPER_STEADY = 0,  /* the sample lies on the line */
	KEEPER_CHANGED = 1, /* it does not: another rate; the window was started anew */
	KEEPER_JUMPED =
		2, /* no rate explains it: counter or clock jumped; only this sample is left */
	KEEPER_REJECTED = 3 /* too wide a bracket to say anything; not taken */
};

struct keeper_sample {
	uint64_t cyc; /* middle of the bracket */
	uint64_t ns;
};

struct keeper_clock {
	struct keeper_sample sample[KEEPER_WINDOW]; /* ring, newest at (head - 1) */
	uint32_t head;
	uint32_t count;
	uint32_t width_cyc;	  /* the narrowest bracket of late */
	uint32_t rejected;	  /* wide brackets in a row */
	uint32_t rate_change_ppb; /* size of the last change, set by KEEPER_CHANGED */
	bool is_mixed; /* the window is two samples, and the rate may have changed between them */
	struct keeper_line line; /* valid when count >= 2 */
};

void keeper_clock_reset(struct keeper_clock *clock);

/* Takes a sample in. The line is new afterwards unless KEEPER_REJECTED. */
enum keeper_verdict keeper_clock_add(struct keeper_clock *clock,
				     const struct keeper_bracket *bracket);

/* The counter cycles between the oldest and the newest sample. */
uint64_t keeper_clock_span_cyc(const struct keeper_clock *clock);

/* The line's value at cyc in ns, and the rest in 2^-32 ns; saturating at 0 and UINT64_MAX. */
uint64_t keeper_line_at(const struct keeper_line *line, uint64_t cyc, uint32_t *ret_frac);

/* The same, rounded down. */
uint64_t keeper_line_ns(const struct keeper_line *line, uint64_t cyc);

/* rate as a mult for shift <= 33, rounded to nearest; 0 where it does not fit 32 bits. */
uint32_t keeper_rate_to_mult(uint64_t rate, uint32_t shift);

/* |rate - nominal| in parts per 10^9 of nominal, saturating at UINT32_MAX. */
uint32_t keeper_rate_difference_ppb(uint64_t rate, uint64_t nominal);

/*
 * The offset of one clock to another that is constant but for rare jumps, known to lie in [lo, hi]
 * at each sample: BOOTTIME - MONOTONIC.
 */
struct keeper_offset {
	int64_t lo_ns;
	int64_t hi_ns;
	int64_t value_ns;
	uint32_t count;
};

/* Returns true when value_ns is another than before. */
bool keeper_offset_add(struct keeper_offset *offset, int64_t lo_ns, int64_t hi_ns);

#endif /* KEEPER_H */
