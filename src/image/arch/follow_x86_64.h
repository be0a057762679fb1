/* SPDX-License-Identifier: MIT */
/* follow_x86_64.h - the x86_64 part of follow.c. Included there only. */
#ifndef FOLLOW_X86_64_H
#define FOLLOW_X86_64_H

#include "image/arch/raw_call_x86_64.h"

#define FOLLOW_MACHINE EM_X86_64
#define FOLLOW_UNIT PROCESS_UNIT_X86
/* Of the image: PROT_READ and PROT_EXEC. */
#define FOLLOW_PROT 0x5

#define FOLLOW_SYS_CLOSE 3
#define FOLLOW_SYS_MMAP 9
#define FOLLOW_SYS_MPROTECT 10
#define FOLLOW_SYS_MUNMAP 11
#define FOLLOW_SYS_BRK 12
#define FOLLOW_SYS_MADVISE 28
#define FOLLOW_SYS_PRCTL 157
#define FOLLOW_SYS_OPENAT 257

/* All registers but the stack pointer are zero at the start of a program, and are so again. */
__asm__(".pushsection .entry, \"ax\", @progbits\n\t"
	".hidden follow_begin\n\t.globl follow_begin\nfollow_begin:\n\t"
	"movq %rsp, %rdi\n\tmovq %rsp, %rbx\n\tandq $-16, %rsp\n\t"
	"call follow_main\n\t"
	"movq %rbx, %rsp\n\tmovq %rax, -8(%rsp)\n\t"
	"xorl %eax, %eax\n\txorl %ebx, %ebx\n\txorl %ecx, %ecx\n\txorl %edx, %edx\n\t"
	"xorl %esi, %esi\n\txorl %edi, %edi\n\txorl %r8d, %r8d\n\txorl %r9d, %r9d\n\t"
	"xorl %r10d, %r10d\n\txorl %r11d, %r11d\n\t"
	"jmpq *-8(%rsp)\n\t"
	".popsection");

#endif /* FOLLOW_X86_64_H */
