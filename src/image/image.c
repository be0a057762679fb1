/* SPDX-License-Identifier: MIT */
/*
 * image.c - the entries of the vDSO image.
 *
 * Freestanding; built once for each architecture, see mk/image.mk. The reader is the library's.
 * Whatever the page does not answer is left to the kernel's own vDSO by a jump, with stack and
 * arguments as the caller made them.
 *
 * It must never have data, a relocation or an indirect branch of its own, nor make a system call
 * but the clock's own: the build checks the linked file. Stack is scarce: runtimes call in with a
 * hundred bytes left on i386. So the reader is never nested below a function that has a frame
 * worth speaking of, and whatever comes after it is reached by a jump.
 */
#include "image/image.h"
#include "vclock/read.h"

#define FINE_CLOCKS                                                   \
	(VCLOCK_BIT(VCLOCK_REALTIME) | VCLOCK_BIT(VCLOCK_MONOTONIC) | \
	 VCLOCK_BIT(VCLOCK_MONOTONIC_RAW) | VCLOCK_BIT(VCLOCK_BOOTTIME) | VCLOCK_BIT(VCLOCK_TAI))
#define ALARM_CLOCKS (VCLOCK_BIT(VCLOCK_REALTIME_ALARM) | VCLOCK_BIT(VCLOCK_BOOTTIME_ALARM))
#define COARSE_CLOCKS (VCLOCK_BIT(VCLOCK_REALTIME_COARSE) | VCLOCK_BIT(VCLOCK_MONOTONIC_COARSE))

/*
 * How far page and kernel may be apart beyond the page's stated error: another time namespace is
 * off by a good deal more, in practice by seconds.
 */
#define TOLERANCE_NS 1000000u

/* Ids that the kernel's clock_getres answers without asking whether there are such clocks. */
#define AUX_FIRST 16u
#define AUX_COUNT 8u

/*
 * The page's time by its second line alone, forwards or backwards, to some 10 us: enough to tell
 * namespaces apart, in half the stack of the reader. 0: the page is being written, or says nothing
 * about this moment.
 */
VCLOCK_ALWAYS_INLINE uint64_t page_ns_roughly(uint32_t clk)
{
	const struct vclock_page *page = image_page();
	uint32_t generation = VCLOCK_LOAD32(&page->generation);
	const struct vclock_line *line = &page->slot[generation & 1].line[1];
	uint64_t past, ns;

	vclock_fence_acquire(); /* partners: as in vclock_read_parts() */
	past = vclock_counter_ordered() - VCLOCK_LOAD64(&line->start_cyc) + VCLOCK_LINE_CYC_MAX;
	if (VCLOCK_LOAD32(&line->length_cyc) == 0 || past >= 2 * (uint64_t)VCLOCK_LINE_CYC_MAX)
		return 0;
	/* The line goes on below its start: less than a second of it is 2^31 cycles' time. */
	ns = (VCLOCK_LOAD64(&line->base[clk].fns) >> (page->shift & 63)) +
	     ((past * VCLOCK_LOAD32(&line->mult[0])) >> (page->shift & 63)) -
	     (((uint64_t)VCLOCK_LINE_CYC_MAX * VCLOCK_LOAD32(&line->mult[0])) >>
	      (page->shift & 63));
	ns += VCLOCK_LOAD64(&line->base[clk].sec) * VCLOCK_NSEC_PER_SEC;
	vclock_fence_acquire();
	return VCLOCK_LOAD32(&page->generation) == generation ? ns : 0;
}

VCLOCK_ALWAYS_INLINE uint64_t tolerance_ns(void)
{
	const struct vclock_page *page = image_page();
	uint32_t live = VCLOCK_LOAD32(&page->generation) & 1;

	return (uint64_t)TOLERANCE_NS + VCLOCK_LOAD32(&page->slot[live].error_ns);
}

static IMAGE_NOINLINE uint64_t IMAGE_INTERNAL page_ns(uint32_t clk)
{
	return page_ns_roughly(clk);
}

