/* SPDX-License-Identifier: MIT */
/*
 * raw_call_aarch64.h - a system call of aarch64, and nothing else: for code that has no libc, or
 * must not touch what is libc's. The kernel's own return value: -errno on failure.
 */
#ifndef RAW_CALL_AARCH64_H
#define RAW_CALL_AARCH64_H

#include "vclock/compiler.h"

VCLOCK_ALWAYS_INLINE long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ __volatile__("svc #0"
			     : "+r"(x0)
			     : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			     : "memory");
	return x0;
}

#endif /* RAW_CALL_AARCH64_H */
