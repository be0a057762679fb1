/* SPDX-License-Identifier: MIT */
/*
 * The judge of the simulations catches what it is there for: readers and writers that are wrong on
 * purpose, each against the same run with the right one.
 */
#include "support_sim_tap.h"

#include "keeper/scale.h"
#include "vclock/read.h"

#include <string.h>

/* On every machine: fewer do not catch all of them. */
#define ROUNDS 60

static struct sim_run run;

/* Late publishers, gaps and changes of rate: what a wrong reader or writer stumbles over. */
static void trouble(void)
{
	unsigned i, count = ROUNDS;

	sim_run(&run, SIM_SEC / 2);
	sim_run_clear(&run);
	sim_schedule_every(&run.sim, 0, 13 * SIM_MS, SIM_STORM, 500000);
	for (i = 0; i < count; i++) {
		sim_run(&run, 300 * SIM_MS);
		run.stall_at_look = run.sim.looks + 2 + sim_random(&run.sim, 3);
		run.stall_ns = sim_random(&run.sim, 30 * SIM_MS);
		sim_run(&run, 100 * SIM_MS);
		run.is_stopped = true;
		sim_run(&run, sim_random(&run.sim, 60) * SIM_MS);
		run.is_stopped = false;
	}
}

static void start(void)
{
	sim_run_init(&run, SIM_HZ, sim_seed(12));
	run.reads_per_10ms = 80;
	run.held_up_ns = SIM_MS;
}

static void caught(uint64_t count, const char *what)
{
	sim_diag(&run, what);
	tap_ok(count > 0, "caught: %s", what);
}

/*
 * Readers.
 */

static int no_clamp(const struct vclock_page *page, uint64_t cyc, uint32_t clk, int64_t *ret_ns)
{
	int64_t real;

	/* REALTIME never stands at an end. */
	if (sim_reader_page(page, cyc, VCLOCK_REALTIME, &real) != 0)
		return -VCLOCK_EAGAIN;
	return sim_reader_page(page, cyc, clk, ret_ns);
}

static int long_clamp(const struct vclock_page *page, uint64_t cyc, uint32_t clk, int64_t *ret_ns)
{
	static struct vclock_page copy;

	copy = *page;
	copy.slot[copy.generation & 1].clamp_cyc *= 8;
	return sim_reader_page(&copy, cyc, clk, ret_ns);
}

static int slot_being_written(const struct vclock_page *page, uint64_t cyc, uint32_t clk,
			      int64_t *ret_ns)
{
	static struct vclock_page copy;

	copy = *page;
	copy.slot[copy.generation & 1] = page->slot[(page->generation + 1) & 1];
	return sim_reader_page(&copy, cyc, clk, ret_ns);
}

static int clamps_upward(const struct vclock_page *page, uint64_t cyc, uint32_t clk,
			 int64_t *ret_ns)
{
	const struct vclock_line *line = &page->slot[page->generation & 1].line[1];

	/* In a gap, the start of the line to come. */
	if (line->length_cyc != 0 && line->start_cyc - cyc < 1000000 &&
	    sim_reader_page(page, cyc, clk, ret_ns) != 0)
		cyc = line->start_cyc;
	return sim_reader_page(page, cyc, clk, ret_ns);
}

static int off_by_60_ns(const struct vclock_page *page, uint64_t cyc, uint32_t clk, int64_t *ret_ns)
{
	int r = sim_reader_page(page, cyc, clk, ret_ns);

	if (r == 0)
		*ret_ns += 60;
	return r;
}

/*
 * Writers: what they leave is made wrong after each step.
 */

static struct vclock_slot *live(struct sim_run *wrong)
{
	return &wrong->page.slot[wrong->page.generation & 1];
}

static void states_50_ns(struct sim_run *wrong)
{
	live(wrong)->error_ns = 50;
}

/* The running line is cut a little after now, and the next one starts there, on the clock. */
static void end_moves(struct sim_run *wrong)
{
	struct sim *sim = &wrong->sim;
	struct vclock_slot *slot = live(wrong);
	struct vclock_line *running = &slot->line[0], *next = &slot->line[1];
	uint64_t cut = sim_counter(sim) + 26000 - running->start_cyc;
	int64_t sec;
	uint32_t nsec;

	if (running->length_cyc == 0 || cut >= running->length_cyc)
		return;
	running->length_cyc = (uint32_t)cut;
	*next = *running;
	next->start_cyc += cut;
	next->length_cyc = 26000000;
	scale_ns_to_sec(sim_clock_ns(sim, VCLOCK_MONOTONIC) + 10000, &sec, &nsec);
	next->base[VCLOCK_MONOTONIC].sec = sec;
	next->base[VCLOCK_MONOTONIC].fns = (uint64_t)nsec << wrong->page.shift;
}

