/* SPDX-License-Identifier: MIT */
/*
 * rawcall_aarch64.h - included by rawcall.h only.
 */
#if defined(__aarch64__)

#define RAWCALL_ARCH "aarch64"
#define RAWCALL_WAYS(WAY) WAY(svc)

#include "rawcall_generic.h"

static inline bool rawcall_has_svc(void)
{
	return true;
}

static inline __attribute__((always_inline)) long rawcall_svc(long nr, long a, long b, long c)
{
	register long x8 __asm__("x8") = nr;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;

	__asm__ __volatile__("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2) : "memory");
	return x0;
}

#endif
