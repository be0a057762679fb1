/* SPDX-License-Identifier: MIT */
/*
 * bench_loops.c - see bench_loops.h. Each loop takes what it needs out of its subject first: the
 * sinks tell the compiler that memory may have changed, and it would load it again every time.
 */
#include "cli/bench_loops.h"

#include <sched.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "cli/bench.h"
#include "vclock/counter.h"
#include "vclock/read.h"

/* A vDSO's own types: long on every architecture. */
struct long_timeval {
	long sec, usec;
};

typedef int clock_function(int32_t clk, struct vclock_timespec *ret_ts);
typedef int own_function(struct vclock_timespec *ret_ts);
typedef uint64_t ns_function(void);
typedef int now_function(struct vclock_timespec *ret_real, struct vclock_timespec *ret_mono);
typedef int timeofday_function(void *ret_tv, void *ret_tz);
typedef long vdso_time_function(long *ret_time);
typedef int64_t time_function(int64_t *ret_time);
typedef long vdso_getcpu_function(unsigned *ret_cpu, unsigned *ret_node, void *unused);
typedef int getcpu_function(unsigned *ret_cpu, unsigned *ret_node);

#define SUBJECT const struct bench_subject *s = subject
#define FUNCTION(type) \
	SUBJECT;       \
	type *f = (type *)s->function

