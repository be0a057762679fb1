/* SPDX-License-Identifier: MIT */
/*
 * miss.c - the kernel answers: its vDSO, else its system call.
 *
 * No function here may wait, allocate or touch errno. Frames are small, see miss.h.
 */
#include "lib/miss.h"

#include "lib/fast.h"
#include "lib/kernel.h"

/*
 * A page is asked for page clocks where there is one, and where VCLOCK_ROUTE says that there should
 * be; before the constructor nobody knows.
 */
static bool was_asked(uint32_t clk)
{
	if (clk >= VCLOCK_BASES || (VCLOCK_PAGE_CLOCKS & VCLOCK_BIT(clk)) == 0)
		return false;
	return lib_program.page_source != VCLOCK_PAGE_NONE || lib_program.route_is_page ||
	       !lib_program.is_set_up;
}

/*
 * Whether the page answers clk in this process; a new process decides here. Where it does not, but
 * was asked, the fallback is counted by count_miss() below.
 */
static LIB_COLD bool has_page(uint32_t clk)
{
	if (lib_process.state == LIB_NEW)
		process_check();
	return clk < VCLOCK_BASES && has_bit(&lib_process.page_clocks, clk);
}

static LIB_COLD void count_miss(uint32_t clk)
{
	enum vclock_reason reason;

	if (!was_asked(clk))
		return;
	reason = process_reason(clk);
	if (reason != VCLOCK_REASON_NOT_ON_PAGE)
		process_count(reason);
}

/* The reader proper, with its retries and the stand-still at a line's end. */
static LIB_MISS int read_page(uint32_t clk, struct vclock_timespec *ret_ts)
{
	if (has_page(clk) && vclock_read_timespec(LIB_PAGE, clk, ret_ts) == 0)
		return 0;
	count_miss(clk);
	return -EAGAIN;
}

static LIB_MISS int read_now(struct vclock_timespec *ret_real, struct vclock_timespec *ret_mono)
{
	if (has_page(VCLOCK_REALTIME) && vclock_read_now(LIB_PAGE, ret_real, ret_mono) == 0)
		return 0;
	count_miss(VCLOCK_REALTIME);
	return -EAGAIN;
}

/* The fine clock behind a COARSE one. */
static uint32_t fine_clock(uint32_t coarse)
{
	return coarse == VCLOCK_REALTIME_COARSE ? VCLOCK_REALTIME : VCLOCK_MONOTONIC;
}

/* Without a vDSO a COARSE clock is the page's fine one, rounded down to a tick. */
static int coarse_from_page(uint32_t clk, struct vclock_timespec *ret_ts)
{
	uint32_t tick = VCLOCK_LOAD32(&LIB_PAGE->coarse_ns);
	struct vclock_timespec ts;

	if ((lib_process.page_clocks & VCLOCK_BIT(fine_clock(clk))) == 0 || tick == 0 ||
	    vclock_read_timespec(LIB_PAGE, fine_clock(clk), &ts) != 0)
		return -EAGAIN;
	ret_ts->tv_sec = ts.tv_sec;
	ret_ts->tv_nsec = (uint32_t)ts.tv_nsec - (uint32_t)ts.tv_nsec % tick;
	return 0;
}

static LIB_MISS int gettime_by_syscall(int32_t clk, struct vclock_timespec *ret_ts)
{
	if ((clk == VCLOCK_REALTIME_COARSE || clk == VCLOCK_MONOTONIC_COARSE) &&
	    coarse_from_page((uint32_t)clk, ret_ts) == 0)
		return 0;
	return raw_clock_gettime(clk, ret_ts);
}

LIB_MISS int miss_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	if (read_page((uint32_t)clk, ret_ts) == 0)
		return 0;
	if (kernel_answers((uint32_t)clk))
		return lib_kernel.gettime(clk, ret_ts);
	return gettime_by_syscall(clk, ret_ts);
}

LIB_MISS uint64_t miss_ns(uint32_t clk)
{
	struct vclock_timespec ts;

	if (miss_gettime((int32_t)clk, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * VCLOCK_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

LIB_MISS int miss_now(struct vclock_timespec *ret_real, struct vclock_timespec *ret_mono)
{
	struct vclock_timespec real;
	int r;

	if (read_now(ret_real, ret_mono) == 0)
		return 0;
	r = kernel_gettime(VCLOCK_REALTIME, &real);
	if (r == 0)
		r = kernel_gettime(VCLOCK_MONOTONIC, ret_mono);
	if (r == 0)
		*ret_real = real;
	return r;
}

/* A 32-bit vDSO's timeval ends in 2038, its timezone is right. */
static int gettimeofday_by_gettime(struct vclock_timeval *ret_tv, struct vclock_timezone *ret_tz)
{
	struct vclock_timespec ts;
	int r = 0;

	if (ret_tv != NULL)
		r = kernel_gettime(VCLOCK_REALTIME, &ts);
	if (r == 0 && ret_tz != NULL)
		r = lib_kernel.gettimeofday(NULL, ret_tz);
	if (r != 0 || ret_tv == NULL)
		return r;
	ret_tv->tv_sec = ts.tv_sec;
	ret_tv->tv_usec = (uint32_t)ts.tv_nsec / 1000;
	return 0;
}

/* The timezone comes from where the time comes. Whoever asks for it alone asks for no clock. */
static LIB_MISS int read_gettimeofday(struct vclock_timeval *ret_tv, struct vclock_timezone *ret_tz)
{
	const struct vclock_slot *slot;
	struct vclock_timespec ts = {0, 0};

	if (ret_tv != NULL ? read_page(VCLOCK_REALTIME, &ts) != 0 : !has_page(VCLOCK_REALTIME))
		return -EAGAIN;
	/* Two words that nobody promises to be of one moment, as in the kernel. */
	if (ret_tz != NULL) {
		slot = &LIB_PAGE->slot[VCLOCK_LOAD32(&LIB_PAGE->generation) & 1];
		ret_tz->tz_minuteswest = (int32_t)VCLOCK_LOAD32(&slot->tz_minuteswest);
		ret_tz->tz_dsttime = (int32_t)VCLOCK_LOAD32(&slot->tz_dsttime);
	}
	if (ret_tv != NULL) {
		ret_tv->tv_sec = ts.tv_sec;
		ret_tv->tv_usec = (uint32_t)ts.tv_nsec / 1000;
	}
	return 0;
}

LIB_MISS int miss_gettimeofday(struct vclock_timeval *ret_tv, struct vclock_timezone *ret_tz)
{
	if (read_gettimeofday(ret_tv, ret_tz) == 0)
		return 0;
	if (lib_kernel.gettimeofday == NULL)
		return raw_gettimeofday(ret_tv, ret_tz);
	if (LIB_VDSO_IS_64)
		return lib_kernel.gettimeofday(ret_tv, ret_tz);
	return gettimeofday_by_gettime(ret_tv, ret_tz);
}

LIB_MISS int64_t miss_time(int64_t *ret_time)
{
	struct vclock_timespec ts;
	int r = miss_gettime(VCLOCK_REALTIME_COARSE, &ts);

	if (r != 0)
		return r;
	if (ret_time != NULL)
		*ret_time = ts.tv_sec;
	return ts.tv_sec;
}
