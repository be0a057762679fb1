/* SPDX-License-Identifier: MIT */
/* observe.c - see observe.h. */
#include "observe.h"

#include "vclock.h"
#include "vclock/read.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 4
/* The readers leave most of each CPU alone: qemu's own threads share the host's few CPUs with them,
 * and a machine whose CPUs are always busy is held up for tens of milliseconds. */
#define BURST_NS 500000
#define PAUSE_NS 1000000
/* As the suites have it: all that the page remembers. A writer that was late once is late again. */
#define LINES_AFTER_GAP (VCLOCK_HISTORY - 1)

static const uint32_t clocks[] = {VCLOCK_MONOTONIC, VCLOCK_REALTIME, VCLOCK_MONOTONIC_RAW,
				  VCLOCK_BOOTTIME, VCLOCK_TAI};
#define CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

static struct observers {
	const struct vclock_page *page;
	uint32_t changing, stop;
	uint64_t latest_ns; /* the largest MONOTONIC that any thread has seen */
	int threads;
	pthread_t thread[THREADS_MAX];
	struct observe_figures figures[THREADS_MAX];
} observers;

/* One read, and all that is needed to judge it. */
struct reading {
	uint32_t clk;
	uint64_t cyc;
	int64_t before_ns, value_ns, after_ns;
	bool is_from_page;
};

