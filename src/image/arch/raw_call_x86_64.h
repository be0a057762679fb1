/* SPDX-License-Identifier: MIT */
/*
 * raw_call_x86_64.h - a system call of x86_64, and nothing else: for code that has no libc, or must
 * not touch what is libc's. The kernel's own return value: -errno on failure.
 */
#ifndef RAW_CALL_X86_64_H
#define RAW_CALL_X86_64_H

#include "vclock/compiler.h"

VCLOCK_ALWAYS_INLINE long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long ret;

	__asm__ __volatile__("syscall"
			     : "=a"(ret)
			     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			     : "rcx", "r11", "memory");
	return ret;
}

#endif /* RAW_CALL_X86_64_H */
