/* SPDX-License-Identifier: MIT */
/*
 * measure.c - see measure.h. It must never look into a subject.
 */
#include "measure/measure.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Long enough that reading the timer (some 20 ns) is lost in it, short enough that most batches
 * see neither an interrupt nor another task. */
#define BATCH_NS 50000u
/* Where a loop was optimised away no count is ever long enough. */
#define CALLS_MAX (1u << 18)
#define WARM_UPS 2
#define TRIES 3

/* What all threads of a run share. */
struct run {
	const struct measure_options *options;
	const struct measure_timer *timer;
	struct measure_candidate *candidates;
	size_t count;
	uint32_t *calls; /* by candidate */
	pthread_barrier_t barrier;
	pthread_mutex_t gate_lock;
	pthread_cond_t gate_moved;
	enum { GATE_SHUT, GATE_OPEN, GATE_GIVEN_UP } gate;
	uint32_t threads;
	cpu_set_t allowed;
	int first_cpu;
};

struct worker {
	struct run *run;
	pthread_t thread;
	uint32_t index;
	struct measure_samples *samples; /* by candidate */
};

/* In registers alone: what a counter in memory costs differs by some cycles from CPU to CPU. */
MEASURE_LOOP(empty_loop, , measure_keep_long((long)(uintptr_t)subject))

void measure_empty_loop(const void *subject, uint32_t calls)
{
	empty_loop(subject, calls);
}

/* Thread number index goes to the index-th allowed CPU from the one that this runs on now. */
static void pin(const struct run *run, uint32_t index)
{
	cpu_set_t one;
	int cpu = run->first_cpu;
	uint32_t skip = index % (uint32_t)CPU_COUNT(&run->allowed);

	while (!CPU_ISSET(cpu, &run->allowed) || skip-- != 0)
		cpu = (cpu + 1) % CPU_SETSIZE;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	sched_setaffinity(0, sizeof(one), &one);
}

/* False when the timer went back. */
static bool time_batch(const struct run *run, const struct measure_candidate *candidate,
		       uint32_t calls, uint64_t *ret_ticks)
{
	uint64_t start, end;

	start = run->timer->read(run->timer->arg);
	candidate->loop(candidate->subject, calls);
	end = run->timer->read(run->timer->arg);
	if (end < start)
		return false;
	*ret_ticks = end - start;
	return true;
}

/* The shortest of some tries, so that an interruption does not pass for a slow subject. */
static uint64_t shortest(const struct run *run, const struct measure_candidate *candidate,
			 uint32_t calls)
{
	uint64_t ticks, least = UINT64_MAX;
	int i;

	for (i = 0; i < TRIES; i++) {
		if (time_batch(run, candidate, calls, &ticks) && ticks < least)
			least = ticks;
	}
	return least == UINT64_MAX ? 0 : least;
}

/* How many calls make a batch. Also warms the candidate up. */
static uint32_t choose_calls(const struct run *run, const struct measure_candidate *candidate,
			     double batch_ticks)
{
	uint32_t calls = 1;

	while (calls < CALLS_MAX && (double)shortest(run, candidate, calls) < batch_ticks)
		calls *= 2;
	return calls;
}

/* A rough rate, for the length of batches only. */
static double rough_ns_per_tick(const struct measure_timer *timer)
{
	uint64_t start_ns, end_ns, start, end;

	if (timer->ns_per_tick != 0)
		return timer->ns_per_tick;
	start = timer->read(timer->arg);
	start_ns = measure_raw_ns();
	do {
		end_ns = measure_raw_ns();
	} while (start_ns != 0 && end_ns - start_ns < 1000000);
	end = timer->read(timer->arg);
	return end > start && end_ns > start_ns
		       ? (double)(end_ns - start_ns) / (double)(end - start)
		       : 1;
}

static void one_batch(struct worker *worker, size_t which)
{
	struct run *run = worker->run;
	struct measure_samples *samples = &worker->samples[which];
	uint64_t ticks;

	if (run->threads > 1)
		pthread_barrier_wait(&run->barrier);
	if (time_batch(run, &run->candidates[which], samples->calls, &ticks))
		samples->ticks[samples->count++] = ticks;
	else
		samples->negative++;
}

/*
 * All threads begin together, or none does: one that stood at the barrier, waiting for a thread
 * that could not be made, would stand there for ever.
 */
static bool pass_gate(struct run *run)
{
	bool is_open;

	pthread_mutex_lock(&run->gate_lock);
	while (run->gate == GATE_SHUT)
		pthread_cond_wait(&run->gate_moved, &run->gate_lock);
	is_open = run->gate == GATE_OPEN;
	pthread_mutex_unlock(&run->gate_lock);
	return is_open;
}

static void move_gate(struct run *run, bool opens)
{
	pthread_mutex_lock(&run->gate_lock);
	run->gate = opens ? GATE_OPEN : GATE_GIVEN_UP;
	pthread_cond_broadcast(&run->gate_moved);
	pthread_mutex_unlock(&run->gate_lock);
}

/* Each round begins with another candidate, so that none always follows the same one. */
static void *work(void *arg)
{
	struct worker *worker = arg;
	struct run *run = worker->run;
	uint32_t round;
	size_t i;

	if (!pass_gate(run))
		return NULL;
	pin(run, worker->index);
	for (i = 0; i < run->count; i++)
		run->candidates[i].loop(run->candidates[i].subject, run->calls[i] * WARM_UPS);
	for (round = 0; round < run->options->rounds; round++) {
		if (worker->index == 0 && run->options->progress != NULL)
			run->options->progress(run->options->progress_arg, round,
					       run->options->rounds);
		for (i = 0; i < run->count; i++)
			one_batch(worker, (round + i) % run->count);
	}
	return NULL;
}

