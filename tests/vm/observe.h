/* SPDX-License-Identifier: MIT */
/*
 * observe.h - readers that look at the page all the time while something happens to the clocks.
 *
 * One thread on each CPU reads the clocks of the page, each read between two reads of the kernel's
 * clock, and hands MONOTONIC to the other threads to see it go back. What the page does not cover
 * is asked of the library. Meanwhile the caller changes clocks and says what may be judged.
 */
#ifndef OBSERVE_H
#define OBSERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "vclock/page.h"

/* What is changing, so that a read outside its bracket is no error at once. */
#define OBSERVE_RATE 1u /* the rate of all but RAW: judged by the error that the page states */
#define OBSERVE_RAW 16u /* RAW's rate too: another clocksource */
#define OBSERVE_WALL 2u /* REALTIME and TAI step: not judged */
#define OBSERVE_BOOT 4u /* BOOTTIME jumps: not judged */
#define OBSERVE_ALL 8u	/* nothing is judged but steps back */

struct observe_figures {
	uint64_t reads, page_reads;
	uint64_t outside; /* steady: outside the bracket */
	uint64_t excused; /* outside while the clock stood still at the end of the last line, or
			   * within the stated error on the first two lines after a gap */
	uint64_t back;	  /* steps back, in one thread or from one to another */
	/* Below (< 0) or above (> 0) the bracket. */
	int64_t worst_steady_ns;   /* of `outside` */
	int64_t worst_excused_ns;  /* of `excused` */
	int64_t worst_changing_ns; /* outside while OBSERVE_RATE */
	int64_t worst_back_ns;
	uint32_t error_ns; /* the largest that the page stated */
	/* Kernel's MONOTONIC at the last reads that were more than OBSERVE_FAR_NS outside: of
	 * MONOTONIC, RAW and BOOTTIME, and of REALTIME and TAI. Atomic. */
	int64_t far_mono_ns, far_real_ns;
};
#define OBSERVE_FAR_NS 1000

/* Starts the readers; -errno where no thread can be had. One at a time. */
int observe_begin(const struct vclock_page *page);
/* What may be judged from now on: 0 or OBSERVE_ bits. */
void observe_judge(uint32_t changing);
/* When a read was last far outside, so far; 0: never. */
int64_t observe_far_ns(bool is_wall);
/* Reads outside while all was steady, so far. */
uint64_t observe_outside(void);
void observe_end(struct observe_figures *ret_figures);

/* The kernel's clock, in ns. */
int64_t observe_kernel_ns(int clk);

#endif /* OBSERVE_H */
