/* SPDX-License-Identifier: MIT */
/* keeper.c - samples to a line; see keeper.h. Must never divide 64 bits by '/'. */
#include "keeper/keeper.h"

#include "keeper/scale.h"

#include <string.h>

/*
 * How far outside its bracket a sample may be predicted before the rate is held to have changed.
 * The line's own noise is some 2 ns with a full window. With few samples the rate is known less
 * well: a line through two samples that are off by a fifth of a bracket each is off by half of one
 * at the third, and the noise falls with their number: a bracket's width divided by it. A slow
 * counter adds half a cycle of its own.
 */
#define TOLERANCE_NS 8u

/* Brackets up to twice the narrowest of late are taken; after so many wide ones in a row, wide ones
 * too: the clock has become slower to read. What is compared is the doubt that a bracket leaves,
 * which is none where it begins and ends in one cycle of a slow counter. */
#define WIDTH_FACTOR 2u
#define REJECTED_MAX 8u

/* The offset is the mean residual of the newest samples: a power of two, so that no division is
 * needed. */
#define RESIDUALS_LOG2 3u

/* A change of offset that no rate within the limit makes: 25 % of the time since the last sample
 * (twice the limit, for the way from one edge to the other), two brackets, and this much. */
#define JUMP_NS 100000u

void keeper_clock_reset(struct keeper_clock *clock)
{
	memset(clock, 0, sizeof(*clock));
}

static const struct keeper_sample *sample_at(const struct keeper_clock *clock, uint32_t age)
{
	return &clock->sample[(clock->head - 1 - age) % KEEPER_WINDOW];
}

static void sample_push(struct keeper_clock *clock, const struct keeper_sample *sample)
{
	clock->sample[clock->head % KEEPER_WINDOW] = *sample;
	clock->head++;
	if (clock->count < KEEPER_WINDOW)
		clock->count++;
}

/* In 2^-16 ns, so that the fraction counts. */
uint64_t keeper_line_at(const struct keeper_line *line, uint64_t cyc, uint32_t *ret_frac)
{
	bool is_before = cyc < line->cyc;
	uint64_t delta = scale_mul_shr(is_before ? line->cyc - cyc : cyc - line->cyc, line->rate,
				       KEEPER_RATE_SHIFT - 16);
	uint32_t frac = line->frac >> 16, less = (uint32_t)(delta & 0xffff);

	*ret_frac = 0;
	if (!is_before) {
		if (delta > UINT64_MAX / 2)
			return UINT64_MAX;
		delta += frac;
		*ret_frac = (uint32_t)delta << 16;
		return line->ns + (delta >> 16);
	}
	delta = (delta >> 16) + (frac < less);
	if (delta > line->ns)
		return 0;
	*ret_frac = (frac - less) << 16;
	return line->ns - delta;
}

uint64_t keeper_line_ns(const struct keeper_line *line, uint64_t cyc)
{
	uint32_t frac;

	return keeper_line_at(line, cyc, &frac);
}

/*
 * The slope between the means of the oldest and the newest third: with equal spacing 8/9 as good as
 * least squares, and two sums of at most 21 differences: below 2^5 * 2^36 cycles and 2^5 * 2^33 ns.
 * Up to five samples the thirds are single ones.
 */
static uint64_t fit_rate(const struct keeper_clock *clock)
{
	uint32_t third = clock->count < 6 ? 1 : (clock->count * 11) >> 5; /* count / 3 up to 64 */
	uint64_t cyc = 0, ns = 0;
	uint32_t i;

	for (i = 0; i < third; i++) {
		const struct keeper_sample *newer = sample_at(clock, i);
		const struct keeper_sample *older = sample_at(clock, clock->count - 1 - i);

		cyc += newer->cyc - older->cyc;
		ns += newer->ns - older->ns;
	}
	return scale_shl_div(ns, KEEPER_RATE_SHIFT, cyc);
}

