/* SPDX-License-Identifier: MIT */
/* support_byo.c - see support_byo.h. */
#include "support_byo.h"

#include "support_wide.h"
#include "vclock/read.h"

#include <string.h>

#define NSEC UINT64_C(1000000000)

static uint64_t read_counter(void *arg)
{
	struct byo *byo = arg;

	byo->looks++;
	byo->cyc += byo->look_cyc;
	return byo->cyc;
}

void byo_init(struct byo *byo, uint64_t hz, uint64_t cyc, int64_t mono_sec, uint32_t mono_nsec,
	      int64_t real_sec)
{
	struct vclock_timekeeper *tk = &byo->tk;

	memset(byo, 0, sizeof(*byo));
	byo->hz = hz;
	byo->cyc = cyc;
	byo->config.counter_hz = hz;
	byo->config.counter_kind = VCLOCK_COUNTER_CALLER;
	byo->config.interval_ns = 10000000;
	byo->config.ahead_ns = 10000000;
	vclock_page_init(&byo->page, &byo->config);
	tk->cycle_last = cyc;
	tk->shift = byo->page.shift;
	tk->mult = tk->raw_mult =
		(uint32_t)wide_mul_div(NSEC << tk->shift, 1, hz); /* 10^9 << 33 fits 64 bits */
	tk->xtime_sec = real_sec;
	tk->xtime_nsec = (uint64_t)mono_nsec << tk->shift;
	tk->wall_to_monotonic.tv_sec = mono_sec - real_sec;
	tk->raw_sec = mono_sec;
	tk->raw_nsec = (uint64_t)mono_nsec << tk->shift;
	tk->clock_was_set_seq = 1;
	tk->read_counter = read_counter;
	tk->read_counter_arg = byo;
}

void byo_advance_ns(struct byo *byo, uint64_t ns)
{
	byo->cyc += wide_mul_div(ns, byo->hz, NSEC);
}

static void restate(int64_t *sec, uint64_t *nsec, uint64_t delta, uint32_t mult, unsigned shift)
{
	uint64_t rem;
	struct wide sum = wide_add(wide_mul(delta, mult), *nsec);
	struct wide seconds = wide_div(sum, NSEC << shift, &rem);

	*sec += (int64_t)seconds.lo;
	*nsec = rem;
}

void byo_restate(struct byo *byo)
{
	struct vclock_timekeeper *tk = &byo->tk;
	uint64_t delta = byo->cyc - tk->cycle_last;

	restate(&tk->xtime_sec, &tk->xtime_nsec, delta, tk->mult, tk->shift);
	restate(&tk->raw_sec, &tk->raw_nsec, delta, tk->raw_mult, tk->shift);
	tk->cycle_last = byo->cyc;
}

int byo_update(struct byo *byo)
{
	byo_restate(byo);
	return vclock_page_update(&byo->page, &byo->tk);
}

void byo_next(struct byo *byo)
{
	byo->cyc = byo_live(byo)->line[1].start_cyc;
	byo_advance_ns(byo, 50000);
}

int byo_run(struct byo *byo, unsigned updates)
{
	int r = 0;

	while (updates-- > 0 && r == 0) {
		r = byo_update(byo);
		byo_next(byo);
	}
	return r;
}

static int64_t clock_ns(int64_t sec, uint64_t fns, uint64_t delta, uint32_t mult, unsigned shift)
{
	struct wide sum = wide_add(wide_mul(delta, mult), fns);

	return sec * (int64_t)NSEC + (int64_t)wide_shr(sum, shift).lo;
}

int64_t byo_true_ns(const struct byo *byo, uint32_t clk, uint64_t cyc)
{
	const struct vclock_timekeeper *tk = &byo->tk;
	uint64_t delta = cyc - tk->cycle_last;
	int64_t real, mono;

	if (clk == VCLOCK_MONOTONIC_RAW)
		return clock_ns(tk->raw_sec, tk->raw_nsec, delta, tk->raw_mult, tk->shift);
	real = clock_ns(tk->xtime_sec, tk->xtime_nsec, delta, tk->mult, tk->shift);
	mono = real + tk->wall_to_monotonic.tv_sec * (int64_t)NSEC + tk->wall_to_monotonic.tv_nsec;
	if (clk == VCLOCK_MONOTONIC)
		return mono;
	if (clk == VCLOCK_BOOTTIME || clk == VCLOCK_BOOTTIME_ALARM)
		return mono + tk->monotonic_to_boot.tv_sec * (int64_t)NSEC +
		       tk->monotonic_to_boot.tv_nsec;
	return clk == VCLOCK_TAI ? real + tk->tai_offset_sec * (int64_t)NSEC : real;
}

int64_t byo_line_ns(const struct vclock_page *page, const struct vclock_line *line, uint32_t clk,
		    uint64_t cyc)
{
	return clock_ns(line->base[clk].sec, line->base[clk].fns, cyc - line->start_cyc,
			line->mult[clk == VCLOCK_MONOTONIC_RAW], page->shift);
}

int64_t byo_read_ns(const struct vclock_page *page, uint64_t cyc, uint32_t clk)
{
	struct vclock_timespec ts;

	if (vclock_read_at(page, cyc, clk, &ts) != 0)
		return INT64_MIN;
	return ts.tv_sec * (int64_t)NSEC + ts.tv_nsec;
}

const struct vclock_slot *byo_live(const struct byo *byo)
{
	return &byo->page.slot[byo->page.generation & 1];
}
