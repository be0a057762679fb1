/* SPDX-License-Identifier: MIT */
/* painted_call_x86.h - for x86_64 and i386: a call on another stack. Included by image_stack.c. */
#ifndef PAINTED_CALL_X86_H
#define PAINTED_CALL_X86_H

/*
 * Calls function(a, b, c) with the stack pointer at top, so that the return address is the first
 * thing below it. There must be room for three arguments above top.
 */
long painted_call(const void *function, long a, long b, long c, void *top);

#ifdef __x86_64__
__asm__(".pushsection .text, \"ax\", @progbits\n"
	"painted_call:\n\t"
	"pushq %rbp\n\tmovq %rsp, %rbp\n\t"
	"movq %rdi, %rax\n\tmovq %rsi, %rdi\n\tmovq %rdx, %rsi\n\tmovq %rcx, %rdx\n\t"
	"movq %r8, %rsp\n\tcall *%rax\n\t"
	"movq %rbp, %rsp\n\tpopq %rbp\n\tret\n\t"
	".popsection");
#else
__asm__(".pushsection .text, \"ax\", @progbits\n"
	"painted_call:\n\t"
	"pushl %ebp\n\tmovl %esp, %ebp\n\t"
	"movl 24(%ebp), %ecx\n\tmovl 12(%ebp), %eax\n\tmovl %eax, (%ecx)\n\t"
	"movl 16(%ebp), %eax\n\tmovl %eax, 4(%ecx)\n\tmovl 20(%ebp), %eax\n\tmovl %eax, 8(%ecx)\n\t"
	"movl 8(%ebp), %eax\n\tmovl %ecx, %esp\n\tcall *%eax\n\t"
	"movl %ebp, %esp\n\tpopl %ebp\n\tret\n\t"
	".popsection");
#endif

/* Where the return address of a function lies that was compiled with a frame pointer. */
#define RETURN_ADDRESS_PLACE() ((unsigned char *)__builtin_frame_address(0) + sizeof(void *))

#endif /* PAINTED_CALL_X86_H */