/* The line through the window: its rate, and the mean residual of the newest samples. */
static void fit(struct keeper_clock *clock)
{
	const struct keeper_sample *newest = sample_at(clock, 0);
	uint32_t log2 = RESIDUALS_LOG2, i;
	int64_t sum = 0;

	clock->line.rate = fit_rate(clock);
	while ((1u << log2) > clock->count)
		log2--;
	/* Residuals in 2^-16 ns against a line through the newest sample. A clock is read truncated
	 * to ns: on the average half a ns early, which the 0x8000 gives back. */
	for (i = 0; i < 1u << log2; i++) {
		const struct keeper_sample *sample = sample_at(clock, i);
		uint64_t back = scale_mul_shr(newest->cyc - sample->cyc, clock->line.rate,
					      KEEPER_RATE_SHIFT - 16);

		sum += (int64_t)back - (int64_t)((newest->ns - sample->ns) << 16);
	}
	sum = (sum >> log2) + 0x8000;
	clock->line.cyc = newest->cyc;
	clock->line.ns = newest->ns + (uint64_t)(sum >> 16);
	clock->line.frac = (uint32_t)((uint64_t)sum & 0xffff) << 16;
}

/* How far, in ns, the line passes the bracket by: > 0 above it, < 0 below, 0 through it. */
static int64_t miss_ns(const struct keeper_clock *clock, const struct keeper_bracket *bracket)
{
	uint64_t low = keeper_line_ns(&clock->line, bracket->before_cyc);
	uint64_t high = keeper_line_ns(&clock->line, bracket->after_cyc + 1);

	if (low > bracket->ns + 1)
		return low - bracket->ns > INT64_MAX ? INT64_MAX : (int64_t)(low - bracket->ns - 1);
	if (high < bracket->ns)
		return bracket->ns - high > INT64_MAX ? -INT64_MAX : -(int64_t)(bracket->ns - high);
	return 0;
}

/*
 * Whether a bracket is narrow enough to take. A narrower one than ever is the new measure at once;
 * each wider one raises the measure a little, so that one lucky read does not rule the rest out for
 * ever.
 */
static bool width_is_good(struct keeper_clock *clock, uint64_t width)
{
	bool is_first = clock->width_cyc == 0;

	if (!is_first && width - 1 > (uint64_t)(clock->width_cyc - 1) * WIDTH_FACTOR &&
	    ++clock->rejected <= REJECTED_MAX)
		return false;
	if (is_first || width < clock->width_cyc || clock->rejected > REJECTED_MAX)
		clock->width_cyc = width > INT32_MAX ? INT32_MAX : (uint32_t)width;
	else if (width > clock->width_cyc)
		clock->width_cyc += (clock->width_cyc >> 10) + 1;
	clock->rejected = 0;
	return true;
}

uint32_t keeper_rate_difference_ppb(uint64_t rate, uint64_t nominal)
{
	uint64_t difference = rate > nominal ? rate - nominal : nominal - rate;
	uint64_t ratio = scale_shl_div(difference, 30, nominal);

	if (ratio > UINT32_MAX)
		return UINT32_MAX;
	ratio = (ratio * 1000000000u) >> 30; /* below 2^32 * 2^30 */
	return ratio > UINT32_MAX ? UINT32_MAX : (uint32_t)ratio;
}

