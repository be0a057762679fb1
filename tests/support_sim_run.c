/* SPDX-License-Identifier: MIT */
/* support_sim_run.c - see support_sim_run.h. */
#include "support_sim_run.h"

#include "publish/page_check.h"
#include "support_wide.h"
#include "vclock/read.h"

#include <string.h>

const uint32_t sim_clocks[SIM_CLOCKS] = {VCLOCK_MONOTONIC, VCLOCK_MONOTONIC_RAW, VCLOCK_BOOTTIME,
					 VCLOCK_REALTIME, VCLOCK_TAI};

/* A slew that changes the length of a line by more than a per cent. */
#define LARGE_PPB 10000000u

/* From the counter read to the end of a read, and of a call into the kernel. */
#define READ_NS 20

int sim_reader_page(const struct vclock_page *page, uint64_t cyc, uint32_t clk, int64_t *ret_ns)
{
	struct vclock_timespec ts;
	int r = vclock_read_at(page, cyc, clk, &ts);

	if (r == 0)
		*ret_ns = ts.tv_sec * (int64_t)SIM_SEC + ts.tv_nsec;
	return r;
}

static const struct vclock_slot *live(const struct sim_run *run)
{
	return &run->page.slot[run->page.generation & 1];
}

static uint64_t window_ns(const struct sim_run *run)
{
	return (uint64_t)run->publisher.config.page.interval_ns +
	       run->publisher.config.page.ahead_ns;
}

static uint64_t lateness_ns(const struct sim_run *run)
{
	return run->lateness_ns > run->lateness_before_ns ? run->lateness_ns
							  : run->lateness_before_ns;
}

uint64_t sim_run_follow_ns(const struct sim_run *run)
{
	/* 200 us: a step comes 50 us after a line began, and takes its time. */
	uint64_t ns = 3 * (uint64_t)run->publisher.config.page.interval_ns +
		      run->publisher.config.page.ahead_ns + 2 * lateness_ns(run) + 200 * SIM_US;

	/* Lines are as long as MONOTONIC says, which for the largest slews is a tenth off. */
	return sim_rate_spread_ppb(&run->sim, ns + ns / 8) > LARGE_PPB ? ns + ns / 8 : ns;
}

/* Rounding, and the counter's own step where that is large. */
static uint64_t least_ns(const struct sim_run *run)
{
	return 2 * SIM_SEC / run->sim.hz + 1;
}

/*
 * The change of rate that is still being followed. A change that moves the clock by less than a
 * bracket and the keeper's noise from one sample to the next, 66 ns, shows some samples later.
 */
static uint64_t spread_ppb(const struct sim_run *run)
{
	uint64_t interval_ns = run->publisher.config.page.interval_ns;
	uint64_t late = sim_rate_spread_ppb(&run->sim, sim_run_follow_ns(run) + 6 * interval_ns);

	if (late * (interval_ns / 1000) < 66 * (SIM_SEC / 1000))
		return late;
	return sim_rate_spread_ppb(&run->sim, sim_run_follow_ns(run));
}

/* |change of rate| * (interval + ahead + lateness) + 50 ns; on the first line after a gap, and on
 * the next, which comes down from it, also what the first is above the clock. */
static uint64_t formula_ns(const struct sim_run *run)
{
	uint64_t spread = spread_ppb(run), window, sum;

	window = window_ns(run) + lateness_ns(run) + run->held_up_ns;
	if (spread > LARGE_PPB) /* as above */
		window += window / 1000 * spread / 1000000;
	sum = wide_mul_div(spread, window, SIM_SEC) + 50 + least_ns(run) + run->extra_allowed_ns;
	if (sim_counter(&run->sim) - run->gap_start_cyc < run->gap_length_cyc)
		sum += run->gap_above_ns;
	return sum;
}

/* Whether the formula has come down to what always stands. */
static bool is_steady(const struct sim_run *run, const struct sim_read *read)
{
	return read->allowed_ns == 50 + least_ns(run) + run->extra_allowed_ns;
}

/* The first line after a gap runs at the upper edge of what the publisher knew, and 1100 ppm of the
 * time since, above the clock; the line that follows it comes down from there (design, 3.3). */
static void note_gap(struct sim_run *run, uint64_t old_end)
{
	const struct vclock_line *line = &live(run)->line[1];
	const struct vclock_timekeeper *tk = &run->publisher.timekeeper;

	if (line->length_cyc == 0)
		return;
	if (line->start_cyc == old_end) {
		if (run->gap_first_end_cyc == old_end)
			run->gap_length_cyc += line->length_cyc;
		return;
	}
	run->gaps++;
	run->gap_start_cyc = line->start_cyc;
	run->gap_length_cyc = line->length_cyc;
	run->gap_first_end_cyc = line->start_cyc + line->length_cyc;
	run->gap_above_ns = tk->error_ns +
			    sim_ns(&run->sim, (line->start_cyc - tk->cycle_last) << run->sim.sub) *
				    1100 / 1000000 +
			    1;
}

