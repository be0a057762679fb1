/* SPDX-License-Identifier: MIT */
/* support_sim.c - see support_sim.h. */
#include "support_sim.h"

#include "support_wide.h"
#include "vclock/page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAC_BITS 40
#define TRIES 5

uint64_t sim_seed(uint64_t given)
{
	const char *value = getenv("VCLOCK_TEST_SEED");

	if (value != NULL && *value != '\0')
		given = strtoull(value, NULL, 0);
	printf("# seed %" PRIu64 " (VCLOCK_TEST_SEED)\n", given);
	return given;
}

/* splitmix64 */
static uint64_t next_random(struct sim *sim)
{
	uint64_t z = sim->rng += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint64_t sim_random(struct sim *sim, uint64_t n)
{
	return next_random(sim) % n;
}

static uint64_t ticks_per_second(const struct sim *sim)
{
	return sim->hz << sim->sub;
}

uint64_t sim_ticks(const struct sim *sim, uint64_t ns)
{
	return wide_mul_div(ns, ticks_per_second(sim), SIM_SEC);
}

uint64_t sim_ns(const struct sim *sim, uint64_t ticks)
{
	return wide_mul_div(ticks, SIM_SEC, ticks_per_second(sim));
}

static struct wide line_at(const struct sim_line *line, uint64_t tick)
{
	return wide_add(wide_mul(tick - line->tick, line->rate), line->frac);
}

static uint64_t line_ns(const struct sim_line *line, uint64_t tick)
{
	return line->ns + wide_shr(line_at(line, tick), FRAC_BITS).lo;
}

static void line_rebase(struct sim_line *line, uint64_t tick)
{
	struct wide at = line_at(line, tick);

	line->ns += wide_shr(at, FRAC_BITS).lo;
	line->frac = at.lo & ((UINT64_C(1) << FRAC_BITS) - 1);
	line->tick = tick;
}

static uint64_t rate_with(uint64_t rate, int64_t ppb)
{
	uint64_t part = wide_mul_div(rate, (uint64_t)(ppb < 0 ? -ppb : ppb), SIM_SEC);

	return ppb < 0 ? rate - part : rate + part;
}

uint64_t sim_counter(const struct sim *sim)
{
	return sim->counter_base + (sim->tick >> sim->sub);
}

/* Since when this line has the value that it has now. */
static uint64_t value_tick(const struct sim *sim, const struct sim_line *line)
{
	uint64_t cycle = sim->tick >> sim->sub << sim->sub;

	if (!sim->is_clocksource)
		return sim->tick;
	return cycle > line->tick ? cycle : line->tick;
}

int64_t sim_clock_ns(const struct sim *sim, uint32_t clk)
{
	int64_t mono;

	if (clk == VCLOCK_MONOTONIC_RAW)
		return (int64_t)line_ns(&sim->raw, value_tick(sim, &sim->raw));
	mono = (int64_t)line_ns(&sim->mono, value_tick(sim, &sim->mono));
	switch (clk) {
	case VCLOCK_REALTIME:
	case VCLOCK_REALTIME_ALARM:
		return mono + sim->real_minus_mono;
	case VCLOCK_BOOTTIME:
	case VCLOCK_BOOTTIME_ALARM:
		return mono + sim->boot_minus_mono;
	case VCLOCK_TAI:
		return mono + sim->real_minus_mono + sim->tai_offset * (int64_t)SIM_SEC;
	default:
		return mono;
	}
}

uint64_t sim_rate_spread_ppb(const struct sim *sim, uint64_t window_ns)
{
	uint64_t window = sim_ticks(sim, window_ns);
	int64_t low = sim->ppb, high = sim->ppb;
	unsigned i;

	for (i = 1; i <= SIM_RATES && i <= sim->rate_changes; i++) {
		unsigned at = (sim->rate_changes - i) % SIM_RATES;

		if (sim->tick - sim->rates[at].until_tick > window)
			break;
		if (sim->rates[at].ppb < low)
			low = sim->rates[at].ppb;
		if (sim->rates[at].ppb > high)
			high = sim->rates[at].ppb;
	}
	return (uint64_t)(high - low);
}

static void set_rate(struct sim *sim, int64_t ppb)
{
	unsigned at = sim->rate_changes++ % SIM_RATES;

	sim->rates[at].until_tick = sim->tick;
	sim->rates[at].ppb = sim->ppb;
	line_rebase(&sim->mono, sim->tick);
	sim->ppb = ppb;
	sim->mono.rate = rate_with(sim->raw.rate, ppb);
}

/* MONOTONIC and RAW stand still; so does the counter where counter_stops. */
static void suspend(struct sim *sim, uint64_t ns, bool counter_stops)
{
	uint64_t ticks = sim_ticks(sim, ns);

	line_rebase(&sim->mono, sim->tick);
	line_rebase(&sim->raw, sim->tick);
	sim->tick += ticks;
	sim->mono.tick = sim->raw.tick = sim->tick;
	if (counter_stops)
		sim->counter_base -= ticks >> sim->sub;
	sim->boot_minus_mono += (int64_t)ns;
	sim->stepped_tick = sim->tick;
	sim->jumped_tick = sim->tick;
}

static void happen(struct sim *sim, const struct sim_event *event)
{
	switch (event->kind) {
	case SIM_RATE:
		set_rate(sim, event->value);
		break;
	case SIM_STORM:
		set_rate(sim, sim->ppb == event->value ? -event->value : event->value);
		break;
	case SIM_REAL_STEP:
		sim->real_minus_mono += event->value;
		sim->stepped_tick = sim->tick;
		break;
	case SIM_LEAP:
		sim->real_minus_mono -= event->value * (int64_t)SIM_SEC;
		sim->tai_offset += (int32_t)event->value;
		sim->stepped_tick = sim->tick;
		break;
	case SIM_TAI:
		sim->tai_offset = (int32_t)event->value;
		sim->stepped_tick = sim->tick;
		break;
	case SIM_SUSPEND:
		suspend(sim, (uint64_t)event->value, false);
		break;
	case SIM_SUSPEND_STOPPED:
		suspend(sim, (uint64_t)event->value, true);
		break;
	case SIM_SUSPEND_RESTART:
		suspend(sim, (uint64_t)event->value, false);
		sim->counter_base = -(sim->tick >> sim->sub);
		break;
	case SIM_COUNTER_JUMP:
		sim->counter_base += (uint64_t)event->value;
		sim->jumped_tick = sim->tick;
		break;
	case SIM_COUNTER_RATE:
		line_rebase(&sim->raw, sim->tick);
		sim->raw.rate = rate_with(sim->nominal, event->value);
		set_rate(sim, sim->ppb);
		break;
	case SIM_REFERENCE_BROKEN:
		sim->is_broken = event->value != 0;
		break;
	}
}

static void insert_event(struct sim *sim, const struct sim_event *event)
{
	unsigned at = sim->event_count;

	if (at == SIM_EVENTS)
		abort();
	while (at > 0 && sim->events[at - 1].tick > event->tick) {
		sim->events[at] = sim->events[at - 1];
		at--;
	}
	sim->events[at] = *event;
	sim->event_count++;
}

void sim_schedule_every(struct sim *sim, uint64_t at_ns, uint64_t every_ns,
			enum sim_event_kind kind, int64_t value)
{
	struct sim_event event = {sim->tick + sim_ticks(sim, at_ns), sim_ticks(sim, every_ns), kind,
				  value};

	insert_event(sim, &event);
}

void sim_schedule(struct sim *sim, uint64_t at_ns, enum sim_event_kind kind, int64_t value)
{
	sim_schedule_every(sim, at_ns, 0, kind, value);
}

void sim_advance_to(struct sim *sim, uint64_t tick)
{
	while (sim->event_count > 0 && sim->events[0].tick <= tick) {
		struct sim_event event = sim->events[0];
		uint64_t before;

		sim->event_count--;
		memmove(sim->events, sim->events + 1, sim->event_count * sizeof(event));
		if (event.tick > sim->tick)
			sim->tick = event.tick;
		before = sim->tick;
		happen(sim, &event);
		/* Nobody ran during a suspend: all that was to come comes that much later. */
		tick += sim->tick - before;
		if (event.every_ticks != 0) {
			event.tick += event.every_ticks;
			insert_event(sim, &event);
		}
	}
	if (tick > sim->tick)
		sim->tick = tick;
}

void sim_advance(struct sim *sim, uint64_t ticks)
{
	sim_advance_to(sim, sim->tick + ticks);
}

/* Some ns pass; now and then the reader is interrupted, or preempted for long. */
static void read_cost(struct sim *sim, uint64_t ns)
{
	sim_advance(sim, sim_ticks(sim, ns + sim_random(sim, 6)) +
				 sim_random(sim, sim_ticks(sim, 4) + 1));
	if (sim->is_quiet)
		return;
	if (sim_random(sim, 400) == 0)
		sim_advance(sim, sim_ticks(sim, sim_random(sim, 4000)));
	if (sim_random(sim, 20000) == 0)
		sim_advance(sim, sim_ticks(sim, sim_random(sim, 3 * SIM_MS)));
}

static struct keeper_bracket bracket(struct sim *sim, uint32_t clk)
{
	struct keeper_bracket best = {0, UINT64_MAX, 0};
	int i;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = sim_counter(sim), after;
		int64_t ns;

		read_cost(sim, 20);
		ns = sim_clock_ns(sim, clk);
		read_cost(sim, 20);
		after = sim_counter(sim);
		if (after - before < best.after_cyc - best.before_cyc) {
			best.before_cyc = before;
			best.after_cyc = after;
			best.ns = (uint64_t)ns;
		}
	}
	return best;
}

