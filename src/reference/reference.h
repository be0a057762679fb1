/* SPDX-License-Identifier: MIT */
/*
 * reference.h - the seam to true time: where a publisher learns what the clocks are.
 *
 * One struct of functions. reference_kernel() reads this machine's kernel; tests bring a simulated
 * one. Everything that a publisher knows of time and of the counter comes through here, so that a
 * simulation can drive it without a real clock.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include "keeper/keeper.h"

#include <stdbool.h>
#include <stdint.h>

struct reference_sample {
	bool wants_timezone;	    /* set by who asks: the time zone too, which is a system call */
	struct keeper_bracket mono; /* CLOCK_MONOTONIC, the tightest of a few tries */
	struct keeper_bracket raw;  /* CLOCK_MONOTONIC_RAW */
	/* The rest is false, or 0, where the clocks stepped between the reads: take the last one.
	 */
	bool real_is_valid;
	bool tai_is_valid;
	bool boot_is_valid;
	bool timezone_is_valid;
	int32_t tai_offset_sec;	       /* TAI - REALTIME */
	int64_t real_minus_mono_ns;    /* exact */
	int64_t boot_minus_mono_lo_ns; /* BOOTTIME - MONOTONIC lies in [lo, hi] */
	int64_t boot_minus_mono_hi_ns;
	int32_t tz_minuteswest; /* struct timezone */
	int32_t tz_dsttime;
};

struct reference {
	/* Fills *ret_sample but for wants_timezone; 0, or -errno when the clocks cannot be read. */
	int (*sample)(struct reference *reference, struct reference_sample *ret_sample);
	/* The counter, ordered. The argument is the reference; void * as struct vclock_timekeeper
	 * has it. */
	uint64_t (*read_counter)(void *reference);
};

/* This machine's kernel. The object is static and has no state: any number of users. */
struct reference *reference_kernel(void);

#endif /* REFERENCE_H */