static uint64_t distance(int64_t a, int64_t b)
{
	return (uint64_t)(a > b ? a - b : b - a);
}

static void max_into(uint64_t *to, uint64_t value)
{
	if (value > *to)
		*to = value;
}

static void judge_stated(struct sim_run *run, uint64_t error_ns, uint64_t stated_ns)
{
	if (error_ns <= stated_ns || run->ignores_stated_error)
		return;
	run->over_stated++;
	max_into(&run->worst_over_stated_ns, error_ns - stated_ns);
}

/*
 * A change of rate is stated when a sample has shown it, and while a line lasts that did not know
 * of it; and a reader may look late. So the errors seen between two updates are held against what
 * was stated in the three updates before and after.
 */
static void judge_period(struct sim_run *run)
{
	uint64_t *error = run->period_error_ns, *stated = run->period_stated_ns, most = 0;
	unsigned i;

	for (i = 0; i < SIM_PERIODS; i++)
		max_into(&most, stated[i]);
	judge_stated(run, error[SIM_PERIODS / 2], most);
	for (i = SIM_PERIODS - 1; i > 0; i--) {
		error[i] = error[i - 1];
		stated[i] = stated[i - 1];
	}
	error[0] = 0;
	stated[0] = live(run)->error_ns;
}

/* Of MONOTONIC: at the largest slews a tenth more than of the counter. */
static uint64_t clamp_ns(const struct sim_run *run)
{
	uint64_t ns = sim_ns(&run->sim, (uint64_t)live(run)->clamp_cyc << run->sim.sub);

	return run->sim.ppb <= 0 ? ns : ns + wide_mul_div(ns, (uint64_t)run->sim.ppb, SIM_SEC) + 1;
}

static void judge_error(struct sim_run *run, const struct sim_read *read, unsigned i, int64_t value,
			bool is_clamped)
{
	uint64_t error = distance(value, read->truth[i]), clamp = 0;
	uint64_t tick_ns = least_ns(run);

	if (read->is_jump_unseen || run->sim.jumped_tick > read->tick)
		return;
	/* A step moves the whole line, and so the reads of moments before it. */
	if (i >= 2 && (read->is_step_unseen || run->sim.stepped_tick > read->tick))
		return;
	if (is_clamped) /* it stands still for that long, and may have been ahead by the error */
		clamp = clamp_ns(run);
	max_into(&run->worst_error_ns, error);
	if (is_steady(run, read) && !is_clamped)
		max_into(&run->worst_steady_ns, error);
	if (error > read->allowed_ns + clamp) {
		run->over++;
		max_into(&run->worst_over_ns, error - read->allowed_ns - clamp);
	}
	/* What the page states of a change is judged when it can have seen it; see judge_period().
	 */
	error -= error < clamp + tick_ns ? error : clamp + tick_ns;
	if (run->sampled_tick >= run->restarted_tick && read->tick >= run->restarted_tick)
		max_into(&run->period_error_ns[0], error);
	if (is_steady(run, read))
		judge_stated(run, error, live(run)->error_ns);
}

static void judge_order(struct sim_run *run, const struct sim_read *read, unsigned i, int64_t value)
{
	if (value < read->floor[i]) {
		run->back++;
		max_into(&run->worst_back_ns, (uint64_t)(read->floor[i] - value));
	}
	if (value > run->seen[i])
		run->seen[i] = value;
}

/* Takes the counter and what is true at this moment. */
static void read_counter(struct sim_run *run, struct sim_read *read)
{
	const struct sim *sim = &run->sim;
	unsigned i;

	read->cyc = sim_counter(sim);
	read->tick = sim->tick;
	for (i = 0; i < SIM_CLOCKS; i++)
		read->truth[i] = sim_clock_ns(sim, sim_clocks[i]);
	read->allowed_ns = formula_ns(run);
	read->is_step_unseen = sim->stepped_tick > run->sampled_tick;
	read->is_jump_unseen = sim->jumped_tick > run->sampled_tick;
}

static bool read_page(struct sim_run *run, const struct sim_read *read, int64_t *value,
		      bool *is_page)
{
	unsigned i;

	for (i = 0; i < SIM_CLOCKS; i++)
		is_page[i] = run->reader(&run->page, read->cyc, sim_clocks[i], &value[i]) == 0;
	return is_page[0];
}

