/* SPDX-License-Identifier: MIT */
/* follow_riscv64.h - the riscv64 part of follow.c. Included there only. */
#ifndef FOLLOW_RISCV64_H
#define FOLLOW_RISCV64_H

#include "image/arch/raw_call_riscv64.h"

#define FOLLOW_MACHINE EM_RISCV
#define FOLLOW_UNIT PROCESS_UNIT_RISCV64
#define FOLLOW_PROT 5 /* of the image: PROT_READ and PROT_EXEC */

#define FOLLOW_SYS_CLOSE 57
#define FOLLOW_SYS_MMAP 222
#define FOLLOW_SYS_MPROTECT 226
#define FOLLOW_SYS_MUNMAP 215
#define FOLLOW_SYS_BRK 214
#define FOLLOW_SYS_MADVISE 233
#define FOLLOW_SYS_PRCTL 167
#define FOLLOW_SYS_OPENAT 56

/*
 * a0 is zero at the start of a program, which takes it for a function to call at its end, and is so
 * again; so are all that a function may change, but for t2, which the last jump needs: one through
 * it needs no landing pad. The global pointer is the loader's to set.
 */
__asm__(".pushsection .entry, \"ax\", @progbits\n\t"
	".option push\n\t.option norelax\n\t"
	".hidden follow_begin\n\t.globl follow_begin\nfollow_begin:\n\t"
	"mv a0, sp\n\t"
	"jal follow_main\n\t"
	"mv t2, a0\n\t"
	"li a0, 0\n\tli a1, 0\n\tli a2, 0\n\tli a3, 0\n\tli a4, 0\n\tli a5, 0\n\tli a6, 0\n\t"
	"li a7, 0\n\tli t0, 0\n\tli t1, 0\n\tli t3, 0\n\tli t4, 0\n\tli t5, 0\n\tli t6, 0\n\t"
	"li ra, 0\n\t"
	"jr t2\n\t"
	".option pop\n\t.popsection");

#endif /* FOLLOW_RISCV64_H */