static void workers_free(struct worker *workers, const struct run *run)
{
	size_t i;
	uint32_t t;

	for (t = 0; workers != NULL && t < run->threads; t++) {
		for (i = 0; workers[t].samples != NULL && i < run->count; i++)
			free(workers[t].samples[i].ticks);
		free(workers[t].samples);
	}
	free(workers);
}

static struct worker *workers_new(struct run *run)
{
	struct worker *workers = calloc(run->threads, sizeof(*workers));
	struct measure_samples *samples;
	uint32_t t;
	size_t i;

	for (t = 0; workers != NULL && t < run->threads; t++) {
		workers[t].run = run;
		workers[t].index = t;
		samples = workers[t].samples = calloc(run->count, sizeof(*samples));
		for (i = 0; samples != NULL && i < run->count; i++) {
			samples[i].calls = run->calls[i];
			samples[i].ticks = calloc(run->options->rounds, sizeof(uint64_t));
			if (samples[i].ticks == NULL)
				samples = NULL;
		}
		if (samples == NULL) {
			workers_free(workers, run);
			return NULL;
		}
	}
	return workers;
}

/* The calling thread is worker 0. */
static int run_workers(struct run *run, struct worker *workers)
{
	uint32_t t, started = 1;
	int r;

	r = pthread_barrier_init(&run->barrier, NULL, run->threads);
	if (r != 0)
		return -r;
	while (r == 0 && started < run->threads) {
		r = pthread_create(&workers[started].thread, NULL, work, &workers[started]);
		started += r == 0;
	}
	move_gate(run, r == 0);
	work(&workers[0]);
	for (t = 1; t < started; t++)
		pthread_join(workers[t].thread, NULL);
	pthread_barrier_destroy(&run->barrier);
	return -r;
}

/* All threads' samples of one candidate, as one set in the first worker's. */
static int pool(struct worker *workers, const struct run *run, size_t which)
{
	struct measure_samples *all = &workers[0].samples[which];
	const struct measure_samples *more;
	uint64_t *ticks;
	uint32_t t;

	ticks = realloc(all->ticks,
			(size_t)run->threads * run->options->rounds * sizeof(*all->ticks));
	if (ticks == NULL)
		return -ENOMEM;
	all->ticks = ticks;
	for (t = 1; t < run->threads; t++) {
		more = &workers[t].samples[which];
		memcpy(all->ticks + all->count, more->ticks, more->count * sizeof(*more->ticks));
		all->count += more->count;
		all->negative += more->negative;
	}
	return 0;
}

static int summarise(struct worker *workers, const struct run *run, double ns_per_tick)
{
	struct measure_scale scale = {.ns_per_tick = ns_per_tick,
				      .ticks_are_cycles = run->timer->is_counter};
	size_t i;
	int r = 0;

	for (i = 0; r == 0 && i < run->count; i++)
		r = pool(workers, run, i);
	/* The empty loop itself first, with its own time left in. */
	for (i = 0; r == 0 && i < run->count; i++) {
		r = measure_summarise(&workers[0].samples[i], &scale, &run->candidates[i].result);
		scale.loop_ticks = measure_fastest(&workers[0].samples[0]);
	}
	return r;
}

static int measure_pinned(struct run *run)
{
	const struct measure_timer *timer = run->timer;
	struct worker *workers;
	double ns_per_tick = rough_ns_per_tick(timer), batch_ns;
	uint64_t start, start_ns, end, end_ns;
	size_t i;
	int r;

	batch_ns = run->options->batch_ns != 0 ? run->options->batch_ns : BATCH_NS;
	for (i = 0; i < run->count; i++)
		run->calls[i] = choose_calls(run, &run->candidates[i], batch_ns / ns_per_tick);
	workers = workers_new(run);
	if (workers == NULL)
		return -ENOMEM;
	start = timer->read(timer->arg);
	start_ns = measure_raw_ns();
	r = run_workers(run, workers);
	end = timer->read(timer->arg);
	end_ns = measure_raw_ns();
	if (timer->ns_per_tick == 0 && end > start && end_ns > start_ns)
		ns_per_tick = (double)(end_ns - start_ns) / (double)(end - start);
	if (r == 0)
		r = summarise(workers, run, ns_per_tick);
	workers_free(workers, run);
	return r;
}

int measure_run(const struct measure_options *options, struct measure_candidate *candidates,
		size_t count)
{
	struct run run = {.options = options, .candidates = candidates, .count = count};
	int r;

	run.timer = options->timer != NULL ? options->timer : measure_timer_best();
	run.threads = options->threads != 0 ? options->threads : 1;
	run.first_cpu = sched_getcpu();
	if (run.first_cpu < 0 || sched_getaffinity(0, sizeof(run.allowed), &run.allowed) != 0)
		return -errno;
	run.calls = calloc(count, sizeof(*run.calls));
	if (run.calls == NULL)
		return -ENOMEM;
	pin(&run, 0);
	r = measure_pinned(&run);
	sched_setaffinity(0, sizeof(run.allowed), &run.allowed);
	free(run.calls);
	return r;
}