/* As MEASURE_LOOP, with a name that others see. */
#define LOOP(name, declarations, body)                 \
	MEASURE_LOOP(name##_loop, declarations, body)  \
	void name(const void *subject, uint32_t calls) \
	{                                              \
		name##_loop(subject, calls);           \
	}

LOOP(bench_counter_unordered, , measure_keep_u64(vclock_counter_unordered()))
LOOP(bench_counter_ordered, , measure_keep_u64(vclock_counter_ordered()))

LOOP(bench_libc_clock, SUBJECT; clockid_t clk = s->clk; struct timespec ts, clock_gettime(clk, &ts);
     MEASURE_KEEP_MEMORY(&ts))
LOOP(bench_function_clock, FUNCTION(clock_function); int32_t clk = s->clk;
     struct vclock_timespec ts, f(clk, &ts); MEASURE_KEEP_MEMORY(&ts))
LOOP(bench_function_own, FUNCTION(own_function); struct vclock_timespec ts, f(&ts);
     MEASURE_KEEP_MEMORY(&ts))
LOOP(bench_function_ns, FUNCTION(ns_function), measure_keep_u64(f()))

/* A reader for each clock, behind a table of jumps: what the image's mask is held against. */
static __attribute__((noinline, aligned(64))) int switch_clock(const struct vclock_page *page,
							       int32_t clk,
							       struct vclock_timespec *ret_ts)
{
	switch (clk) {
	case VCLOCK_REALTIME:
		return vclock_read_timespec(page, VCLOCK_REALTIME, ret_ts);
	case VCLOCK_MONOTONIC:
		return vclock_read_timespec(page, VCLOCK_MONOTONIC, ret_ts);
	case VCLOCK_MONOTONIC_RAW:
		return vclock_read_timespec(page, VCLOCK_MONOTONIC_RAW, ret_ts);
	case VCLOCK_BOOTTIME:
		return vclock_read_timespec(page, VCLOCK_BOOTTIME, ret_ts);
	case VCLOCK_TAI:
		return vclock_read_timespec(page, VCLOCK_TAI, ret_ts);
	default:
		return -VCLOCK_EAGAIN;
	}
}

LOOP(bench_switch_clock, SUBJECT; const struct vclock_page *page = s->page; int32_t clk = s->clk;
     struct vclock_timespec ts, switch_clock(page, clk, &ts); MEASURE_KEEP_MEMORY(&ts))

LOOP(bench_libc_two, struct timespec real;
     struct timespec mono, clock_gettime(CLOCK_REALTIME, &real);
     clock_gettime(CLOCK_MONOTONIC, &mono); MEASURE_KEEP_MEMORY(&real); MEASURE_KEEP_MEMORY(&mono))
LOOP(bench_vdso_two, FUNCTION(clock_function); struct vclock_timespec real;
     struct vclock_timespec mono, f(CLOCK_REALTIME, &real); f(CLOCK_MONOTONIC, &mono);
     MEASURE_KEEP_MEMORY(&real); MEASURE_KEEP_MEMORY(&mono))
LOOP(bench_function_now, FUNCTION(now_function); struct vclock_timespec real;
     struct vclock_timespec mono, f(&real, &mono); MEASURE_KEEP_MEMORY(&real);
     MEASURE_KEEP_MEMORY(&mono))
LOOP(bench_inline_now, SUBJECT; const struct vclock_page *page = s->page;
     struct vclock_timespec real; struct vclock_timespec mono, vclock_read_now(page, &real, &mono);
     MEASURE_KEEP_MEMORY(&real); MEASURE_KEEP_MEMORY(&mono))

LOOP(bench_libc_gettimeofday, struct timeval tv, gettimeofday(&tv, NULL); MEASURE_KEEP_MEMORY(&tv))
/* Large enough for the library's 64-bit form and for the kernel's. */
LOOP(bench_function_gettimeofday, FUNCTION(timeofday_function);
     struct vclock_timeval tv, f(&tv, NULL); MEASURE_KEEP_MEMORY(&tv))
LOOP(bench_function_gettimeofday_null, FUNCTION(timeofday_function),
     measure_keep_long(f(NULL, NULL)))
LOOP(bench_gettimeofday_as_clock, FUNCTION(timeofday_function); struct long_timeval tv;
     struct vclock_timespec ts, f(&tv, NULL); ts.tv_sec = tv.sec; ts.tv_nsec = tv.usec * 1000;
     MEASURE_KEEP_MEMORY(&ts))

LOOP(bench_libc_time, , measure_keep_long((long)time(NULL)))
LOOP(bench_vdso_time, FUNCTION(vdso_time_function), measure_keep_long(f(NULL)))
LOOP(bench_library_time, FUNCTION(time_function), measure_keep_u64((uint64_t)f(NULL)))

LOOP(bench_libc_getcpu, , measure_keep_long(sched_getcpu()))
LOOP(bench_vdso_getcpu, FUNCTION(vdso_getcpu_function);
     unsigned where[2], f(&where[0], &where[1], NULL); MEASURE_KEEP_MEMORY(where))
LOOP(bench_library_getcpu, FUNCTION(getcpu_function); unsigned where[2], f(&where[0], &where[1]);
     MEASURE_KEEP_MEMORY(where))

static inline __attribute__((always_inline)) uint32_t pid_of(const volatile uint32_t *word,
							     const struct bench_subject *subject)
{
	uint32_t pid = *word;

	return VCLOCK_LIKELY(pid != 0) ? pid : (uint32_t)subject->getpid_slow();
}

typedef const volatile uint32_t *word_function(void);

LOOP(bench_libc_getpid, , measure_keep_long(getpid()))

/* What vclock_getpid() is when its word is asked for every time, and when it is not. */
LOOP(bench_library_getpid, FUNCTION(word_function), measure_keep_long((long)pid_of(f(), s)))
LOOP(bench_inline_getpid, SUBJECT;
     const volatile uint32_t *word = s->word, measure_keep_long((long)pid_of(word, s)))

/*
 * The benchmark that fools people: the word is an ordinary variable to the compiler and nobody
 * looks at the results but the last, so that no loop is left.
 */
__attribute__((noinline, aligned(64))) void bench_gone_getpid(const void *subject, uint32_t calls)
{
	const struct bench_subject *s = subject;
	const uint32_t *word = (const uint32_t *)s->word;
	uint32_t pid = 0;

	for (; calls != 0; calls--)
		pid = *word;
	measure_keep_long((long)pid);
}

LOOP(bench_raise, , raise(0))

LOOP(bench_inline_unordered, SUBJECT; const struct vclock_page *page = s->page;
     uint64_t ns = 0, vclock_read_ns_unordered(page, VCLOCK_MONOTONIC, &ns); measure_keep_u64(ns))

#define RAW_LOOPS(way)                                                                          \
	MEASURE_LOOP(raw_clock_##way, SUBJECT; int32_t clk = s->clk;                            \
		     struct vclock_timespec ts,                                                 \
		     rawcall_##way(RAWCALL_CLOCK_GETTIME, clk, (long)&ts, 0))                   \
	MEASURE_LOOP(raw_gettimeofday_##way, struct long_timeval tv,                            \
		     rawcall_##way(SYS_gettimeofday, (long)&tv, 0, 0))                          \
	MEASURE_LOOP(raw_time_##way, , measure_keep_long(rawcall_##way(RAWCALL_TIME, 0, 0, 0))) \
	MEASURE_LOOP(raw_getcpu_##way, unsigned where[2],                                       \
		     rawcall_##way(SYS_getcpu, (long)&where[0], (long)&where[1], 0))            \
	MEASURE_LOOP(raw_getpid_##way, , measure_keep_long(rawcall_##way(SYS_getpid, 0, 0, 0)))
RAWCALL_WAYS(RAW_LOOPS)

#define RAW_ROW(way)                                                                 \
	{#way,		 rawcall_has_##way, raw_clock_##way, raw_gettimeofday_##way, \
	 raw_time_##way, raw_getcpu_##way,  raw_getpid_##way},
const struct bench_rawcalls bench_rawcalls[] = {RAWCALL_WAYS(RAW_ROW){.way = NULL}};

#define INLINE_LOOPS(clk)                                                                      \
	MEASURE_LOOP(inline_timespec_##clk, SUBJECT; const struct vclock_page *page = s->page; \
		     struct vclock_timespec ts, vclock_read_timespec(page, VCLOCK_##clk, &ts); \
		     MEASURE_KEEP_MEMORY(&ts))                                                 \
	MEASURE_LOOP(inline_ns_##clk, SUBJECT; const struct vclock_page *page = s->page;       \
		     uint64_t ns = 0, vclock_read_ns(page, VCLOCK_##clk, &ns);                 \
		     measure_keep_u64(ns))
INLINE_LOOPS(REALTIME)
INLINE_LOOPS(MONOTONIC)
INLINE_LOOPS(MONOTONIC_RAW)
INLINE_LOOPS(BOOTTIME)
INLINE_LOOPS(TAI)

bench_loop *bench_inline_timespec(int32_t clk)
{
	static bench_loop *const loops[VCLOCK_BASES] = {
		[VCLOCK_REALTIME] = inline_timespec_REALTIME,
		[VCLOCK_MONOTONIC] = inline_timespec_MONOTONIC,
		[VCLOCK_MONOTONIC_RAW] = inline_timespec_MONOTONIC_RAW,
		[VCLOCK_BOOTTIME] = inline_timespec_BOOTTIME,
		[VCLOCK_TAI] = inline_timespec_TAI,
	};

	return clk >= 0 && (uint32_t)clk < VCLOCK_BASES ? loops[clk] : NULL;
}

bench_loop *bench_inline_ns(int32_t clk)
{
	static bench_loop *const loops[VCLOCK_BASES] = {
		[VCLOCK_REALTIME] = inline_ns_REALTIME,
		[VCLOCK_MONOTONIC] = inline_ns_MONOTONIC,
		[VCLOCK_MONOTONIC_RAW] = inline_ns_MONOTONIC_RAW,
		[VCLOCK_BOOTTIME] = inline_ns_BOOTTIME,
		[VCLOCK_TAI] = inline_ns_TAI,
	};

	return clk >= 0 && (uint32_t)clk < VCLOCK_BASES ? loops[clk] : NULL;
}
