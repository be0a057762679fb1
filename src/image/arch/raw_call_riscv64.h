/* SPDX-License-Identifier: MIT */
/*
 * raw_call_riscv64.h - a system call of riscv64, and nothing else: for code that has no libc, or
 * must not touch what is libc's. The kernel's own return value: -errno on failure.
 */
#ifndef RAW_CALL_RISCV64_H
#define RAW_CALL_RISCV64_H

#include "vclock/compiler.h"

VCLOCK_ALWAYS_INLINE long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long a7 __asm__("a7") = number;
	register long a0 __asm__("a0") = a;
	register long a1 __asm__("a1") = b;
	register long a2 __asm__("a2") = c;
	register long a3 __asm__("a3") = d;
	register long a4 __asm__("a4") = e;
	register long a5 __asm__("a5") = f;

	__asm__ __volatile__("ecall"
			     : "+r"(a0)
			     : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5)
			     : "memory");
	return a0;
}

#endif /* RAW_CALL_RISCV64_H */
