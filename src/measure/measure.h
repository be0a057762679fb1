/* SPDX-License-Identifier: MIT */
/*
 * measure.h - timed loops: the engine, which knows nothing of what it measures.
 *
 * A candidate is a function that does its subject so many times in a loop, so that an inline is
 * measured inline. All candidates take turns, one batch each a round, so that whatever disturbs the
 * machine disturbs all of them; the minimum over the rounds is what one call costs undisturbed.
 */
#ifndef MEASURE_H
#define MEASURE_H

#include "measure/measure_stats.h"
#include "measure/measure_timer.h"

struct measure_candidate {
	/* Does the subject calls times. Must work in several threads at once. */
	void (*loop)(const void *subject, uint32_t calls);
	const void *subject;
	struct measure_result result; /* filled by measure_run(); measure_result_free() it */
};

struct measure_options {
	uint32_t rounds;   /* 1 .. */
	uint32_t batch_ns; /* the least time of a batch, where it can be had; 0: 50 us */
	uint32_t threads;  /* run this many at once, each on a CPU of its own while there are
			      enough; 0: 1 */
	const struct measure_timer *timer; /* NULL: measure_timer_best() */
	/* Called in the first thread before each round; may be NULL. */
	void (*progress)(void *arg, uint32_t round, uint32_t rounds);
	void *progress_arg;
};

/*
 * Measures all candidates. The first one is the empty loop: its minimum is taken out of all the
 * others' samples, and its own figures are given with it. Pins the calling thread to a CPU and puts
 * its affinity back. Returns 0; -ENOMEM, -EAGAIN when threads cannot be had. A timer that goes back
 * is no error: such batches are counted in result.negative and left out.
 */
int measure_run(const struct measure_options *options, struct measure_candidate *candidates,
		size_t count);

/*
 * A loop for measure_candidate.loop. body is the subject, and must hand its result to one of the
 * sinks below; declarations come before the loop. Aligned, so that what a candidate costs does not
 * depend on where the linker put it.
 */
#define MEASURE_LOOP(name, declarations, body)                                       \
	__attribute__((noinline, aligned(64))) static void name(const void *subject, \
								uint32_t calls)      \
	{                                                                            \
		declarations;                                                        \
		(void)subject;                                                       \
		for (; calls != 0; calls--) {                                        \
			body;                                                        \
		}                                                                    \
	}

/* The sinks: the compiler must believe that somebody looks at the value. They cost nothing. */
#define MEASURE_KEEP_MEMORY(pointer) __asm__ __volatile__("" : : "r"(pointer) : "memory")

static inline __attribute__((always_inline)) void measure_keep_long(long value)
{
	__asm__ __volatile__("" : : "r"(value) : "memory");
}

static inline __attribute__((always_inline)) void measure_keep_u64(uint64_t value)
{
	if (sizeof(long) == sizeof(uint64_t))
		measure_keep_long((long)value);
	else
		__asm__ __volatile__(""
				     :
				     : "r"((uint32_t)value), "r"((uint32_t)(value >> 32))
				     : "memory");
}

/* The empty loop. */
void measure_empty_loop(const void *subject, uint32_t calls);

#endif /* MEASURE_H */
