/* SPDX-License-Identifier: MIT */
/*
 * x86.h - what x86_64 and i386 share. Included by their files only.
 */
#ifndef LIB_ARCH_X86_H
#define LIB_ARCH_X86_H

#include <cpuid.h>

#define RAW_CPUID_POWER 0x80000007u
#define RAW_CPUID_INVARIANT_TSC (1u << 8)
/* <asm/prctl.h> */
#define RAW_ARCH_GET_CPUID 0x1011

/* A process that forbade itself CPUID, arch_prctl(ARCH_SET_CPUID), would die of it. */
static inline bool raw_may_cpuid(void)
{
	return raw_syscall2(RAW_ARCH_PRCTL, RAW_ARCH_GET_CPUID, 0) != 0;
}

static inline bool raw_counter_is_invariant(void)
{
	unsigned a, b, c, d;

	if (!raw_may_cpuid() || !__get_cpuid(RAW_CPUID_POWER, &a, &b, &c, &d))
		return false;
	return (d & RAW_CPUID_INVARIANT_TSC) != 0;
}

#endif /* LIB_ARCH_X86_H */
