/* SPDX-License-Identifier: MIT */
/* raw_process_aarch64.h - the aarch64 part of raw_process.h, which alone includes it. */
#ifndef RAW_PROCESS_AARCH64_H
#define RAW_PROCESS_AARCH64_H

#include "image/arch/raw_call_aarch64.h"

#define RAW_PROCESS_EXISTS 1

static inline void raw_trap(void)
{
	__asm__ __volatile__("brk 1");
}

static inline long raw_clone(unsigned long flags, void *top, int *parent_tid, int *child_tid,
			     void (*fn)(void *), void *arg)
{
	register long x8 __asm__("x8") = SYS_clone;
	register long x0 __asm__("x0") = (long)flags;
	register void *x1 __asm__("x1") = top;
	register int *x2 __asm__("x2") = parent_tid;
	register long x3 __asm__("x3") = 0;
	register int *x4 __asm__("x4") = child_tid;
	/* The child has the same registers, but for the result and the stack pointer. */
	register void (*x9)(void *) __asm__("x9") = fn;
	register void *x10 __asm__("x10") = arg;

	__asm__ __volatile__("svc 0\n\t"
			     "cbnz x0, 1f\n\t"
			     "mov x29, xzr\n\t"
			     "mov x30, xzr\n\t"
			     "mov x0, x10\n\t"
			     "blr x9\n\t"
			     "brk 1\n"
			     "1:"
			     : "+r"(x0)
			     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x9), "r"(x10)
			     : "memory", "cc");
	return x0;
}

#endif /* RAW_PROCESS_AARCH64_H */
