/* SPDX-License-Identifier: MIT */
/*
 * miss.c - the slow half of the clock functions: the page once more, with all that a reader does;
 * then the kernel, its vDSO or its system call.
 *
 * No function here may wait, allocate or touch errno. Frames are counted, see miss.h: nothing that
 * needs many registers may be inlined into what goes on to the kernel.
 */
#include "lib/miss.h"

#include "lib/fast.h"
#include "lib/kernel.h"
#include "lib/reopen.h"

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

static LIB_MISS void count_miss(uint32_t clk)
{
	enum vclock_reason reason;

	if (!was_asked(clk))
		return;
	reason = process_reason(clk);
	if (reason == VCLOCK_REASON_NOT_ON_PAGE)
		return;
	process_count(reason);
	if (lib_program.reopen_units != 0 && lib_program.page_source == VCLOCK_PAGE_FILE)
		reopen_look();
}

/* Whether this process may ask the page for clk. A new process decides here. */
static LIB_MISS bool has_page(uint32_t clk)
{
	if (lib_process.state == LIB_NEW)
		process_check();
	return clk < VCLOCK_BASES && has_bit(&lib_process.page_clocks, clk);
}

/*
 * The reader proper, with its retries and the stand-still at a line's end. Their own functions:
 * they need all registers there are.
 */
static LIB_MISS bool read_page(uint32_t clk, struct vclock_timespec *ret_ts)
{
	int clamps = (VCLOCK_BIT(clk) & VCLOCK_STEADY_CLOCKS) != 0, i;
	enum fast r = FAST_CHANGED;

	for (i = 0; i < VCLOCK_READ_TRIES && r == FAST_CHANGED; i++)
		r = fast_timespec(clk, clamps, ret_ts);
	return r == FAST_OK;
}

static LIB_MISS bool read_page_now(struct vclock_timespec *ret_real,
				   struct vclock_timespec *ret_mono)
{
	enum fast r = FAST_CHANGED;
	int i;

	for (i = 0; i < VCLOCK_READ_TRIES && r == FAST_CHANGED; i++)
		r = fast_now(1, ret_real, ret_mono);
	return r == FAST_OK;
}

/*
 * Without a vDSO a COARSE clock is the page's fine one, rounded down to a tick.
 */
static LIB_MISS int coarse_by_page(int32_t clk, struct vclock_timespec *ret_ts)
{
	uint32_t fine = clk == VCLOCK_REALTIME_COARSE ? VCLOCK_REALTIME : VCLOCK_MONOTONIC;
	uint32_t tick = VCLOCK_LOAD32(&LIB_PAGE->coarse_ns);

	if (tick == 0 || !has_page(fine) || !read_page(fine, ret_ts))
		return raw_clock_gettime(clk, ret_ts);
	ret_ts->tv_nsec = (uint32_t)ret_ts->tv_nsec - (uint32_t)ret_ts->tv_nsec % tick;
	return 0;
}

static LIB_MISS int gettime_by_syscall(int32_t clk, struct vclock_timespec *ret_ts)
{
	return raw_clock_gettime(clk, ret_ts);
}

LIB_MISS int miss_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	if (has_page((uint32_t)clk) && read_page((uint32_t)clk, ret_ts))
		return 0;
	count_miss((uint32_t)clk);
	if (kernel_answers((uint32_t)clk))
		return lib_kernel.gettime(clk, ret_ts);
	if (clk == VCLOCK_REALTIME_COARSE || clk == VCLOCK_MONOTONIC_COARSE)
		LIB_RETURN_TAIL coarse_by_page(clk, ret_ts);
	LIB_RETURN_TAIL gettime_by_syscall(clk, ret_ts);
}

