/* SPDX-License-Identifier: MIT */
/*
 * arch/x86.h - the time-stamp counter, for x86_64 and i386.
 *
 * Included by counter.h only. Must never touch memory.
 */
#ifndef VCLOCK_ARCH_X86_H
#define VCLOCK_ARCH_X86_H

#define VCLOCK_COUNTER_KIND VCLOCK_COUNTER_TSC

VCLOCK_ALWAYS_INLINE uint64_t vclock_counter_unordered(void)
{
	uint32_t lo, hi;

	__asm__ __volatile__("rdtsc" : "=a"(lo), "=d"(hi));
	return ((uint64_t)hi << 32) | lo;
}

/*
 * LFENCE waits until every earlier load has its value, so a time that is read after a flag was seen
 * is never older than the flag. RDTSCP gives the same order at the same cost, but not every CPU and
 * hypervisor has it. The clobber keeps the compiler from moving loads across.
 */
VCLOCK_ALWAYS_INLINE uint64_t vclock_counter_ordered(void)
{
	uint32_t lo, hi;

	__asm__ __volatile__("lfence\n\trdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return ((uint64_t)hi << 32) | lo;
}

#endif /* VCLOCK_ARCH_X86_H */
