/* SPDX-License-Identifier: MIT */
/*
 * reference_kernel.c - this machine's kernel as the reference: its clocks between counter reads.
 *
 * Reads clocks through the C library, which uses the kernel's vDSO where there is one. Must never
 * use adjtimex: sandboxes that allow reading clocks refuse it.
 */
#include "reference/reference.h"

#include "keeper/scale.h"
#include "vclock/counter.h"
#include "vclock/page.h"

#include <errno.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

/* A clock read is interrupted now and then; the tightest of five brackets is not (measured: none in
 * 10^8 samples was). */
#define TRIES 5

static int read_clock(clockid_t clk, int64_t *ret_ns)
{
	struct timespec ts;

	if (clock_gettime(clk, &ts) != 0)
		return -errno;
	*ret_ns = (int64_t)ts.tv_sec * VCLOCK_NSEC_PER_SEC + ts.tv_nsec;
	return 0;
}

static int bracket(clockid_t clk, struct keeper_bracket *ret_bracket)
{
	struct keeper_bracket best = {0, UINT64_MAX, 0};
	int64_t ns = 0;
	int i, r;

	for (i = 0; i < TRIES; i++) {
		uint64_t before = vclock_counter_ordered(), after;

		r = read_clock(clk, &ns);
		after = vclock_counter_ordered();
		if (r != 0)
			return r;
		if (after - before < best.after_cyc - best.before_cyc) {
			best.before_cyc = before;
			best.after_cyc = after;
			best.ns = (uint64_t)ns;
		}
	}
	*ret_bracket = best;
	return 0;
}

/*
 * The COARSE clocks both stand still between ticks, so when REALTIME_COARSE is the same before and
 * after MONOTONIC_COARSE, all three are of one tick and their difference is exact.
 */
static int sample_real(struct reference_sample *sample)
{
	int64_t before = 0, mono = 0, after = 0;
	int i, r;

	for (i = 0; i < TRIES; i++) {
		r = read_clock(CLOCK_REALTIME_COARSE, &before);
		if (r == 0)
			r = read_clock(CLOCK_MONOTONIC_COARSE, &mono);
		if (r == 0)
			r = read_clock(CLOCK_REALTIME_COARSE, &after);
		if (r != 0)
			return r;
		if (before == after) {
			sample->real_minus_mono_ns = before - mono;
			sample->real_is_valid = true;
			return 0;
		}
	}
	return 0;
}

/* TAI between two readings of REALTIME: whole seconds, so half a second of slack is plenty. A
 * kernel without CLOCK_TAI (gVisor) has it equal to REALTIME. */
static int sample_tai(struct reference_sample *sample)
{
	const int64_t second = VCLOCK_NSEC_PER_SEC;
	int64_t before = 0, tai = 0, after = 0, sec;
	uint32_t nsec;
	int r;

	r = read_clock(CLOCK_REALTIME, &before);
	if (r != 0)
		return r;
	if (read_clock(CLOCK_TAI, &tai) != 0) {
		sample->tai_offset_sec = 0;
		sample->tai_is_valid = true;
		return 0;
	}
	r = read_clock(CLOCK_REALTIME, &after);
	if (r != 0)
		return r;
	/* The rest above whole seconds is the time between the reads; a large one means a step. */
	scale_ns_to_sec(tai - before, &sec, &nsec);
	if (after < before || after - before > second / 4 || nsec > VCLOCK_NSEC_PER_SEC / 4 ||
	    sec < INT32_MIN || sec > INT32_MAX)
		return 0;
	sample->tai_offset_sec = (int32_t)sec;
	sample->tai_is_valid = true;
	return 0;
}

/*
 * REALTIME and TAI of one moment: a leap second changes both, and TAI must not be a second off
 * until the next sample because one was read before it and the other after.
 */
static int sample_offsets(struct reference_sample *sample)
{
	struct reference_sample again = {0};
	int r = sample_real(sample);

	if (r == 0)
		r = sample_tai(sample);
	if (r == 0)
		r = sample_real(&again);
	if (r == 0 &&
	    (!again.real_is_valid || again.real_minus_mono_ns != sample->real_minus_mono_ns)) {
		sample->real_is_valid = false;
		sample->tai_is_valid = false;
	}
	return r;
}

/* BOOTTIME between two readings of MONOTONIC, the narrowest that several tries allow together. */
static int sample_boot(struct reference_sample *sample)
{
	int64_t lo = INT64_MIN, hi = INT64_MAX, before = 0, boot = 0, after = 0;
	int i, r;

	for (i = 0; i < TRIES; i++) {
		r = read_clock(CLOCK_MONOTONIC, &before);
		if (r == 0)
			r = read_clock(CLOCK_BOOTTIME, &boot);
		if (r == 0)
			r = read_clock(CLOCK_MONOTONIC, &after);
		if (r != 0)
			return r;
		if (boot - after > lo)
			lo = boot - after;
		if (boot - before < hi)
			hi = boot - before;
	}
	/* lo > hi: a suspend between the tries */
	sample->boot_is_valid = lo <= hi;
	sample->boot_minus_mono_lo_ns = lo;
	sample->boot_minus_mono_hi_ns = hi;
	return 0;
}

static int kernel_sample(struct reference *reference, struct reference_sample *ret_sample)
{
	struct reference_sample sample = {.wants_timezone = ret_sample->wants_timezone};
	struct timezone tz = {0, 0};
	int r;

	(void)reference;
	r = bracket(CLOCK_MONOTONIC, &sample.mono);
	if (r == 0)
		r = bracket(CLOCK_MONOTONIC_RAW, &sample.raw);
	if (r == 0)
		r = sample_offsets(&sample);
	if (r == 0)
		r = sample_boot(&sample);
	if (r != 0)
		return r;
	/* Not through libc, which answers 0 on some systems; a sandbox may refuse it. */
	if (sample.wants_timezone && syscall(SYS_gettimeofday, NULL, &tz) == 0) {
		sample.timezone_is_valid = true;
		sample.tz_minuteswest = tz.tz_minuteswest;
		sample.tz_dsttime = tz.tz_dsttime;
	}
	*ret_sample = sample;
	return 0;
}

static uint64_t kernel_counter(void *reference)
{
	(void)reference;
	return vclock_counter_ordered();
}

struct reference *reference_kernel(void)
{
	static struct reference reference = {kernel_sample, kernel_counter};

	return &reference;
}