/* The narrowest bracket of late, which fits 32 bits of ns unless the counter is absurd. */
static uint32_t width_ns(const struct keeper_clock *clock)
{
	uint64_t ns = scale_mul_shr(clock->width_cyc, clock->line.rate, KEEPER_RATE_SHIFT);

	return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

static bool is_jump(const struct keeper_clock *clock, const struct keeper_bracket *bracket,
		    int64_t miss)
{
	const struct keeper_sample *last = sample_at(clock, 0);
	uint64_t size = miss < 0 ? (uint64_t)-miss : (uint64_t)miss;

	if (bracket->before_cyc < last->cyc || bracket->ns < last->ns)
		return true;
	return size > JUMP_NS + 2 * (uint64_t)width_ns(clock) + ((bracket->ns - last->ns) >> 2);
}

static enum keeper_verdict judge(const struct keeper_clock *clock,
				 const struct keeper_bracket *bracket)
{
	int64_t miss, tolerance;

	if (clock->count == 0)
		return KEEPER_STEADY;
	if (clock->count == 1)
		return is_jump(clock, bracket, 0) ? KEEPER_JUMPED : KEEPER_STEADY;
	miss = miss_ns(clock, bracket);
	if (is_jump(clock, bracket, miss))
		return KEEPER_JUMPED;
	tolerance = (int64_t)(TOLERANCE_NS + (clock->line.rate >> (KEEPER_RATE_SHIFT + 1)) +
			      width_ns(clock) / clock->count);
	return miss <= tolerance && miss >= -tolerance ? KEEPER_STEADY : KEEPER_CHANGED;
}

/* In the middle of the bracket. A counter's value stands for a whole cycle. */
static struct keeper_sample sample_from(const struct keeper_bracket *bracket)
{
	struct keeper_sample sample = {
		bracket->before_cyc + ((bracket->after_cyc - bracket->before_cyc + 1) >> 1),
		bracket->ns};

	return sample;
}

enum keeper_verdict keeper_clock_add(struct keeper_clock *clock,
				     const struct keeper_bracket *bracket)
{
	uint64_t width = bracket->after_cyc - bracket->before_cyc + 1;
	uint64_t rate_before = clock->line.rate;
	struct keeper_sample sample = sample_from(bracket);
	enum keeper_verdict verdict;
	bool was_mixed;

	/* Also where a slow counter has not moved since the last sample: that gives no rate. */
	if (bracket->after_cyc < bracket->before_cyc ||
	    (clock->count > 0 && sample.cyc == sample_at(clock, 0)->cyc))
		return KEEPER_REJECTED;
	verdict = judge(clock, bracket);
	/* A wide bracket says nothing, unless the line passes it by: then it says so for sure. */
	if (!width_is_good(clock, width) && verdict == KEEPER_STEADY)
		return KEEPER_REJECTED;
	was_mixed = clock->is_mixed && clock->count > 1;
	clock->is_mixed = verdict == KEEPER_CHANGED;
	/* The newest is kept: the new rate began after it, or some time before it. In the first
	 * case the line is mixed from both rates, and the next sample starts the window once more.
	 */
	if (was_mixed && verdict == KEEPER_STEADY)
		verdict = KEEPER_CHANGED;
	if (verdict == KEEPER_CHANGED)
		clock->count = 1;
	if (verdict == KEEPER_JUMPED)
		clock->count = 0;
	sample_push(clock, &sample);
	if (clock->count >= 2)
		fit(clock);
	if (verdict == KEEPER_CHANGED)
		clock->rate_change_ppb = keeper_rate_difference_ppb(clock->line.rate, rate_before);
	return verdict;
}

uint64_t keeper_clock_span_cyc(const struct keeper_clock *clock)
{
	if (clock->count < 2)
		return 0;
	return sample_at(clock, 0)->cyc - sample_at(clock, clock->count - 1)->cyc;
}

uint32_t keeper_rate_to_mult(uint64_t rate, uint32_t shift)
{
	uint32_t drop = KEEPER_RATE_SHIFT - shift;
	uint64_t mult = (rate >> drop) + ((rate >> (drop - 1)) & 1);

	return mult > UINT32_MAX ? 0 : (uint32_t)mult;
}

/*
 * Never suspended means exactly 0, so 0 is taken wherever it is possible. Otherwise the lower end
 * first, from where it can only move forward; the middle once the bounds have closed in.
 */
bool keeper_offset_add(struct keeper_offset *offset, int64_t lo_ns, int64_t hi_ns)
{
	int64_t before = offset->value_ns;
	bool is_first = offset->count == 0;

	if (is_first || lo_ns > offset->hi_ns || hi_ns < offset->lo_ns) {
		offset->lo_ns = lo_ns;
		offset->hi_ns = hi_ns;
		offset->count = 1;
		offset->value_ns = lo_ns <= 0 && hi_ns >= 0 ? 0 : lo_ns;
		return is_first || offset->value_ns != before;
	}
	if (lo_ns > offset->lo_ns)
		offset->lo_ns = lo_ns;
	if (hi_ns < offset->hi_ns)
		offset->hi_ns = hi_ns;
	if (offset->count < UINT32_MAX)
		offset->count++;
	if (offset->count == KEEPER_WINDOW && offset->value_ns != 0)
		offset->value_ns = offset->lo_ns + ((offset->hi_ns - offset->lo_ns) >> 1);
	if (offset->value_ns < offset->lo_ns)
		offset->value_ns = offset->lo_ns;
	if (offset->value_ns > offset->hi_ns)
		offset->value_ns = offset->hi_ns;
	return offset->value_ns != before;
}
