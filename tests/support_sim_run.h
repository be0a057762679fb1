/* SPDX-License-Identifier: MIT */
/*
 * support_sim_run.h - a publisher on a simulated machine, readers around it, and the judge.
 *
 * Readers read the counter at one moment and look at the page later: at once, or up to some
 * milliseconds later, as preempted ones do. They read where the page covers, and the simulated
 * kernel where it does not. The judge knows the true time:
 *  - a value is never farther from it than the formula of the design, 3.8, and never farther than
 *    the page itself states;
 *  - MONOTONIC, BOOTTIME and RAW never go back from a finished read to one that begins later.
 * How a read is made can be replaced, so that a wrong reader shows that the judge catches it.
 */
#ifndef SUPPORT_SIM_RUN_H
#define SUPPORT_SIM_RUN_H

#include "publish/publisher.h"
#include "support_sim.h"

#include <stdbool.h>
#include <stdint.h>

/* The clocks that every read is made for, in this order; the first three never go back. */
#define SIM_CLOCKS 5
#define SIM_STEADY 3
extern const uint32_t sim_clocks[SIM_CLOCKS];

#define SIM_PENDING 8
#define SIM_PERIODS 8

struct sim_run;

/* One read that has its counter value and has not looked at the page yet. */
struct sim_read {
	uint64_t cyc;
	uint64_t tick;		   /* when that was */
	uint64_t due;		   /* when the page is looked at */
	int64_t truth[SIM_CLOCKS]; /* at cyc */
	int64_t floor[SIM_STEADY]; /* what finished reads had seen by then */
	uint64_t allowed_ns;	   /* by the formula, at cyc */
	bool is_step_unseen;	   /* REALTIME, TAI or BOOTTIME stepped after the last sample */
	bool is_jump_unseen;	   /* counter and clocks jumped against each other */
};

typedef int sim_reader(const struct vclock_page *page, uint64_t cyc, uint32_t clk, int64_t *ret_ns);

struct sim_run {
	struct sim sim;
	struct publisher publisher;
	struct publisher_config config;
	struct vclock_page page __attribute__((aligned(64)));
	sim_reader *reader;
	/* How it is run. */
	unsigned reads_per_10ms;
	uint64_t extra_allowed_ns; /* on top of the formula, with its reason at the place of use */
	bool is_punctual;	   /* the publisher is never late */
	bool is_stopped;	   /* it does not run at all */
	bool ignores_stated_error;
	bool has_no_second_look; /* a reader that missed asks the kernel straight away */
	/* A stall of this length once, before or after the look with this number. 0: none. */
	uint64_t stall_at_look, stall_ns;
	bool stalls_after;
	uint64_t held_up_ns; /* a stall within a step that the formula has to take along */
	/* Called before every look; NULL: nothing. */
	void (*before_look)(struct sim_run *run);
	/* What a step is; publisher_step() unless replaced. */
	int (*step)(struct sim_run *run, uint64_t *ret_sleep_ns, enum vclock_retired *ret_reason);
	void (*after_step)(struct sim_run *run); /* NULL: nothing */
	/* The state between steps. */
	uint64_t wake_tick, planned_tick, began_tick, restarted_tick;
	uint32_t generation;  /* the last one that was noted */
	uint64_t end_cyc;     /* of its last line */
	uint64_t lateness_ns; /* largest of the last second or two */
	uint64_t lateness_before_ns;
	uint64_t lateness_since;
	uint64_t sampled_tick; /* when the last step that published began */
	/* The last line after a gap and the one that followed it: their length, the first one's
	 * end. */
	uint64_t gap_start_cyc, gap_length_cyc, gap_first_end_cyc;
	uint64_t gap_above_ns;
	int last_result;
	enum vclock_retired last_reason;
	struct sim_read pending[SIM_PENDING];
	unsigned pending_count;
	int64_t seen[SIM_STEADY]; /* largest value of a finished read */
	/* By update, newest first: the worst error seen, and what the page stated. */
	uint64_t period_error_ns[SIM_PERIODS], period_stated_ns[SIM_PERIODS];
	/*
	 * How far MONOTONIC may go back from the page to the kernel, or the other way: 0 but where
	 * the publisher is late or gone while the rate changes by more than 1000 ppm; then what two
	 * lines make of that (design, 6).
	 */
	uint64_t allowed_back_ns;
	/* Verdicts. */
	uint64_t steps, retires, gaps, reads, page_reads, clamped_reads;
	uint64_t back, over, over_stated;
	uint64_t refused; /* pages that page_check() refuses, as they are published */
	uint64_t worst_back_ns, worst_error_ns, worst_over_ns, worst_over_stated_ns;
	uint64_t worst_steady_ns; /* error where the rate did not change */
};

/* Defaults: 2.6 GHz, 10 ms, 10 ms ahead, counter is the clocksource. */
void sim_run_init(struct sim_run *run, uint64_t hz, uint64_t seed);

/* A new struct publisher on the page as it stands, as after a kill. */
void sim_run_restart(struct sim_run *run);

/* Lets ns pass. */
void sim_run(struct sim_run *run, uint64_t ns);

/* Forgets the verdicts so far, for a second part of a scenario. What readers saw stays. */
void sim_run_clear(struct sim_run *run);

/* Shares of reads in 1/1000. */
unsigned sim_run_page_permille(const struct sim_run *run);

/* The right reader. */
int sim_reader_page(const struct vclock_page *page, uint64_t cyc, uint32_t clk, int64_t *ret_ns);

/* Two intervals after a change has been seen whole in one sample; seeing it takes up to two. */
uint64_t sim_run_follow_ns(const struct sim_run *run);

#endif /* SUPPORT_SIM_RUN_H */
