/* SPDX-License-Identifier: MIT */
/* follow_aarch64.h - the aarch64 part of follow.c. Included there only. */
#ifndef FOLLOW_AARCH64_H
#define FOLLOW_AARCH64_H

#include "image/arch/raw_call_aarch64.h"

#define FOLLOW_MACHINE EM_AARCH64
#define FOLLOW_UNIT PROCESS_UNIT_AARCH64
/* Of the image: PROT_READ, PROT_EXEC and PROT_BTI, which mmap() ignores where it is not known. */
#define FOLLOW_PROT 0x15

#define FOLLOW_SYS_CLOSE 57
#define FOLLOW_SYS_MMAP 222
#define FOLLOW_SYS_MPROTECT 226
#define FOLLOW_SYS_MUNMAP 215
#define FOLLOW_SYS_BRK 214
#define FOLLOW_SYS_MADVISE 233
#define FOLLOW_SYS_PRCTL 167
#define FOLLOW_SYS_OPENAT 56

/*
 * All registers but the stack pointer are zero at the start of a program, and are so again, but for
 * x16, which the last branch needs; no function changes those from x19 on. A return goes to any
 * entry, with a landing pad or without.
 */
__asm__(".pushsection .entry, \"ax\", @progbits\n\t"
	".hidden follow_begin\n\t.globl follow_begin\nfollow_begin:\n\t"
	"mov x0, sp\n\t"
	"bl follow_main\n\t"
	"mov x16, x0\n\t"
	"mov x0, xzr\n\tmov x1, xzr\n\tmov x2, xzr\n\tmov x3, xzr\n\tmov x4, xzr\n\t"
	"mov x5, xzr\n\tmov x6, xzr\n\tmov x7, xzr\n\tmov x8, xzr\n\tmov x9, xzr\n\t"
	"mov x10, xzr\n\tmov x11, xzr\n\tmov x12, xzr\n\tmov x13, xzr\n\tmov x14, xzr\n\t"
	"mov x15, xzr\n\tmov x17, xzr\n\tmov x18, xzr\n\tmov x30, xzr\n\tmsr nzcv, xzr\n\t"
	"ret x16\n\t"
	".popsection");

#endif /* FOLLOW_AARCH64_H */