int64_t observe_kernel_ns(int clk)
{
	struct timespec ts;

	clock_gettime((clockid_t)clk, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static void read_clock(uint32_t clk, struct reading *ret_reading)
{
	struct vclock_timespec ts;

	ret_reading->clk = clk;
	ret_reading->before_ns = observe_kernel_ns((int)clk);
	ret_reading->cyc = vclock_counter_ordered();
	ret_reading->is_from_page = vclock_read_at(observers.page, ret_reading->cyc, clk, &ts) == 0;
	if (!ret_reading->is_from_page)
		vclock_gettime64((int32_t)clk, &ts);
	ret_reading->after_ns = observe_kernel_ns((int)clk);
	ret_reading->value_ns = ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static const struct vclock_slot *live_slot(void)
{
	uint32_t generation = __atomic_load_n(&observers.page->generation, __ATOMIC_ACQUIRE);

	return &observers.page->slot[generation & 1];
}

/*
 * Whether the clock stood still past a line's end: no line of the page, and of its history of some
 * 100 ms, is about that counter value. A reader that is held up for longer is excused too.
 */
static bool stood_still(const struct reading *reading)
{
	uint64_t ns;

	return (VCLOCK_BIT(reading->clk) & VCLOCK_STEADY_CLOCKS) != 0 &&
	       vclock_read_stamp(observers.page, reading->cyc, reading->clk, &ns) != 0;
}

/* Whether one of the last lines did not start where the one before it ended. */
static bool is_after_gap(void)
{
	const struct vclock_slot *slot = live_slot();
	const struct vclock_line *first = &slot->line[slot->line[0].length_cyc == 0];
	uint64_t start_cyc = first->start_cyc;
	uint32_t i;

	if (first->start_cyc + first->length_cyc != slot->line[1].start_cyc &&
	    first != &slot->line[1])
		return true;
	for (i = 1; i <= LINES_AFTER_GAP && i <= slot->history_count; i++) {
		const struct vclock_line *line =
			&observers.page->history[(slot->history_count - i) % VCLOCK_HISTORY];

		if (line->start_cyc + line->length_cyc != start_cyc)
			return true;
		start_cyc = line->start_cyc;
	}
	return false;
}

uint64_t observe_outside(void)
{
	uint64_t outside = 0;
	int i;

	for (i = 0; i < observers.threads; i++)
		outside += __atomic_load_n(&observers.figures[i].outside, __ATOMIC_RELAXED);
	return outside;
}

static bool is_judged(uint32_t clk, uint32_t changing)
{
	bool is_wall = clk == VCLOCK_REALTIME || clk == VCLOCK_TAI;

	return !(changing & OBSERVE_ALL) && !(is_wall && changing & OBSERVE_WALL) &&
	       !(clk == VCLOCK_BOOTTIME && changing & OBSERVE_BOOT);
}

/* 0 inside the bracket; else how far below (< 0) or above it. */
static int64_t distance_ns(const struct reading *reading)
{
	if (reading->value_ns < reading->before_ns)
		return reading->value_ns - reading->before_ns;
	return reading->value_ns > reading->after_ns ? reading->value_ns - reading->after_ns : 0;
}

static int64_t size_of(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

static void keep_worst(int64_t *worst_ns, int64_t ns)
{
	if (size_of(ns) > size_of(*worst_ns))
		*worst_ns = ns;
}

static void note_far(struct observe_figures *figures, const struct reading *reading)
{
	bool is_wall = reading->clk == VCLOCK_REALTIME || reading->clk == VCLOCK_TAI;

	__atomic_store_n(is_wall ? &figures->far_real_ns : &figures->far_mono_ns,
			 observe_kernel_ns(CLOCK_MONOTONIC), __ATOMIC_RELAXED);
}

int64_t observe_far_ns(bool is_wall)
{
	int64_t far_ns, latest_ns = 0;
	int i;

	for (i = 0; i < observers.threads; i++) {
		far_ns = __atomic_load_n(is_wall ? &observers.figures[i].far_real_ns
						 : &observers.figures[i].far_mono_ns,
					 __ATOMIC_RELAXED);
		if (far_ns > latest_ns)
			latest_ns = far_ns;
	}
	return latest_ns;
}

/* So long that what the page says now is not what it said when this was read. */
static bool was_held_up(const struct reading *reading)
{
	uint64_t hz = VCLOCK_LOAD64(&observers.page->counter_hz);

	return vclock_counter_unordered() - reading->cyc > hz / 20;
}

/*
 * Outside in the page's own right: it stands still at its last line's end until the kernel has
 * surely passed that value, and the first lines after a gap start above all that the kernel can
 * have said.
 */
static bool is_excused(const struct reading *reading, int64_t distance, uint32_t error_ns)
{
	return stood_still(reading) ||
	       ((is_after_gap() || was_held_up(reading)) && size_of(distance) <= error_ns);
}

static void judge(struct observe_figures *figures, const struct reading *reading, uint32_t changing)
{
	int64_t distance = distance_ns(reading);
	uint32_t error_ns = live_slot()->error_ns;

	if (error_ns > figures->error_ns)
		figures->error_ns = error_ns;
	/* Only a step of the clock itself makes the kernel's own reads go back. */
	if (distance == 0 || reading->after_ns < reading->before_ns)
		return;
	if (is_excused(reading, distance, error_ns)) {
		figures->excused++;
		keep_worst(&figures->worst_excused_ns, distance);
		return;
	}
	if (size_of(distance) > OBSERVE_FAR_NS)
		note_far(figures, reading);
	if (!is_judged(reading->clk, changing))
		return;
	if (changing & (reading->clk == VCLOCK_MONOTONIC_RAW ? OBSERVE_RAW : OBSERVE_RATE)) {
		keep_worst(&figures->worst_changing_ns, distance);
	} else {
		__atomic_add_fetch(&figures->outside, 1, __ATOMIC_RELAXED);
		keep_worst(&figures->worst_steady_ns, distance);
	}
}

/*
 * latest_ns was taken before the read: in the order of memory that value is older. The library's
 * answers take part, since a reader changes from page to kernel and back.
 */
static void look_for_back(struct observe_figures *figures, uint64_t latest_ns, uint64_t value_ns)
{
	if (value_ns < latest_ns) {
		figures->back++;
		keep_worst(&figures->worst_back_ns, (int64_t)(latest_ns - value_ns));
		return;
	}
	while (value_ns > latest_ns &&
	       !__atomic_compare_exchange_n(&observers.latest_ns, &latest_ns, value_ns, true,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		continue;
}

static void look(struct observe_figures *figures, uint32_t clk)
{
	uint32_t changing = __atomic_load_n(&observers.changing, __ATOMIC_SEQ_CST);
	uint64_t latest_ns = __atomic_load_n(&observers.latest_ns, __ATOMIC_SEQ_CST);
	struct reading reading;

	read_clock(clk, &reading);
	changing |= __atomic_load_n(&observers.changing, __ATOMIC_SEQ_CST);
	figures->reads++;
	figures->page_reads += reading.is_from_page;
	if (reading.is_from_page)
		judge(figures, &reading, changing);
	if (clk == VCLOCK_MONOTONIC)
		look_for_back(figures, latest_ns, (uint64_t)reading.value_ns);
}

static void pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

static void *observer(void *arg)
{
	int index = (int)(intptr_t)arg;
	int64_t end_ns;
	size_t i;

	pin(index);
	while (!__atomic_load_n(&observers.stop, __ATOMIC_SEQ_CST)) {
		end_ns = observe_kernel_ns(CLOCK_MONOTONIC_RAW) + BURST_NS;
		do {
			for (i = 0; i < CLOCKS; i++)
				look(&observers.figures[index], clocks[i]);
		} while (observe_kernel_ns(CLOCK_MONOTONIC_RAW) < end_ns);
		nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
	}
	return NULL;
}

int observe_begin(const struct vclock_page *page)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int i, r;

	memset(&observers, 0, sizeof(observers));
	observers.page = page;
	observers.threads = cpus < 1 ? 1 : cpus > THREADS_MAX ? THREADS_MAX : (int)cpus;
	for (i = 0; i < observers.threads; i++) {
		r = pthread_create(&observers.thread[i], NULL, observer, (void *)(intptr_t)i);
		if (r != 0)
			return -r;
	}
	return 0;
}

void observe_judge(uint32_t changing)
{
	__atomic_store_n(&observers.changing, changing, __ATOMIC_SEQ_CST);
}

static void merge(struct observe_figures *all, const struct observe_figures *one)
{
	all->reads += one->reads;
	all->page_reads += one->page_reads;
	all->outside += one->outside;
	all->excused += one->excused;
	all->back += one->back;
	keep_worst(&all->worst_steady_ns, one->worst_steady_ns);
	keep_worst(&all->worst_excused_ns, one->worst_excused_ns);
	keep_worst(&all->worst_changing_ns, one->worst_changing_ns);
	keep_worst(&all->worst_back_ns, one->worst_back_ns);
	keep_worst(&all->far_mono_ns, one->far_mono_ns);
	keep_worst(&all->far_real_ns, one->far_real_ns);
	if (one->error_ns > all->error_ns)
		all->error_ns = one->error_ns;
}

void observe_end(struct observe_figures *ret_figures)
{
	int i;

	__atomic_store_n(&observers.stop, 1, __ATOMIC_SEQ_CST);
	memset(ret_figures, 0, sizeof(*ret_figures));
	for (i = 0; i < observers.threads; i++) {
		pthread_join(observers.thread[i], NULL);
		merge(ret_figures, &observers.figures[i]);
	}
}
