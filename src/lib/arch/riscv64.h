/* SPDX-License-Identifier: MIT */
/*
 * riscv64.h - raw system calls of riscv64. Included by raw.h only.
 */
#ifndef LIB_ARCH_RISCV64_H
#define LIB_ARCH_RISCV64_H

static inline long raw_syscall5(long nr, long a, long b, long c, long d, long e)
{
	register long a7 __asm__("a7") = nr;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;

	__asm__ __volatile__("ecall"
			     : "+r"(a0)
			     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4)
			     : "memory");
	return a0;
}

static inline long raw_syscall2(long nr, long a, long b)
{
	register long a7 __asm__("a7") = nr;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;

	__asm__ __volatile__("ecall" : "+r"(a0) : "r"(a7), "r"(a1) : "memory");
	return a0;
}

/* fn() on the stack that ends at top, which is aligned to 16. */
static inline void raw_on_stack(void *top, void (*fn)(void))
{
	register void *a0 __asm__("a0") = top;
	register void (*a1)(void) __asm__("a1") = fn;

	__asm__ __volatile__("mv s1, sp\n\t"
			     "mv sp, a0\n\t"
			     "jalr a1\n\t"
			     "mv sp, s1"
			     : "+r"(a0), "+r"(a1)
			     :
			     : "s1", "ra", "a2", "a3", "a4", "a5", "a6", "a7", "t0", "t1", "t2",
			       "t3", "t4", "t5", "t6", "ft0", "ft1", "ft2", "ft3", "ft4", "ft5",
			       "ft6", "ft7", "ft8", "ft9", "ft10", "ft11", "fa0", "fa1", "fa2",
			       "fa3", "fa4", "fa5", "fa6", "fa7", "memory");
}

#include "lp64.h"

/* Linux lets every program read it, or does so for the program. */
static inline bool raw_counter_exists(void)
{
	return true;
}

/* The architecture's timer never changes its frequency. */
static inline bool raw_counter_is_invariant(void)
{
	return true;
}

#endif /* LIB_ARCH_RISCV64_H */
