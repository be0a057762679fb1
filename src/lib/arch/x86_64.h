/* SPDX-License-Identifier: MIT */
/*
 * x86_64.h - raw system calls of x86_64. Included by raw.h only.
 */
#ifndef LIB_ARCH_X86_64_H
#define LIB_ARCH_X86_64_H

#define RAW_ARCH_PRCTL SYS_arch_prctl

static inline long raw_syscall5(long nr, long a, long b, long c, long d, long e)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	long r;

	__asm__ __volatile__("syscall"
			     : "=a"(r)
			     : "0"(nr), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8)
			     : "rcx", "r11", "memory");
	return r;
}

static inline long raw_syscall2(long nr, long a, long b)
{
	long r;

	__asm__ __volatile__("syscall"
			     : "=a"(r)
			     : "0"(nr), "D"(a), "S"(b)
			     : "rcx", "r11", "memory");
	return r;
}

/* fn() on the stack that ends at top, which is aligned to 16. */
static inline void raw_on_stack(void *top, void (*fn)(void))
{
	__asm__ __volatile__("movq %%rsp, %%rbx\n\t"
			     "movq %[top], %%rsp\n\t"
			     "call *%[fn]\n\t"
			     "movq %%rbx, %%rsp"
			     : [top] "+c"(top), [fn] "+a"(fn)
			     :
			     : "rbx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "xmm0", "xmm1",
			       "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9",
			       "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15", "cc",
			       "memory");
}

#include "lp64.h"
#include "x86.h"

/* Part of the architecture, LFENCE too. */
static inline bool raw_counter_exists(void)
{
	return true;
}

#endif /* LIB_ARCH_X86_64_H */
