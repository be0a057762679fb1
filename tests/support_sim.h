/* SPDX-License-Identifier: MIT */
/*
 * support_sim.h - a simulated machine: a counter, the kernel's clocks, and what happens to them.
 *
 * It is a struct reference, so that publisher_step() runs on it as on this machine's kernel, and it
 * knows the true time at every instant. Time passes only where the simulation says so: nothing
 * sleeps, and the same seed gives the same run.
 *
 * The unit of true time is a tick: a power-of-two part of a cycle of the counter, 2 GHz or faster,
 * so that slow counters have moments between their cycles.
 */
#ifndef SUPPORT_SIM_H
#define SUPPORT_SIM_H

#include "reference/reference.h"

#include <stdbool.h>
#include <stdint.h>

#define SIM_HZ UINT64_C(2600000000)
#define SIM_SEC UINT64_C(1000000000)
#define SIM_MS UINT64_C(1000000)
#define SIM_US UINT64_C(1000)
#define SIM_EVENTS 64
#define SIM_RATES 64 /* changes of rate that are remembered: a power of two */

enum sim_event_kind {
	SIM_RATE,	      /* value: rate of MONOTONIC against nominal, in ppb */
	SIM_STORM,	      /* value: ppb, its sign changed at every `every_ns` */
	SIM_REAL_STEP,	      /* value: ns */
	SIM_LEAP,	      /* value: +1 insert: REALTIME - 1 s, TAI offset + 1; -1 delete */
	SIM_TAI,	      /* value: TAI - REALTIME in s */
	SIM_SUSPEND,	      /* value: ns of sleep; the counter goes on */
	SIM_SUSPEND_RESTART,  /* the same, and the counter starts at 0 */
	SIM_SUSPEND_STOPPED,  /* the same, and the counter stood still */
	SIM_COUNTER_JUMP,     /* value: cycles */
	SIM_COUNTER_RATE,     /* value: ppb by which all clocks run faster against the counter */
	SIM_REFERENCE_BROKEN, /* value: 1 broken, 0 whole: sample() fails with -EPERM */
};

struct sim_event {
	uint64_t tick;
	uint64_t every_ticks; /* 0: once */
	enum sim_event_kind kind;
	int64_t value;
};

/* clock(tick) = ns + (frac + (tick - this.tick) * rate) / 2^40 */
struct sim_line {
	uint64_t tick, ns, frac, rate;
};

struct sim {
	struct reference reference; /* first */
	uint64_t hz;
	unsigned sub;	       /* ticks = cycles << sub */
	uint64_t tick;	       /* now */
	uint64_t counter_base; /* counter = counter_base + (tick >> sub) */
	uint64_t rng;
	uint64_t nominal;     /* ns << 40 per tick */
	struct sim_line mono; /* also carries REALTIME, TAI, BOOTTIME */
	struct sim_line raw;
	int64_t ppb;		 /* of mono against raw */
	int64_t real_minus_mono; /* ns */
	int64_t boot_minus_mono;
	int32_t tai_offset;
	int32_t tz_minuteswest;
	bool is_broken;
	/* What happened lately. */
	uint64_t stepped_tick; /* REALTIME, TAI or BOOTTIME; 0: never */
	uint64_t jumped_tick;  /* the counter against the clocks; 0: never */
	struct {
		uint64_t until_tick; /* ppb was the rate until then */
		int64_t ppb;
	} rates[SIM_RATES];
	unsigned rate_changes;
	struct sim_event events[SIM_EVENTS]; /* sorted */
	unsigned event_count;
	/* Reads of clocks. */
	bool is_quiet; /* no preemption in brackets */
	/* The kernel's clocks are made of this counter, and stand still between its cycles. */
	bool is_clocksource;
	uint64_t samples, looks;
	/*
	 * Called by read_counter, before and after it takes its value; it may let time pass. What
	 * passes before is seen by this look; what passes after it is a stall between a look and
	 * what follows it. NULL: nothing.
	 */
	void (*on_look)(struct sim *sim, bool is_after, void *arg);
	void *on_look_arg;
};

/* The seed that this run has: $VCLOCK_TEST_SEED, else given. Prints it. */
uint64_t sim_seed(uint64_t given);

void sim_init(struct sim *sim, uint64_t hz, uint64_t seed);

/* 0 .. n - 1; n not 0 */
uint64_t sim_random(struct sim *sim, uint64_t n);

uint64_t sim_ticks(const struct sim *sim, uint64_t ns);
uint64_t sim_ns(const struct sim *sim, uint64_t ticks);

/* Time passes, and what is scheduled happens. */
void sim_advance(struct sim *sim, uint64_t ticks);
void sim_advance_to(struct sim *sim, uint64_t tick);

/* at_ns: from now. */
void sim_schedule(struct sim *sim, uint64_t at_ns, enum sim_event_kind kind, int64_t value);
void sim_schedule_every(struct sim *sim, uint64_t at_ns, uint64_t every_ns,
			enum sim_event_kind kind, int64_t value);

uint64_t sim_counter(const struct sim *sim);

/* The true time of a clock of the page, now; ns since its epoch, rounded down. */
int64_t sim_clock_ns(const struct sim *sim, uint32_t clk);

/* Largest less smallest rate of MONOTONIC within the last window, in ppb. */
uint64_t sim_rate_spread_ppb(const struct sim *sim, uint64_t window_ns);

/* How late a sleeper wakes up on a busy machine, in ns; sizes as measured on two busy CPUs. */
uint64_t sim_lateness_ns(struct sim *sim);

#endif /* SUPPORT_SIM_H */
