/* SPDX-License-Identifier: MIT */
/* observe.c - see observe.h. */
#include "observe.h"

#include "publish/page_check.h"
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
/* A cycle is longer than it takes to read a clock three times. */
#define SLOW_HZ 20000000u

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
	uint32_t error_ns; /* the larger of what the page stated before and after it */
	bool is_from_page;
};

int64_t observe_kernel_ns(int clk)
{
	struct timespec ts;

	clock_gettime((clockid_t)clk, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static int64_t size_of(int64_t ns)
{
	return ns < 0 ? -ns : ns;
}

static uint32_t stated_error_ns(void)
{
	uint32_t generation = __atomic_load_n(&observers.page->generation, __ATOMIC_ACQUIRE);

	return observers.page->slot[generation & 1].error_ns;
}

static void read_clock(uint32_t clk, struct reading *ret_reading)
{
	struct vclock_timespec ts;
	uint32_t error_ns;

	ret_reading->clk = clk;
	ret_reading->error_ns = stated_error_ns();
	ret_reading->before_ns = observe_kernel_ns((int)clk);
	ret_reading->cyc = vclock_counter_ordered();
	ret_reading->is_from_page = vclock_read_at(observers.page, ret_reading->cyc, clk, &ts) == 0;
	if (!ret_reading->is_from_page)
		vclock_gettime64((int32_t)clk, &ts);
	ret_reading->after_ns = observe_kernel_ns((int)clk);
	ret_reading->value_ns = ts.tv_sec * 1000000000 + ts.tv_nsec;
	error_ns = stated_error_ns();
	if (error_ns > ret_reading->error_ns)
		ret_reading->error_ns = error_ns;
}

/* The page's lines, the newest first. Returns how many; 0: the writer was faster, each time. */
static unsigned copy_lines(struct vclock_line *ret_lines)
{
	const struct vclock_slot *slot;
	struct vclock_page page;
	unsigned count = 0;
	uint32_t n;

	if (page_copy(observers.page, &page) != 0)
		return 0;
	slot = &page.slot[page.generation & 1];
	ret_lines[count++] = slot->line[1];
	if (slot->line[0].length_cyc != 0)
		ret_lines[count++] = slot->line[0];
	/* The oldest entry is left out: the next update may be writing it. */
	for (n = 1; n < VCLOCK_HISTORY && n <= slot->history_count; n++)
		ret_lines[count++] = page.history[(slot->history_count - n) % VCLOCK_HISTORY];
	return count;
}

/* Whether a line began where none had ended, or too long ago to tell. */
static bool begins_after_gap(const struct vclock_line *lines, unsigned count, unsigned i)
{
	return i + 1 >= count ||
	       lines[i + 1].start_cyc + lines[i + 1].length_cyc != lines[i].start_cyc;
}

/*
 * Outside in the page's own right: where no line is about the counter value, a steady clock stood
 * still at the end of the last one until the kernel had surely passed that; and the first line
 * after a gap, and the next until its end, lie above all that the kernel can have said, by less
 * than the stated error. Of a reader that was held up for so long that the page has forgotten, it
 * is not known.
 */
static bool is_excused(const struct reading *reading, int64_t distance)
{
	struct vclock_line lines[2 + VCLOCK_HISTORY];
	unsigned count = copy_lines(lines), i = 0;

	while (i < count && reading->cyc - lines[i].start_cyc >= lines[i].length_cyc)
		i++;
	if (i >= count && (VCLOCK_BIT(reading->clk) & VCLOCK_STEADY_CLOCKS) != 0)
		return true;
	return size_of(distance) <= reading->error_ns &&
	       (i >= count || begins_after_gap(lines, count, i) ||
		begins_after_gap(lines, count, i + 1));
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

/*
 * 0 inside the bracket; else how far below (< 0) or above it. All three reads can be of one cycle
 * of a slow counter: then two clocks that are cut off to whole ns have to be the same, which two
 * lines that are a hundredth of a ns apart are not always. One ns of that is nobody's error.
 */
static int64_t distance_ns(const struct reading *reading)
{
	int64_t cut_ns = VCLOCK_LOAD64(&observers.page->counter_hz) < SLOW_HZ;

	if (reading->value_ns < reading->before_ns - cut_ns)
		return reading->value_ns - reading->before_ns;
	return reading->value_ns > reading->after_ns + cut_ns
		       ? reading->value_ns - reading->after_ns
		       : 0;
}

static void keep_worst(int64_t *worst_ns, int64_t ns)
{
	if (size_of(ns) > size_of(*worst_ns))
		*worst_ns = ns;
}

/* When it was read: a reader may be held up before it comes here. */
static void note_far(struct observe_figures *figures, const struct reading *reading)
{
	bool is_wall = reading->clk == VCLOCK_REALTIME || reading->clk == VCLOCK_TAI;
	uint64_t since_us = (vclock_counter_ordered() - reading->cyc) /
			    (VCLOCK_LOAD64(&observers.page->counter_hz) / 1000000);

	__atomic_store_n(is_wall ? &figures->far_real_ns : &figures->far_mono_ns,
			 observe_kernel_ns(CLOCK_MONOTONIC) - (int64_t)since_us * 1000,
			 __ATOMIC_RELAXED);
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

static void judge(struct observe_figures *figures, const struct reading *reading, uint32_t changing)
{
	int64_t distance = distance_ns(reading);

	if (reading->error_ns > figures->error_ns)
		figures->error_ns = reading->error_ns;
	/* Only a step of the clock itself makes the kernel's own reads go back. */
	if (distance == 0 || reading->after_ns < reading->before_ns)
		return;
	if (is_excused(reading, distance)) {
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
