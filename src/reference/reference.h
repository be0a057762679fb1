/* SPDX-License-Identifier: MIT */
/*
 * reference.h - the seam to true time: where a publisher learns what the clocks are.
 *
 * One struct of functions. reference_kernel_*() reads this machine's kernel; tests bring a
 * simulated one. Everything that a publisher knows of time and of the counter comes through here,
 * so that a simulation can drive it without a real clock.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The kernel's clock was ns (truncated: the true value lies in [ns, ns + 1)) at some counter value
 * in [before_cyc, after_cyc]. The tightest of a few tries.
 */
struct reference_bracket {
	uint64_t before_cyc;
	uint64_t after_cyc;
	uint64_t ns;
};

struct reference_sample {
	struct reference_bracket mono;
	struct reference_bracket raw;
	/* Exact, in ns. Valid flags are false when the kernel stepped the clock between the reads.
	 */
	int64_t real_minus_mono_ns;
	int64_t boot_minus_mono_lo_ns; /* BOOTTIME - MONOTONIC lies in [lo, hi] */
	int64_t boot_minus_mono_hi_ns;
	int32_t tai_offset_sec;
	bool real_valid;
	bool boot_valid;
	bool tai_valid;
	int32_t tz_minuteswest;
	int32_t tz_dsttime;
};

struct reference {
	/* 0, or -errno when the clocks cannot be read. */
	int (*sample)(struct reference *reference, struct reference_sample *ret_sample);
	/* The counter, ordered. */
	uint64_t (*read_counter)(void *reference);
};

/* This machine's kernel, through its vDSO where there is one. The returned object is static. */
struct reference *reference_kernel(void);

#endif /* REFERENCE_H */
