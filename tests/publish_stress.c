/* SPDX-License-Identifier: MIT */
/*
 * Real threads on the real counter: a writer that updates as fast as it can, readers that take
 * three clocks out of one slot. The writer steps between two sets of offsets, so a read that mixes
 * two updates shows in the differences; MONOTONIC goes on over all threads. A reader without the
 * second look at the generation is caught.
 */
#include "support_byo.h"
#include "tap.h"
#include "vclock/read.h"

#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#define READERS 2
#define SEC INT64_C(1000000000)

static struct byo byo;
static uint64_t stop, latest; /* latest: the largest MONOTONIC that a finished read saw */
static uint64_t met;	      /* reads that an update fell into */

struct reader {
	pthread_t thread;
	uint64_t reads, missed, torn, backward, retries;
	bool looks_once; /* the mutant */
};

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * (uint64_t)SEC + (uint64_t)ts.tv_nsec;
}

static uint64_t real_counter(void *arg)
{
	(void)arg;
	return vclock_counter_ordered();
}

/* Once in a while a reader is slow in the middle of its loads, as a preempted one is. */
static void dawdle(uint64_t n)
{
	volatile unsigned i;

	if (n % 4 == 0)
		for (i = 0; i < 3000; i++)
			;
}

/* MONOTONIC, REALTIME and TAI at one counter value, out of one slot. */
static int read_three(struct reader *reader, uint64_t cyc, int64_t *value)
{
	static const uint32_t clocks[3] = {VCLOCK_MONOTONIC, VCLOCK_REALTIME, VCLOCK_TAI};
	const struct vclock_page *page = &byo.page;
	int tries, i;

	for (tries = 0; tries < VCLOCK_READ_TRIES; tries++) {
		uint32_t generation = VCLOCK_LOAD32(&page->generation), delta = 0, nsec = 0;
		const struct vclock_slot *slot = &page->slot[generation & 1];
		const struct vclock_line *line;
		int64_t sec = 0;

		vclock_fence_acquire();
		line = vclock_slot_line(slot, cyc, 0, &delta);
		for (i = 0; line != NULL && i < 3; i++) {
			vclock_line_value(line, clocks[i], delta, page->shift, &sec, &nsec);
			value[i] = sec * SEC + nsec;
			dawdle(reader->reads);
		}
		vclock_fence_acquire();
		if (reader->looks_once || VCLOCK_LOAD32(&page->generation) == generation)
			return line != NULL ? 0 : -VCLOCK_EAGAIN;
		reader->retries++;
		__atomic_fetch_add(&met, 1, __ATOMIC_RELAXED);
	}
	return -VCLOCK_EAGAIN;
}

static void raise_latest(uint64_t mono)
{
	uint64_t seen = __atomic_load_n(&latest, __ATOMIC_SEQ_CST);

	while (mono > seen && !__atomic_compare_exchange_n(&latest, &seen, mono, false,
							   __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		;
}

static void *read_on(void *arg)
{
	struct reader *reader = arg;

	while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
		uint64_t floor = __atomic_load_n(&latest, __ATOMIC_SEQ_CST);
		int64_t value[3] = {0, 0, 0}, offset, tai;

		reader->reads++;
		if (read_three(reader, vclock_counter_ordered(), value) != 0) {
			reader->missed++;
			continue;
		}
		offset = value[1] - value[0];
		tai = value[2] - value[1];
		/* With 1000 s goes TAI + 37 s, with 2000 s goes TAI + 38 s. */
		if (!(offset == 1000 * SEC && tai == 37 * SEC) &&
		    !(offset == 2000 * SEC && tai == 38 * SEC)) {
			reader->torn++;
			__atomic_fetch_add(&met, 1, __ATOMIC_RELAXED);
		}
		reader->backward += value[0] < (int64_t)floor;
		raise_latest((uint64_t)value[0]);
	}
	return NULL;
}

/* Nominal, for the shift and the lines; it need not be right. */
static uint64_t hz(void)
{
	uint64_t ns = now_ns(), cyc = vclock_counter_ordered(), cyc2, ns2;

	do
		ns2 = now_ns();
	while (ns2 - ns < 20000000);
	cyc2 = vclock_counter_ordered();
	return (uint64_t)((double)(cyc2 - cyc) * 1e9 / (double)(ns2 - ns));
}

/* For that long, and up to ten times that until an update has fallen into some reads. */
static void write_on(uint64_t for_ns, uint64_t *ret_updates)
{
	uint64_t begin = now_ns(), now = begin, n = 0;

	while (now - begin < for_ns ||
	       (now - begin < 10 * for_ns && __atomic_load_n(&met, __ATOMIC_RELAXED) < 10)) {
		struct vclock_timekeeper *tk = &byo.tk;
		bool second = n & 1;

		byo.cyc = vclock_counter_ordered();
		byo_restate(&byo);
		/* MONOTONIC is REALTIME less the offset: both move by 1000 s. */
		tk->xtime_sec += second ? 1000 : n == 0 ? 0 : -1000;
		tk->wall_to_monotonic.tv_sec = second ? -2000 : -1000;
		tk->tai_offset_sec = second ? 38 : 37;
		tk->clock_was_set_seq++;
		if (n % 64 == 0)
			tk->mult += n % 128 == 0 ? 1000 : -1000;
		*ret_updates += vclock_page_update(&byo.page, tk) == 0;
		n++;
		now = now_ns();
	}
	__atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
}

static struct reader run(bool looks_once, uint64_t for_ns)
{
	struct reader readers[READERS], sum;
	uint64_t updates = 0;
	unsigned i, started = 0;

	memset(readers, 0, sizeof(readers));
	memset(&sum, 0, sizeof(sum));
	byo_init(&byo, hz(), vclock_counter_ordered(), 1000, 0, 2000);
	/* Long lines: a writer that has to share its CPU is away for tens of ms. */
	byo.config.interval_ns = byo.config.ahead_ns = 20000000;
	vclock_page_adopt(&byo.page, &byo.config);
	byo.tk.read_counter = real_counter;
	byo.tk.tai_offset_sec = 37;
	stop = 0;
	latest = met = 0;
	for (i = 0; i < READERS; i++) {
		readers[i].looks_once = looks_once;
		started += pthread_create(&readers[i].thread, NULL, read_on, &readers[i]) == 0;
	}
	if (started == READERS)
		write_on(for_ns, &updates);
	__atomic_store_n(&stop, 1, __ATOMIC_SEQ_CST);
	for (i = 0; i < started; i++) {
		pthread_join(readers[i].thread, NULL);
		sum.reads += readers[i].reads;
		sum.missed += readers[i].missed;
		sum.torn += readers[i].torn;
		sum.backward += readers[i].backward;
		sum.retries += readers[i].retries;
	}
	tap_diag("%" PRIu64 " updates, %" PRIu64 " reads, %" PRIu64 " not covered, %" PRIu64
		 " retries, %" PRIu64 " torn, %" PRIu64 " back",
		 updates, sum.reads, sum.missed, sum.retries, sum.torn, sum.backward);
	return sum;
}

int main(void)
{
	struct reader sum = run(false, (tap_is_long() ? 20 : 1) * (uint64_t)SEC);

	tap_ok(sum.reads - sum.missed > 10000, "readers read");
	tap_ok(sum.retries > 0, "updates did fall into reads");
	tap_ok(sum.torn == 0, "no read mixes two updates");
	tap_ok(sum.backward == 0, "MONOTONIC goes on over all threads");
	sum = run(true, (uint64_t)SEC);
	tap_ok(sum.torn > 0, "caught: a reader that does not look at the generation again");
	return tap_done();
}