static int sim_sample(struct reference *reference, struct reference_sample *ret_sample)
{
	struct sim *sim = (struct sim *)(void *)reference;
	struct reference_sample sample = {0};
	int64_t lo = INT64_MIN, hi = INT64_MAX, real;
	int i;

	sim->samples++;
	if (sim->is_broken)
		return -EPERM;
	sample.mono = bracket(sim, VCLOCK_MONOTONIC);
	sample.raw = bracket(sim, VCLOCK_MONOTONIC_RAW);
	real = sim->real_minus_mono;
	sample.real_minus_mono_ns = real;
	read_cost(sim, 20);
	sample.tai_offset_sec = sim->tai_offset;
	/* As reference_kernel() does: what belongs together is of one moment. */
	sample.real_is_valid = sample.tai_is_valid = real == sim->real_minus_mono;
	for (i = 0; i < TRIES; i++) {
		int64_t before = sim_clock_ns(sim, VCLOCK_MONOTONIC), boot, after;

		read_cost(sim, 10);
		boot = sim_clock_ns(sim, VCLOCK_BOOTTIME);
		read_cost(sim, 10);
		after = sim_clock_ns(sim, VCLOCK_MONOTONIC);
		if (boot - after > lo)
			lo = boot - after;
		if (boot - before < hi)
			hi = boot - before;
	}
	sample.boot_is_valid = lo <= hi;
	sample.boot_minus_mono_lo_ns = lo;
	sample.boot_minus_mono_hi_ns = hi;
	sample.timezone_is_valid = ret_sample->wants_timezone;
	sample.tz_minuteswest = sim->tz_minuteswest;
	*ret_sample = sample;
	return 0;
}