static void read_finish(struct sim_run *run, struct sim_read *read)
{
	int64_t value[SIM_CLOCKS];
	bool is_page[SIM_CLOCKS];
	unsigned i;

	/* A reader that was held up for longer than a line lasts looks again before it asks the
	 * kernel: the page may have a newer line by now. */
	if (!read_page(run, read, value, is_page) && !run->has_no_second_look) {
		read_counter(run, read);
		read_page(run, read, value, is_page);
	}
	for (i = 0; i < SIM_CLOCKS; i++) {
		if (!is_page[i])
			value[i] = sim_clock_ns(&run->sim, sim_clocks[i]);
		else
			judge_error(run, read, i, value[i], !is_page[3]);
		if (i < SIM_STEADY && !read->is_jump_unseen)
			judge_order(run, read, i, value[i]);
	}
	run->reads++;
	run->page_reads += is_page[0];
	run->clamped_reads += is_page[0] && !is_page[3];
}

static void finish_due(struct sim_run *run)
{
	unsigned i = 0;

	while (i < run->pending_count) {
		struct sim_read read = run->pending[i];

		if (read.due > run->sim.tick) {
			i++;
			continue;
		}
		run->pending[i] = run->pending[--run->pending_count];
		read_finish(run, &read);
	}
}

static void read_begin(struct sim_run *run, uint64_t delay_ns)
{
	struct sim *sim = &run->sim;
	struct sim_read *read;

	if (run->pending_count == SIM_PENDING)
		return;
	read = &run->pending[run->pending_count++];
	read->due = sim->tick + sim_ticks(sim, delay_ns);
	memcpy(read->floor, run->seen, sizeof(read->floor));
	read_counter(run, read);
}

/* Most readers look at once; some are held up, between the counter and the page, for microseconds
 * or as long as a time slice. */
static void read_some(struct sim_run *run)
{
	struct sim *sim = &run->sim;
	uint64_t dice = sim_random(sim, 16), delay = 0;

	if (dice == 0)
		delay = sim_random(sim, 12 * SIM_MS);
	else if (dice < 4)
		delay = sim_random(sim, 100 * SIM_US);
	finish_due(run);
	read_begin(run, delay);
	sim_advance(sim, sim_ticks(sim, READ_NS));
	finish_due(run);
	sim_advance(sim, sim_ticks(sim, READ_NS));
}

/* A moment before wake that is worth a look: around an end or a start, within a clamp, or anywhere.
 */
static uint64_t moment(struct sim_run *run)
{
	struct sim *sim = &run->sim;
	const struct vclock_slot *slot = live(run);
	uint64_t anywhere = sim->tick + sim_random(sim, run->wake_tick - sim->tick + 1);
	uint64_t dice = sim_random(sim, 10), cyc, tick;
	const struct vclock_line *line = &slot->line[sim_random(sim, 4) != 0];

	if (dice >= 6 || line->length_cyc == 0)
		return anywhere;
	cyc = line->start_cyc;
	if (dice >= 2)
		cyc += line->length_cyc;
	if (dice == 4)
		cyc += slot->clamp_cyc;
	if (dice == 5)
		cyc += sim_random(sim, (uint64_t)slot->clamp_cyc + 1);
	tick = (cyc - sim->counter_base) << sim->sub;
	tick += sim_random(sim, sim_ticks(sim, 400) + 1) - sim_ticks(sim, 200);
	return tick < sim->tick || tick > run->wake_tick ? anywhere : tick;
}

static void reads_until_wake(struct sim_run *run)
{
	uint64_t at[16];
	uint64_t span_ns = sim_ns(&run->sim, run->wake_tick - run->sim.tick);
	uint64_t share = span_ns * run->reads_per_10ms + sim_random(&run->sim, 10 * SIM_MS);
	unsigned count = (unsigned)(share / (10 * SIM_MS)), i, j;

	if (count > 16)
		count = 16;
	for (i = 0; i < count; i++) {
		uint64_t tick = moment(run);

		for (j = i; j > 0 && at[j - 1] > tick; j--)
			at[j] = at[j - 1];
		at[j] = tick;
	}
	for (i = 0; i < count; i++) {
		sim_advance_to(&run->sim, at[i]);
		read_some(run);
	}
	sim_advance_to(&run->sim, run->wake_tick);
	finish_due(run);
}

/* What was published since the last time that this was asked. */
static void note_publication(struct sim_run *run)
{
	if (run->page.generation == run->generation)
		return;
	run->generation = run->page.generation;
	run->refused += page_check(&run->page) != 0;
	judge_period(run);
	run->sampled_tick = run->began_tick;
	note_gap(run, run->end_cyc);
	run->end_cyc = live(run)->line[1].start_cyc + live(run)->line[1].length_cyc;
}

