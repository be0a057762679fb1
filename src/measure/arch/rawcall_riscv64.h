/* SPDX-License-Identifier: MIT */
/*
 * rawcall_riscv64.h - included by rawcall.h only.
 */
#if defined(__riscv) && __riscv_xlen == 64

#define RAWCALL_ARCH "riscv64"
#define RAWCALL_WAYS(WAY) WAY(ecall)

#include "rawcall_generic.h"

static inline bool rawcall_has_ecall(void)
{
	return true;
}

static inline __attribute__((always_inline)) long rawcall_ecall(long nr, long a, long b, long c)
{
	register long a7 __asm__("a7") = nr;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;

	__asm__ __volatile__("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2) : "memory");
	return a0;
}

#endif
