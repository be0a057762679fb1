/* SPDX-License-Identifier: MIT */
/* raw_process_riscv64.h - the riscv64 part of raw_process.h, which alone includes it. */
#ifndef RAW_PROCESS_RISCV64_H
#define RAW_PROCESS_RISCV64_H

#include "image/arch/raw_call_riscv64.h"

#define RAW_PROCESS_EXISTS 1

static inline void raw_trap(void)
{
	__asm__ __volatile__("ebreak");
}

static inline long raw_clone(unsigned long flags, void *top, int *parent_tid, int *child_tid,
			     void (*fn)(void *), void *arg)
{
	register long a7 __asm__("a7") = SYS_clone;
	register long a0 __asm__("a0") = (long)flags;
	register void *a1 __asm__("a1") = top;
	register int *a2 __asm__("a2") = parent_tid;
	register long a3 __asm__("a3") = 0;
	register int *a4 __asm__("a4") = child_tid;
	/* The child has the same registers, but for the result and the stack pointer. */
	register void (*t1)(void *) __asm__("t1") = fn;
	register void *t3 __asm__("t3") = arg;

	__asm__ __volatile__("ecall\n\t"
			     "bnez a0, 1f\n\t"
			     "li s0, 0\n\t"
			     "mv a0, t3\n\t"
			     "jalr t1\n\t"
			     "ebreak\n"
			     "1:"
			     : "+r"(a0)
			     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(t1), "r"(t3)
			     : "memory");
	return a0;
}

#endif /* RAW_PROCESS_RISCV64_H */
