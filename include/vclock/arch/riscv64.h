/* SPDX-License-Identifier: MIT */
/*
 * arch/riscv64.h - the time CSR.
 *
 * Included by counter.h only. Must never touch memory. Emulators have run it, no hardware yet.
 */
#ifndef VCLOCK_ARCH_RISCV64_H
#define VCLOCK_ARCH_RISCV64_H

#define VCLOCK_COUNTER_KIND VCLOCK_COUNTER_RISCV

VCLOCK_ALWAYS_INLINE uint64_t vclock_counter_unordered(void)
{
	uint64_t cyc;

	__asm__ __volatile__("rdtime %0" : "=r"(cyc));
	return cyc;
}

/*
 * To a FENCE a read of this CSR is an input from a device: it comes after every earlier load. The
 * clobber keeps the compiler from moving loads across.
 */
VCLOCK_ALWAYS_INLINE uint64_t vclock_counter_ordered(void)
{
	uint64_t cyc;

	__asm__ __volatile__("fence r, i\n\trdtime %0" : "=r"(cyc) : : "memory");
	return cyc;
}

#endif /* VCLOCK_ARCH_RISCV64_H */