/* The first line after a gap starts at the lower edge of what was known, not at the upper one. */
static void lower_edge(struct sim_run *wrong)
{
	static uint64_t gaps;
	struct vclock_line *line = &live(wrong)->line[1];
	uint64_t above = 2 * wrong->gap_above_ns << wrong->page.shift;

	if (wrong->gaps > gaps && line->base[VCLOCK_MONOTONIC].fns > above)
		line->base[VCLOCK_MONOTONIC].fns -= above;
	gaps = wrong->gaps;
}

/* A restarted publisher that takes the counter's nominal rate and one sample for a line. */
static int guesses(struct sim_run *wrong, uint64_t *ret_sleep_ns, enum vclock_retired *ret_reason)
{
	struct publisher *publisher = &wrong->publisher;
	struct reference_sample sample = {0};

	if (publisher->is_started || wrong->page.generation == 0)
		return publisher_step(publisher, ret_sleep_ns, ret_reason);
	publisher->reference->sample(publisher->reference, &sample);
	keeper_clock_add(&publisher->mono, &sample.mono);
	keeper_clock_add(&publisher->raw, &sample.raw);
	publisher->mono.count = publisher->raw.count = 2;
	publisher->mono.sample[1] = publisher->mono.sample[0];
	publisher->raw.sample[1] = publisher->raw.sample[0];
	/* A second earlier, at the nominal rate. */
	publisher->mono.sample[0].cyc -= SIM_HZ;
	publisher->mono.sample[0].ns -= SIM_SEC;
	publisher->raw.sample[0].cyc -= SIM_HZ;
	publisher->raw.sample[0].ns -= SIM_SEC;
	publisher->mono.head = publisher->raw.head = 2;
	publisher->is_started = true;
	return publisher_step(publisher, ret_sleep_ns, ret_reason);
}

static void restarts(void)
{
	unsigned i, count = ROUNDS;

	sim_schedule(&run.sim, 0, SIM_RATE, 400000);
	sim_run(&run, SIM_SEC);
	sim_run_clear(&run);
	for (i = 0; i < count; i++) {
		sim_run(&run, 200 * SIM_MS);
		run.is_stopped = true;
		sim_run(&run, 25 * SIM_MS);
		run.is_stopped = false;
		sim_run_restart(&run);
	}
}

static void readers(void)
{
	start();
	trouble();
	sim_ok(&run, "the right reader and writer", 600);
	start();
	run.reader = no_clamp;
	trouble();
	caught(run.back, "a reader that asks the kernel at a line's end");
	start();
	run.reader = long_clamp;
	trouble();
	caught(run.over, "a reader that stands at an end for longer than the page says");
	start();
	run.reader = slot_being_written;
	trouble();
	caught(run.back, "a reader that looks at the slot that is being written");
	start();
	run.reader = clamps_upward;
	trouble();
	caught(run.over, "a reader that takes a line's start for what is before it");
	start();
	run.has_no_second_look = true;
	trouble();
	caught(run.back, "a reader that was held up and does not look again");
	start();
	run.reader = off_by_60_ns;
	sim_run(&run, SIM_SEC);
	caught(run.over, "a value that is 60 ns off, by the formula");
	caught(run.over_stated, "a value that is 60 ns off, by the statement");
}

static void writers(void)
{
	start();
	run.before_look = states_50_ns;
	trouble();
	caught(run.over_stated, "a page that states 50 ns always");
	start();
	run.after_step = end_moves;
	trouble();
	caught(run.back, "a line whose end moves");
	start();
	run.after_step = lower_edge;
	trouble();
	caught(run.back, "a line after a gap that starts at the lower edge");
	start();
	restarts();
	sim_ok(&run, "the right restart", 300);
	start();
	run.step = guesses;
	restarts();
	caught(run.over, "a restarted writer that guesses its rate");
}

int main(void)
{
	readers();
	writers();
	return tap_done();
}
