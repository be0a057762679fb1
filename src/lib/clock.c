/* SPDX-License-Identifier: MIT */
/*
 * clock.c - the functions that read a clock: their fast half.
 *
 * Each looks at one word of this process (see struct lib_process), reads the page at its constant
 * address, and returns; or, where the vDSO is this clock's own route, jumps there; everything else
 * is left to miss.c by a tail jump. No call, no division but by a constant, no loop, no lock, no
 * errno, nothing of libc: these run before libc is set up, in signal handlers, and on the smallest
 * stacks.
 */
#include "lib/fast.h"
#include "lib/kernel.h"
#include "lib/miss.h"

#define NOW_CLOCKS (VCLOCK_BIT(VCLOCK_REALTIME) | VCLOCK_BIT(VCLOCK_MONOTONIC))

/* A frame that is not the page reader's. */
static __attribute__((noinline)) LIB_REGCALL int vdso_gettime_call(int32_t clk,
								   struct vclock_timespec *ret_ts)
{
	return lib_kernel.gettime(clk, ret_ts);
}

VCLOCK_ALWAYS_INLINE int vdso_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	return LIB_ARGS_IN_REGISTERS ? lib_kernel.gettime(clk, ret_ts)
				     : vdso_gettime_call(clk, ret_ts);
}

VCLOCK_ALWAYS_INLINE int get_timespec(uint32_t clk, struct vclock_timespec *ret_ts)
{
	if (VCLOCK_LIKELY(has_bit(&lib_process.page_clocks, clk))) {
		if (VCLOCK_LIKELY(fast_timespec(clk, 0, ret_ts) == FAST_OK))
			return 0;
		return miss_gettime((int32_t)clk, ret_ts);
	}
	if (VCLOCK_LIKELY(has_bit(&lib_process.vdso_clocks, clk)))
		return vdso_gettime((int32_t)clk, ret_ts);
	return miss_gettime((int32_t)clk, ret_ts);
}

int vclock_gettime64(int32_t clk, struct vclock_timespec *ret_ts)
{
	/* Negative ids are dynamic and CPU clocks. */
	if (VCLOCK_UNLIKELY((uint32_t)clk >= VCLOCK_BASES))
		return miss_gettime(clk, ret_ts);
	return get_timespec((uint32_t)clk, ret_ts);
}

int vclock_realtime64(struct vclock_timespec *ret_ts)
{
	return get_timespec(VCLOCK_REALTIME, ret_ts);
}

int vclock_monotonic64(struct vclock_timespec *ret_ts)
{
	return get_timespec(VCLOCK_MONOTONIC, ret_ts);
}

int vclock_raw64(struct vclock_timespec *ret_ts)
{
	return get_timespec(VCLOCK_MONOTONIC_RAW, ret_ts);
}

int vclock_boottime64(struct vclock_timespec *ret_ts)
{
	return get_timespec(VCLOCK_BOOTTIME, ret_ts);
}

int vclock_tai64(struct vclock_timespec *ret_ts)
{
	return get_timespec(VCLOCK_TAI, ret_ts);
}