/* 0: refused. */
static IMAGE_NOINLINE uint64_t IMAGE_INTERNAL kernel_ns(uint32_t clk)
{
	struct vclock_timespec ts;

	if (image_forward_clock_gettime(clk, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * VCLOCK_NSEC_PER_SEC + (uint32_t)ts.tv_nsec;
}

/*
 * One clock, the kernel's before the page's. Two functions, and each for a constant clock, for the
 * stack that one would need.
 */
VCLOCK_ALWAYS_INLINE uint32_t is_not_behind(uint32_t clk)
{
	uint64_t kernels, ours;

	if (page_ns(clk) == 0) /* before the kernel is asked in vain, in every call */
		return PROCESS_NOT_COMPARED;
	kernels = kernel_ns(clk);
	if (kernels == 0)
		return PROCESS_NOT_COMPARED;
	ours = page_ns(clk);
	if (ours == 0)
		return PROCESS_NOT_COMPARED;
	return ours + tolerance_ns() < kernels ? PROCESS_DIFFERS : PROCESS_AGREES;
}

/* One clock, the page's before the kernel's. */
VCLOCK_ALWAYS_INLINE uint32_t is_not_ahead(uint32_t clk)
{
	uint64_t ours = page_ns(clk), kernels;

	if (ours == 0)
		return PROCESS_NOT_COMPARED;
	kernels = kernel_ns(clk);
	if (kernels == 0)
		return PROCESS_NOT_COMPARED;
	return ours > kernels + tolerance_ns() ? PROCESS_DIFFERS : PROCESS_AGREES;
}

#define COMPARISON(name, call)                                   \
	static IMAGE_NOINLINE uint32_t IMAGE_INTERNAL name(void) \
	{                                                        \
		return call;                                     \
	}
COMPARISON(mono_is_not_behind, is_not_behind(VCLOCK_MONOTONIC))
COMPARISON(mono_is_not_ahead, is_not_ahead(VCLOCK_MONOTONIC))
COMPARISON(boot_is_not_behind, is_not_behind(VCLOCK_BOOTTIME))
COMPARISON(boot_is_not_ahead, is_not_ahead(VCLOCK_BOOTTIME))

/*
 * The first call of a process asks; the kernel still answers it. Where the page does not cover this
 * moment, or the system call is refused, the question stays open for the next call.
 */
static IMAGE_NOINLINE void IMAGE_INTERNAL settle(void)
{
	uint32_t compared = mono_is_not_behind();

	/* A bit is looked at, for which no register is kept over the calls. */
	if (compared & PROCESS_AGREES)
		compared = mono_is_not_ahead();
	if (compared & PROCESS_AGREES)
		compared = boot_is_not_behind();
	if (compared & PROCESS_AGREES)
		compared = boot_is_not_ahead();
	if (compared != PROCESS_NOT_COMPARED)
		VCLOCK_STORE32(&image_state()->compared, compared);
}

VCLOCK_ALWAYS_INLINE int may_read(void)
{
	return VCLOCK_LIKELY(VCLOCK_LOAD32(&image_state()->compared) == PROCESS_AGREES);
}

VCLOCK_ALWAYS_INLINE int is_settled(void)
{
	return VCLOCK_LOAD32(&image_state()->compared) != PROCESS_NOT_COMPARED;
}

VCLOCK_ALWAYS_INLINE int read_clock(uint32_t clk, int64_t *ret_sec, uint32_t *ret_nsec)
{
	return vclock_read_parts(image_page(), vclock_counter_ordered(), clk, ret_sec, ret_nsec);
}

VCLOCK_ALWAYS_INLINE uint32_t clock_bit(uint32_t clk)
{
	return clk < 32 ? VCLOCK_BIT(clk) : 0;
}

VCLOCK_ALWAYS_INLINE int kernel_has(uint32_t function)
{
	return VCLOCK_LOAD64(&image_process()->function[function]) != 0;
}

VCLOCK_ALWAYS_INLINE int kernel_has_alarm(void)
{
	return (VCLOCK_LOAD32(&image_process()->flags) & PROCESS_HAS_ALARM) != 0;
}

/*
 * The clocks that are rarely the page's. Without the kernel's vDSO a COARSE clock is its fine one,
 * rounded down to a tick.
 */
VCLOCK_ALWAYS_INLINE int read_rare(uint32_t clk, int64_t *ret_sec, uint32_t *ret_nsec)
{
	uint32_t tick = 0;

	if (clock_bit(clk) & COARSE_CLOCKS) {
		tick = VCLOCK_LOAD32(&image_page()->coarse_ns);
		clk -= VCLOCK_REALTIME_COARSE;
	}
	if (read_clock(clk, ret_sec, ret_nsec) != 0)
		return -VCLOCK_EAGAIN;
	if (tick != 0)
		*ret_nsec -= *ret_nsec % tick;
	return 0;
}
VCLOCK_STATIC_ASSERT(VCLOCK_REALTIME_COARSE - VCLOCK_REALTIME == 5);
VCLOCK_STATIC_ASSERT(VCLOCK_MONOTONIC_COARSE - VCLOCK_MONOTONIC == 5);
VCLOCK_STATIC_ASSERT(VCLOCK_MONOTONIC_COARSE - VCLOCK_REALTIME_COARSE == 1);

/* clock_gettime, with struct timespec of 64-bit words. */
#define GETTIME(name) name
#define GETTIME_TIMESPEC struct vclock_timespec
#define GETTIME_SEC int64_t
#define GETTIME_NSEC int64_t
#define GETTIME_FORWARD image_forward_clock_gettime
#define GETTIME_JUMP image_jump_clock_gettime
#define GETTIME_SLOT PROCESS_CLOCK_GETTIME
#include "image/gettime_body.h"

#if IMAGE_HAS_32
/* The same with 32-bit words; seconds wrap in 2038, as the kernel's do. */
#define GETTIME(name) name##_32
#define GETTIME_TIMESPEC struct image_timespec
#define GETTIME_SEC int32_t
#define GETTIME_NSEC int32_t
#define GETTIME_FORWARD image_forward_clock_gettime32
#define GETTIME_JUMP image_jump_clock_gettime32
#define GETTIME_SLOT PROCESS_CLOCK_GETTIME32
#include "image/gettime_body.h"
#endif

IMAGE_EXPORT int IMAGE_NAME_CLOCK_GETTIME(uint32_t clk, struct vclock_timespec *ret_ts)
{
	IMAGE_LEAVE gettime(clk, ret_ts);
}

#if IMAGE_HAS_32
IMAGE_EXPORT int IMAGE_NAME_CLOCK_GETTIME32(uint32_t clk, struct image_timespec *ret_ts)
{
	IMAGE_LEAVE gettime_32(clk, ret_ts);
}
#endif

/*
 * One clock each. What follows the reader has one argument more than the entry, so on i386 it takes
 * them in registers.
 */
static IMAGE_NOINLINE int IMAGE_INTERNAL one_forward(uint32_t clk, struct vclock_timespec *ret_ts)
{
	return image_forward_clock_gettime(clk, ret_ts);
}

/* With a counter value of now, as in gettime_rest(). */
static IMAGE_NOINLINE int IMAGE_INTERNAL one_again(uint32_t clk, struct vclock_timespec *ret_ts)
{
	int64_t sec;
	uint32_t nsec;

	if (read_clock(clk, &sec, &nsec) != 0)
		return one_forward(clk, ret_ts);
	ret_ts->tv_sec = sec;
	ret_ts->tv_nsec = nsec;
	return 0;
}

static IMAGE_NOINLINE int IMAGE_INTERNAL one_first(uint32_t clk, struct vclock_timespec *ret_ts)
{
	settle();
	return one_forward(clk, ret_ts);
}

VCLOCK_ALWAYS_INLINE int gettime_of(uint32_t clk, struct vclock_timespec *ret_ts)
{
	int64_t sec;
	uint32_t nsec;

	if (!may_read())
		return is_settled() ? one_forward(clk, ret_ts) : one_first(clk, ret_ts);
	if (VCLOCK_UNLIKELY(read_clock(clk, &sec, &nsec) != 0))
		return one_again(clk, ret_ts);
	ret_ts->tv_sec = sec;
	ret_ts->tv_nsec = nsec;
	return 0;
}

IMAGE_EXPORT int IMAGE_NAME_OWN(realtime)(struct vclock_timespec *ret_ts)
{
	return gettime_of(VCLOCK_REALTIME, ret_ts);
}

IMAGE_EXPORT int IMAGE_NAME_OWN(monotonic)(struct vclock_timespec *ret_ts)
{
	return gettime_of(VCLOCK_MONOTONIC, ret_ts);
}

IMAGE_EXPORT int IMAGE_NAME_OWN(boottime)(struct vclock_timespec *ret_ts)
{
	return gettime_of(VCLOCK_BOOTTIME, ret_ts);
}

IMAGE_EXPORT int IMAGE_NAME_OWN(tai)(struct vclock_timespec *ret_ts)
{
	return gettime_of(VCLOCK_TAI, ret_ts);
}

/* The timezone is a word that the kernel never changes but when it is told to. */
VCLOCK_ALWAYS_INLINE void read_timezone(struct image_timezone *ret_tz)
{
	const struct vclock_page *page = image_page();
	const struct vclock_slot *live = &page->slot[VCLOCK_LOAD32(&page->generation) & 1];

	ret_tz->tz_minuteswest = (int32_t)VCLOCK_LOAD32(&live->tz_minuteswest);
	ret_tz->tz_dsttime = (int32_t)VCLOCK_LOAD32(&live->tz_dsttime);
}

VCLOCK_ALWAYS_INLINE int read_timeofday(struct image_timeval *ret_tv, struct image_timezone *ret_tz)
{
	int64_t sec;
	uint32_t nsec;

	if (read_clock(VCLOCK_REALTIME, &sec, &nsec) != 0)
		return -VCLOCK_EAGAIN;
	ret_tv->tv_sec = (IMAGE_LONG)sec;
	ret_tv->tv_usec = (IMAGE_LONG)(nsec / 1000);
	if (VCLOCK_UNLIKELY(ret_tz != NULL))
		read_timezone(ret_tz);
	return 0;
}

IMAGE_STEP int timeofday_first(struct image_timeval *ret_tv, struct image_timezone *ret_tz);
IMAGE_STEP int timeofday_first(struct image_timeval *ret_tv, struct image_timezone *ret_tz)
{
	settle();
	return image_forward_gettimeofday(ret_tv, ret_tz);
}

IMAGE_STEP int timeofday_rest(struct image_timeval *ret_tv, struct image_timezone *ret_tz);
IMAGE_STEP int timeofday_rest(struct image_timeval *ret_tv, struct image_timezone *ret_tz)
{
	if (ret_tv != NULL && !is_settled())
		return timeofday_first(ret_tv, ret_tz);
	return image_forward_gettimeofday(ret_tv, ret_tz);
}

IMAGE_EXPORT int IMAGE_NAME_GETTIMEOFDAY(struct image_timeval *ret_tv,
					 struct image_timezone *ret_tz)
{
	if (VCLOCK_LIKELY(ret_tv != NULL) && may_read() && read_timeofday(ret_tv, ret_tz) == 0)
		return 0;
	return timeofday_rest(ret_tv, ret_tz);
}

#if IMAGE_HAS_TIME
IMAGE_STEP IMAGE_LONG time_first(IMAGE_LONG *ret_time);
IMAGE_STEP IMAGE_LONG time_first(IMAGE_LONG *ret_time)
{
	settle();
	return image_forward_time(ret_time);
}

IMAGE_STEP IMAGE_LONG time_rare(IMAGE_LONG *ret_time);
IMAGE_STEP IMAGE_LONG time_rare(IMAGE_LONG *ret_time)
{
	int64_t sec;
	uint32_t nsec;

	if (read_clock(VCLOCK_REALTIME, &sec, &nsec) != 0)
		return image_forward_time(ret_time);
	if (ret_time != NULL)
		*ret_time = (IMAGE_LONG)sec;
	return (IMAGE_LONG)sec;
}

/*
 * time() where the kernel has none; its own, whose second is that of the last tick, is jumped to by
 * the entry itself.
 */
IMAGE_STEP IMAGE_LONG image_time(IMAGE_LONG *ret_time);
IMAGE_STEP IMAGE_LONG image_time(IMAGE_LONG *ret_time)
{
	if (!is_settled())
		return time_first(ret_time);
	return may_read() ? time_rare(ret_time) : image_forward_time(ret_time);
}
#endif

IMAGE_EXPORT int IMAGE_NAME_CLOCK_GETRES(uint32_t clk, struct image_timespec *ret_res)
{
	if (clk - AUX_FIRST < AUX_COUNT)
		return image_syscall_clock_getres(clk, ret_res);
	return image_forward_clock_getres(clk, ret_res);
}

/* The plain names are weak, as the kernel has them. */
#ifdef IMAGE_ALIAS_CLOCK_GETTIME
#define WEAK_ALIAS(weak_name, name)       \
	extern __typeof__(name) weak_name \
		__attribute__((weak, visibility("default"), alias(IMAGE_TEXT(name))))
WEAK_ALIAS(IMAGE_ALIAS_CLOCK_GETTIME, IMAGE_NAME_CLOCK_GETTIME);
WEAK_ALIAS(IMAGE_ALIAS_GETTIMEOFDAY, IMAGE_NAME_GETTIMEOFDAY);
WEAK_ALIAS(IMAGE_ALIAS_CLOCK_GETRES, IMAGE_NAME_CLOCK_GETRES);
#endif
