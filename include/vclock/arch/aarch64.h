/* SPDX-License-Identifier: MIT */
/*
 * arch/aarch64.h - the virtual counter, CNTVCT_EL0.
 *
 * Included by counter.h only. Must never touch memory. Emulators have run it, no hardware yet.
 */
#ifndef VCLOCK_ARCH_AARCH64_H
#define VCLOCK_ARCH_AARCH64_H

#define VCLOCK_COUNTER_KIND VCLOCK_COUNTER_CNTVCT

VCLOCK_ALWAYS_INLINE uint64_t vclock_counter_unordered(void)
{
	uint64_t cyc;

	__asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(cyc));
	return cyc;
}

/*
 * The DSB waits until every earlier load has its value; the ISB keeps the CPU from reading the
 * counter before that. An ISB alone orders only after a load that was branched on. The clobber
 * keeps the compiler from moving loads across.
 */
VCLOCK_ALWAYS_INLINE uint64_t vclock_counter_ordered(void)
{
	uint64_t cyc;

	__asm__ __volatile__("dsb ishld\n\tisb\n\tmrs %0, cntvct_el0" : "=r"(cyc) : : "memory");
	return cyc;
}

#endif /* VCLOCK_ARCH_AARCH64_H */
