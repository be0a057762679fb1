/* SPDX-License-Identifier: MIT */
/*
 * aarch64.h - raw system calls of aarch64. Included by raw.h only.
 */
#ifndef LIB_ARCH_AARCH64_H
#define LIB_ARCH_AARCH64_H

static inline long raw_syscall5(long nr, long a, long b, long c, long d, long e)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;

	__asm__ __volatile__("svc #0"
			     : "+r"(x0)
			     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4)
			     : "memory");
	return x0;
}

static inline long raw_syscall2(long nr, long a, long b)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;

	__asm__ __volatile__("svc #0" : "+r"(x0) : "r"(x8), "r"(x1) : "memory");
	return x0;
}

/*
 * fn() on the stack that ends at top, which is aligned to 16. Of v8 to v15 it keeps the lower
 * halves, as all functions do; they are not among what it changes, for the caller would save them
 * on its own stack. No vector may be kept in one across this.
 */
static inline void raw_on_stack(void *top, void (*fn)(void))
{
	register void *x0 __asm__("x0") = top;
	register void (*x1)(void) __asm__("x1") = fn;

	__asm__ __volatile__("mov x19, sp\n\t"
			     "mov sp, x0\n\t"
			     "blr x1\n\t"
			     "mov sp, x19"
			     : "+r"(x0), "+r"(x1)
			     :
			     : "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12",
			       "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x30", "v0", "v1",
			       "v2", "v3", "v4", "v5", "v6", "v7", "v16", "v17", "v18", "v19",
			       "v20", "v21", "v22", "v23", "v24", "v25", "v26", "v27", "v28", "v29",
			       "v30", "v31", "cc", "memory");
}

#include "lp64.h"

/* Part of the architecture; the kernel lets every program read it. */
static inline bool raw_counter_exists(void)
{
	return true;
}

/* The architecture's system counter never changes its frequency. */
static inline bool raw_counter_is_invariant(void)
{
	return true;
}

#endif /* LIB_ARCH_AARCH64_H */