static uint64_t sim_read_counter(void *reference)
{
	struct sim *sim = (struct sim *)reference;
	uint64_t cyc;

	sim->looks++;
	if (sim->on_look != NULL)
		sim->on_look(sim, false, sim->on_look_arg);
	read_cost(sim, 10);
	cyc = sim_counter(sim);
	if (sim->on_look != NULL)
		sim->on_look(sim, true, sim->on_look_arg);
	return cyc;
}

uint64_t sim_lateness_ns(struct sim *sim)
{
	uint64_t dice = sim_random(sim, 10000);

	if (dice < 9000)
		return 40 * SIM_US + sim_random(sim, 60 * SIM_US);
	if (dice < 9900)
		return sim_random(sim, 1300 * SIM_US);
	if (dice < 9998)
		return sim_random(sim, 8 * SIM_MS);
	return sim_random(sim, 40 * SIM_MS);
}

void sim_init(struct sim *sim, uint64_t hz, uint64_t seed)
{
	memset(sim, 0, sizeof(*sim));
	sim->reference.sample = sim_sample;
	sim->reference.read_counter = sim_read_counter;
	sim->hz = hz;
	sim->rng = seed;
	while (hz << sim->sub < UINT64_C(2000000000))
		sim->sub++;
	sim->nominal = wide_mul_div(SIM_SEC, UINT64_C(1) << FRAC_BITS, hz << sim->sub);
	sim->counter_base = UINT64_C(123456789012);
	sim->tick = ticks_per_second(sim); /* so that 0 can mean "never" */
	sim->raw.tick = sim->mono.tick = sim->tick;
	sim->raw.rate = sim->mono.rate = sim->nominal;
	sim->mono.ns = 1000 * SIM_SEC + 123456789;
	sim->raw.ns = 1000 * SIM_SEC + 987654;
	sim->real_minus_mono = INT64_C(1700000000) * (int64_t)SIM_SEC + 777777777;
}
