/* SPDX-License-Identifier: MIT */
/* raw_process_x86_64.h - the x86_64 part of raw_process.h, which alone includes it. */
#ifndef RAW_PROCESS_X86_64_H
#define RAW_PROCESS_X86_64_H

#include "image/arch/raw_call_x86_64.h"

#define RAW_PROCESS_EXISTS 1

static inline void raw_trap(void)
{
	__asm__ __volatile__("ud2");
}

static inline long raw_clone(unsigned long flags, void *top, int *parent_tid, int *child_tid,
			     void (*fn)(void *), void *arg)
{
	register int *r10 __asm__("r10") = child_tid;
	register long r8 __asm__("r8") = 0;
	/* The child has the same registers, but for the result and the stack pointer. */
	register void (*r12)(void *) __asm__("r12") = fn;
	register void *r13 __asm__("r13") = arg;
	long ret;

	__asm__ __volatile__("syscall\n\t"
			     "testq %%rax, %%rax\n\t"
			     "jnz 1f\n\t"
			     "xorl %%ebp, %%ebp\n\t"
			     "movq %%r13, %%rdi\n\t"
			     "callq *%%r12\n\t"
			     "ud2\n"
			     "1:"
			     : "=a"(ret)
			     : "0"(SYS_clone), "D"(flags), "S"(top), "d"(parent_tid), "r"(r10),
			       "r"(r8), "r"(r12), "r"(r13)
			     : "rcx", "r11", "memory");
	return ret;
}

#endif /* RAW_PROCESS_X86_64_H */