/* The vDSO's own route, without a page. Not inlined: a reader of the page needs no stack for it. */
static __attribute__((noinline)) LIB_REGCALL uint64_t vdso_ns(uint32_t clk)
{
	struct vclock_timespec ts;

	if (lib_kernel.gettime((int32_t)clk, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * VCLOCK_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

VCLOCK_ALWAYS_INLINE uint64_t miss_or_vdso_ns(uint32_t clk)
{
	if (VCLOCK_LIKELY(has_bit(&lib_process.vdso_clocks, clk)))
		return vdso_ns(clk);
	return miss_ns(clk);
}

VCLOCK_ALWAYS_INLINE uint64_t get_ns(uint32_t clk)
{
	uint64_t ns;

	if (VCLOCK_LIKELY(has_bit(&lib_process.page_clocks, clk)) &&
	    VCLOCK_LIKELY(fast_ns(vclock_counter_ordered(), clk, &ns) == FAST_OK))
		return ns;
	return miss_or_vdso_ns(clk);
}

uint64_t vclock_realtime_ns(void)
{
	return get_ns(VCLOCK_REALTIME);
}

uint64_t vclock_monotonic_ns(void)
{
	return get_ns(VCLOCK_MONOTONIC);
}

uint64_t vclock_raw_ns(void)
{
	return get_ns(VCLOCK_MONOTONIC_RAW);
}

uint64_t vclock_boottime_ns(void)
{
	return get_ns(VCLOCK_BOOTTIME);
}

uint64_t vclock_tai_ns(void)
{
	return get_ns(VCLOCK_TAI);
}

uint64_t vclock_monotonic_unordered_ns(void)
{
	uint64_t ns;

	if (VCLOCK_LIKELY(has_bit(&lib_process.page_clocks, VCLOCK_MONOTONIC)) &&
	    VCLOCK_LIKELY(fast_ns(vclock_counter_unordered(), VCLOCK_MONOTONIC, &ns) == FAST_OK))
		return ns;
	return miss_or_vdso_ns(VCLOCK_MONOTONIC);
}

static __attribute__((noinline)) LIB_REGCALL int vdso_now(struct vclock_timespec *ret_real,
							  struct vclock_timespec *ret_mono)
{
	struct vclock_timespec real;
	int r = lib_kernel.gettime(VCLOCK_REALTIME, &real);

	if (r == 0)
		r = lib_kernel.gettime(VCLOCK_MONOTONIC, ret_mono);
	if (r == 0)
		*ret_real = real;
	return r;
}

int vclock_now64(struct vclock_timespec *ret_real, struct vclock_timespec *ret_mono)
{
	if (VCLOCK_LIKELY(has_bit(&lib_process.page_clocks, VCLOCK_REALTIME)) &&
	    VCLOCK_LIKELY(fast_now(0, ret_real, ret_mono) == FAST_OK))
		return 0;
	if (VCLOCK_LIKELY((VCLOCK_LOAD32(&lib_process.vdso_clocks) & NOW_CLOCKS) == NOW_CLOCKS))
		return vdso_now(ret_real, ret_mono);
	LIB_RETURN_TAIL miss_now(ret_real, ret_mono);
}

int vclock_gettimeofday64(struct vclock_timeval *ret_tv, struct vclock_timezone *ret_tz)
{
	int64_t sec;
	uint32_t nsec;

	if (LIB_VDSO_IS_64 && has_bit(&lib_process.vdso_clocks, VCLOCK_REALTIME) &&
	    lib_kernel.gettimeofday != NULL)
		return lib_kernel.gettimeofday(ret_tv, ret_tz);
	if (VCLOCK_UNLIKELY(!has_bit(&lib_process.page_clocks, VCLOCK_REALTIME)) ||
	    VCLOCK_UNLIKELY(ret_tv == NULL || ret_tz != NULL) ||
	    VCLOCK_UNLIKELY(fast_parts(vclock_counter_ordered(), VCLOCK_REALTIME, 0, &sec, &nsec) !=
			    FAST_OK))
		return miss_gettimeofday(ret_tv, ret_tz);
	ret_tv->tv_sec = sec;
	ret_tv->tv_usec = nsec / 1000;
	return 0;
}

int64_t vclock_time64(int64_t *ret_time)
{
	if (LIB_VDSO_IS_64 && (VCLOCK_LOAD32(&lib_process.vdso_clocks) & LIB_TIME_BIT) != 0)
		return lib_kernel.time((long *)(void *)ret_time);
	return miss_time(ret_time);
}

int vclock_getres64(int32_t clk, struct vclock_timespec *ret_res)
{
	long res[2];
	int r;

	if ((uint32_t)clk >= VCLOCK_BASES || !has_bit(&lib_kernel.getres_clocks, (uint32_t)clk))
		return raw_clock_getres(clk, ret_res);
	if (LIB_VDSO_IS_64 || ret_res == NULL)
		return lib_kernel.getres(clk, ret_res);
	r = lib_kernel.getres(clk, res);
	if (r == 0) {
		ret_res->tv_sec = res[0];
		ret_res->tv_nsec = res[1];
	}
	return r;
}

int vclock_getcpu(unsigned *ret_cpu, unsigned *ret_node)
{
	if (lib_kernel.getcpu != NULL)
		return (int)lib_kernel.getcpu(ret_cpu, ret_node, NULL);
	return raw_getcpu(ret_cpu, ret_node);
}

const struct vclock_page *vclock_page(void)
{
	if (VCLOCK_UNLIKELY(VCLOCK_LOAD32(&lib_process.state) != LIB_READY))
		process_check();
	return LIB_PAGE;
}
