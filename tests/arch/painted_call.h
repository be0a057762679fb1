/* SPDX-License-Identifier: MIT */
/* painted_call.h - a call on another stack, whose use can be seen then. */
#ifndef PAINTED_CALL_H
#define PAINTED_CALL_H

/*
 * Calls function(a, b, c) with the stack pointer at top, so that the first thing that the call puts
 * there is below it. There must be room for three arguments above top.
 */
long painted_call(const void *function, long a, long b, long c, void *top);

/*
 * PAINTED_CALL_PUSHES: bytes that a call itself puts on the stack: the return address, or nothing.
 * PAINTED_CALL_PLACE(): in a function, where the stack pointer stood after the call of it.
 */

#if defined(__x86_64__)
__asm__(".pushsection .text, \"ax\", @progbits\n"
	"painted_call:\n\t"
	"pushq %rbp\n\tmovq %rsp, %rbp\n\t"
	"movq %rdi, %rax\n\tmovq %rsi, %rdi\n\tmovq %rdx, %rsi\n\tmovq %rcx, %rdx\n\t"
	"movq %r8, %rsp\n\tcall *%rax\n\t"
	"movq %rbp, %rsp\n\tpopq %rbp\n\tret\n\t"
	".popsection");
#elif defined(__i386__)
__asm__(".pushsection .text, \"ax\", @progbits\n"
	"painted_call:\n\t"
	"pushl %ebp\n\tmovl %esp, %ebp\n\t"
	"movl 24(%ebp), %ecx\n\tmovl 12(%ebp), %eax\n\tmovl %eax, (%ecx)\n\t"
	"movl 16(%ebp), %eax\n\tmovl %eax, 4(%ecx)\n\tmovl 20(%ebp), %eax\n\tmovl %eax, 8(%ecx)\n\t"
	"movl 8(%ebp), %eax\n\tmovl %ecx, %esp\n\tcall *%eax\n\t"
	"movl %ebp, %esp\n\tpopl %ebp\n\tret\n\t"
	".popsection");
#elif defined(__aarch64__)
__asm__(".pushsection .text, \"ax\", @progbits\n"
	"painted_call:\n\t"
	"stp x29, x30, [sp, #-16]!\n\tmov x29, sp\n\t"
	"mov x9, x0\n\tmov x0, x1\n\tmov x1, x2\n\tmov x2, x3\n\t"
	"mov sp, x4\n\tblr x9\n\t"
	"mov sp, x29\n\tldp x29, x30, [sp], #16\n\tret\n\t"
	".popsection");
#elif defined(__riscv) && __riscv_xlen == 64
__asm__(".pushsection .text, \"ax\", @progbits\n"
	"painted_call:\n\t"
	"addi sp, sp, -16\n\tsd ra, 8(sp)\n\tsd s0, 0(sp)\n\tmv s0, sp\n\t"
	"mv t0, a0\n\tmv a0, a1\n\tmv a1, a2\n\tmv a2, a3\n\t"
	"mv sp, a4\n\tjalr t0\n\t"
	"mv sp, s0\n\tld s0, 0(sp)\n\tld ra, 8(sp)\n\taddi sp, sp, 16\n\tret\n\t"
	".popsection");
#else
#error "no call on another stack for this architecture yet"
#endif

#if defined(__x86_64__) || defined(__i386__)
#define PAINTED_CALL_PUSHES sizeof(void *)
#else
#define PAINTED_CALL_PUSHES 0
#endif
#define PAINTED_CALL_PLACE() ((unsigned char *)__builtin_dwarf_cfa() - PAINTED_CALL_PUSHES)

#endif /* PAINTED_CALL_H */