static void note_lateness(struct sim_run *run, uint64_t late_ns)
{
	struct sim *sim = &run->sim;

	if (sim_ns(sim, sim->tick - run->lateness_since) > SIM_SEC) {
		run->lateness_before_ns = run->lateness_ns;
		run->lateness_ns = 0;
		run->lateness_since = sim->tick;
	}
	max_into(&run->lateness_ns, late_ns);
}

/* The publisher is held up; readers are not. */
static void stall(struct sim_run *run)
{
	struct sim *sim = &run->sim;
	uint64_t end = sim->tick + sim_ticks(sim, run->stall_ns);

	run->stall_at_look = 0;
	while (sim->tick < end) {
		if (run->reads_per_10ms > 0)
			read_some(run);
		sim_advance(sim, sim_random(sim, sim_ticks(sim, 4 * SIM_MS)));
	}
	note_lateness(run, run->stall_ns);
}

/* Readers go on while the publisher looks at the counter, and while it is held up there. */
static void on_look(struct sim *sim, bool is_after, void *arg)
{
	struct sim_run *run = arg;

	if (!is_after && run->before_look != NULL)
		run->before_look(run);
	note_publication(run);
	if (run->reads_per_10ms > 0 && sim_random(sim, 4) == 0)
		read_some(run);
	if (run->stall_at_look != 0 && sim->looks == run->stall_at_look &&
	    is_after == run->stalls_after)
		stall(run);
}

static void step(struct sim_run *run)
{
	struct sim *sim = &run->sim;
	uint64_t sleep_ns = SIM_MS, late_ns = 0;

	run->steps++;
	if (run->planned_tick != 0)
		note_lateness(run, sim_ns(sim, sim->tick - run->planned_tick));
	run->began_tick = sim->tick;
	run->last_result = run->step(run, &sleep_ns, &run->last_reason);
	if (run->last_result != 0) {
		run->retires++;
		publisher_retire(&run->publisher, run->last_reason);
		sleep_ns = 10 * SIM_MS;
	}
	note_publication(run);
	if (sim_ns(sim, sim->tick - run->began_tick) > 100 * SIM_US) /* held up in its sample */
		note_lateness(run, sim_ns(sim, sim->tick - run->began_tick));
	if (!run->is_punctual)
		late_ns = sim_lateness_ns(sim);
	run->planned_tick = sim->tick + sim_ticks(sim, sleep_ns);
	run->wake_tick = run->planned_tick + sim_ticks(sim, late_ns);
	if (run->after_step != NULL)
		run->after_step(run);
}

static int publisher_steps(struct sim_run *run, uint64_t *ret_sleep_ns,
			   enum vclock_retired *ret_reason)
{
	return publisher_step(&run->publisher, ret_sleep_ns, ret_reason);
}

void sim_run(struct sim_run *run, uint64_t ns)
{
	uint64_t end = run->sim.tick + sim_ticks(&run->sim, ns);

	while (run->sim.tick < end) {
		if (run->is_stopped)
			run->wake_tick = run->sim.tick + sim_ticks(&run->sim, 2 * SIM_MS);
		else
			step(run);
		reads_until_wake(run);
	}
}

void sim_run_restart(struct sim_run *run)
{
	struct publisher_config config = run->config;

	note_publication(run);
	/* A dead publisher cannot state what it has not seen. */
	memset(run->period_error_ns, 0, sizeof(run->period_error_ns));
	run->restarted_tick = run->sim.tick;
	run->planned_tick = 0;
	publisher_init(&run->publisher, &run->sim.reference, &run->page, &config);
}

void sim_run_init(struct sim_run *run, uint64_t hz, uint64_t seed)
{
	memset(run, 0, sizeof(*run));
	sim_init(&run->sim, hz, seed);
	run->sim.on_look = on_look;
	run->sim.on_look_arg = run;
	run->config.page.counter_kind = VCLOCK_COUNTER_CALLER;
	run->config.page.boot_id[0] = 1; /* known: a restarted publisher learns from the page */
	run->config.counter_is_clocksource = true;
	run->reader = sim_reader_page;
	run->step = publisher_steps;
	run->reads_per_10ms = 4;
	sim_run_restart(run);
}

void sim_run_clear(struct sim_run *run)
{
	run->steps = run->retires = run->gaps = run->reads = run->page_reads = run->clamped_reads =
		0;
	run->back = run->over = run->over_stated = run->refused = 0;
	run->worst_back_ns = run->worst_error_ns = run->worst_over_ns = 0;
	run->worst_over_stated_ns = run->worst_steady_ns = 0;
}

unsigned sim_run_page_permille(const struct sim_run *run)
{
	return run->reads == 0 ? 0 : (unsigned)(run->page_reads * 1000 / run->reads);
}