/* Does what miss_gettime() does, and does not call it: its frame would come on top. */
LIB_MISS uint64_t miss_ns(uint32_t clk)
{
	struct vclock_timespec ts;

	if (!has_page(clk) || !read_page(clk, &ts)) {
		count_miss(clk);
		if (kernel_gettime((int32_t)clk, &ts) != 0)
			return 0;
	}
	return (uint64_t)ts.tv_sec * VCLOCK_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

static LIB_COLD int now_by_kernel(struct vclock_timespec *ret_real,
				  struct vclock_timespec *ret_mono)
{
	struct vclock_timespec real;
	int r = kernel_gettime(VCLOCK_REALTIME, &real);

	if (r == 0)
		r = kernel_gettime(VCLOCK_MONOTONIC, ret_mono);
	if (r == 0)
		*ret_real = real;
	return r;
}

LIB_COLD int miss_now(struct vclock_timespec *ret_real, struct vclock_timespec *ret_mono)
{
	if (has_page(VCLOCK_REALTIME) && read_page_now(ret_real, ret_mono))
		return 0;
	count_miss(VCLOCK_REALTIME);
	LIB_RETURN_TAIL now_by_kernel(ret_real, ret_mono);
}

/* A 32-bit vDSO's timeval ends in 2038, its timezone is right. */
static LIB_MISS int gettimeofday_by_gettime(struct vclock_timeval *ret_tv,
					    struct vclock_timezone *ret_tz)
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

static LIB_MISS int gettimeofday_by_syscall(struct vclock_timeval *ret_tv,
					    struct vclock_timezone *ret_tz)
{
	return raw_gettimeofday(ret_tv, ret_tz);
}

static LIB_MISS int gettimeofday_by_kernel(struct vclock_timeval *ret_tv,
					   struct vclock_timezone *ret_tz)
{
	if (lib_kernel.gettimeofday == NULL)
		LIB_RETURN_TAIL gettimeofday_by_syscall(ret_tv, ret_tz);
	if (LIB_VDSO_IS_64)
		return lib_kernel.gettimeofday(ret_tv, ret_tz);
	LIB_RETURN_TAIL gettimeofday_by_gettime(ret_tv, ret_tz);
}

/* Two words that nobody promises to be of one moment, as in the kernel. */
static void read_page_tz(struct vclock_timezone *ret_tz)
{
	const struct vclock_slot *slot;

	slot = &LIB_PAGE->slot[VCLOCK_LOAD32(&LIB_PAGE->generation) & 1];
	ret_tz->tz_minuteswest = (int32_t)VCLOCK_LOAD32(&slot->tz_minuteswest);
	ret_tz->tz_dsttime = (int32_t)VCLOCK_LOAD32(&slot->tz_dsttime);
}

/* The timezone comes from where the time comes. Whoever asks for it alone asks for no clock. */
LIB_MISS int miss_gettimeofday(struct vclock_timeval *ret_tv, struct vclock_timezone *ret_tz)
{
	/* The same two words: a timespec now, made a timeval below. */
	struct vclock_timespec *ts = (struct vclock_timespec *)(void *)ret_tv;

	VCLOCK_STATIC_ASSERT(sizeof(*ts) == sizeof(*ret_tv));
	if (!has_page(VCLOCK_REALTIME) || (ts != NULL && !read_page(VCLOCK_REALTIME, ts))) {
		if (ts != NULL)
			count_miss(VCLOCK_REALTIME);
		LIB_RETURN_TAIL gettimeofday_by_kernel(ret_tv, ret_tz);
	}
	if (ret_tv != NULL)
		ret_tv->tv_usec = (uint32_t)ts->tv_nsec / 1000;
	if (ret_tz != NULL)
		read_page_tz(ret_tz);
	return 0;
}

LIB_MISS int64_t miss_time(int64_t *ret_time)
{
	struct vclock_timespec ts;
	int r;

	if (kernel_answers(VCLOCK_REALTIME_COARSE))
		r = lib_kernel.gettime(VCLOCK_REALTIME_COARSE, &ts);
	else
		r = coarse_by_page(VCLOCK_REALTIME_COARSE, &ts);
	if (r != 0)
		return r;
	if (ret_time != NULL)
		*ret_time = ts.tv_sec;
	return ts.tv_sec;
}
