/* SPDX-License-Identifier: MIT */
/*
 * bench_loops.h - one loop for each thing that is measured; see MEASURE_LOOP.
 */
#ifndef BENCH_LOOPS_H
#define BENCH_LOOPS_H

#include <stdint.h>

#include "measure/rawcall.h"

typedef void bench_loop(const void *subject, uint32_t calls);

bench_loop bench_counter_unordered, bench_counter_ordered;

/* subject->clk; subject->function where one is called */
bench_loop bench_libc_clock, bench_function_clock, bench_function_own, bench_function_ns;
bench_loop bench_switch_clock; /* a clock_gettime that picks the reader by a switch */
/* REALTIME and MONOTONIC */
bench_loop bench_libc_two, bench_vdso_two, bench_function_now, bench_inline_now;
bench_loop bench_libc_gettimeofday, bench_function_gettimeofday, bench_function_gettimeofday_null;
bench_loop bench_gettimeofday_as_clock; /* for a vDSO without clock_gettime */
bench_loop bench_libc_time, bench_vdso_time, bench_library_time;
bench_loop bench_libc_getcpu, bench_vdso_getcpu, bench_library_getcpu;
bench_loop bench_libc_getpid, bench_library_getpid, bench_inline_getpid, bench_gone_getpid;
bench_loop bench_raise;
bench_loop bench_inline_unordered;

/* The raw system calls, for each way into the kernel. */
struct bench_rawcalls {
	const char *way;
	bool (*is_possible)(void);
	bench_loop *clock, *gettimeofday, *time, *getcpu, *getpid;
};

/* Ends with a way of NULL; the first one is the usual way. */
extern const struct bench_rawcalls bench_rawcalls[];

/* The inline readers of one clock, whose id must be a constant; NULL where there is none. */
bench_loop *bench_inline_timespec(int32_t clk);
bench_loop *bench_inline_ns(int32_t clk);

#endif /* BENCH_LOOPS_H */
