/* SPDX-License-Identifier: MIT */
/*
 * vm_exit.h - ends the virtual machine with a status of qemu's that neither a panic, a power-off
 * nor qemu's own failure can give: (value << 1) | 1. Returns where that is not possible.
 */
#ifndef VM_EXIT_H
#define VM_EXIT_H

#include <stdint.h>

#if defined(__x86_64__) || defined(__i386__)
#include <sys/io.h>

/* isa-debug-exit */
#define VM_EXIT_PORT 0xf4

static inline void vm_exit(unsigned value)
{
	if (ioperm(VM_EXIT_PORT, 1, 1) == 0)
		outb((unsigned char)value, VM_EXIT_PORT);
}
#elif defined(__aarch64__)
/* Semihosting: SYS_EXIT_EXTENDED, ADP_Stopped_ApplicationExit. */
static inline void vm_exit(unsigned value)
{
	uint64_t block[2] = {0x20026, (uint64_t)value << 1 | 1};
	register uint64_t x0 __asm__("x0") = 0x20;
	register uint64_t *x1 __asm__("x1") = block;

	__asm__ __volatile__("hlt #0xf000" : "+r"(x0) : "r"(x1) : "memory");
}
#elif defined(__riscv) && __riscv_xlen == 64
/* The same. Its three instructions are four bytes long each, and lie in one page. */
static inline void vm_exit(unsigned value)
{
	uint64_t block[2] = {0x20026, (uint64_t)value << 1 | 1};
	register uint64_t a0 __asm__("a0") = 0x20;
	register uint64_t *a1 __asm__("a1") = block;

	__asm__ __volatile__(".option push\n\t.option norvc\n\t.balign 16\n\t"
			     "slli zero, zero, 0x1f\n\tebreak\n\tsrai zero, zero, 7\n\t"
			     ".option pop"
			     : "+r"(a0)
			     : "r"(a1)
			     : "memory");
}
#else
#error "no way out of a machine of this architecture yet"
#endif

#endif /* VM_EXIT_H */
