/* SPDX-License-Identifier: MIT */
/*
 * stub_x86.h - the stub for 64- and for 32-bit programs, both in the 64-bit launcher. Included by
 * stub_host.h only; the offsets are those of struct stub_params and struct stub_step, 1024 is
 * STUB_BELOW.
 *
 * Nothing is written but the stack below the program's own, one word of its auxiliary vector and
 * what the system calls write: the code lies in memory that is not writable. At entry all registers
 * but the stack pointer are zero, and so they are in the end.
 */
#ifndef STUB_X86_H
#define STUB_X86_H

__asm__(".pushsection .rodata\n\t.balign 16\n"
	"stub64_start:\n\t"
	"leaq -1024(%rsp), %rbx\n\t"
	"xorl %ebp, %ebp\n\t"	   /* the base */
	"leaq 72(%rbx), %r12\n\t"  /* the step */
	"movl 32(%rbx), %r13d\n\t" /* how many are left */
	"movl $1, %r14d\n"	   /* what will be told */
	"1:\ttestl %r13d, %r13d\n\tjz 6f\n\t"
	"movq 8(%r12), %rdi\n\tmovq 16(%r12), %rsi\n\tmovq 24(%r12), %rdx\n\t"
	"movq 32(%r12), %r10\n\tmovq 40(%r12), %r8\n\tmovq 48(%r12), %r9\n\t"
	"testb $1, 4(%r12)\n\tjz 2f\n\taddq %rbp, %rdi\n"
	"2:\ttestb $4, 4(%r12)\n\tjnz 4f\n\t"
	"movl (%r12), %eax\n\tsyscall\n\t"
	"cmpq $-4095, %rax\n\tjae 5f\n\t"
	"testb $2, 4(%r12)\n\tjz 3f\n\tmovq %rax, %rbp\n"
	"3:\taddq $56, %r12\n\tdecl %r13d\n\tjmp 1b\n"
	"4:\taddq %rbp, %rsi\n\tmovq %rsi, (%rdi)\n\tjmp 3b\n"
	"5:\ttestb $8, 4(%r12)\n\tjz 51f\n\torl $2, %r14d\n\tjmp 3b\n"
	/* A step failed: its errno and the steps that were left; then all is taken back. */
	"51:\tnegl %eax\n\tshll $16, %r13d\n\tleal 0x40000000(%rax,%r13), %r14d\n\t"
	"movq 8(%rbx), %rdi\n\tmovq 16(%rbx), %rax\n\tmovq %rax, (%rdi)\n\t"
	"testq %rbp, %rbp\n\tjz 6f\n\t"
	"movq %rbp, %rdi\n\tmovq 24(%rbx), %rsi\n\tmovl $11, %eax\n\tsyscall\n"
	"6:\tmovl 40(%rbx), %edi\n\ttestl %edi, %edi\n\tjs 7f\n\t"
	"movq %r14, -16(%rsp)\n\tleaq -16(%rsp), %rsi\n\tmovl $8, %edx\n\tmovl $1, "
	"%eax\n\tsyscall\n"
	"7:\txorl %r12d, %r12d\n"
	"8:\tmovl 44(%rbx,%r12,4), %edi\n\ttestl %edi, %edi\n\tjs 9f\n\t"
	"movl $3, %eax\n\tsyscall\n"
	"9:\tincl %r12d\n\tcmpl $6, %r12d\n\tjb 8b\n\t"
	"btl $30, %r14d\n\tjnc 10f\n\tcmpl $0, 36(%rbx)\n\tje 10f\n\t"
	"movl $126, %edi\n\tmovl $231, %eax\n\tsyscall\n\t"
	"movl $60, %eax\n\tsyscall\n\tud2\n" /* where a filter refuses the first */
	"10:\tmovq (%rbx), %rax\n\tmovq %rax, -8(%rsp)\n\t"
	"xorl %eax, %eax\n\txorl %ebx, %ebx\n\txorl %ecx, %ecx\n\txorl %edx, %edx\n\t"
	"xorl %esi, %esi\n\txorl %edi, %edi\n\txorl %ebp, %ebp\n\txorl %r8d, %r8d\n\t"
	"xorl %r9d, %r9d\n\txorl %r10d, %r10d\n\txorl %r11d, %r11d\n\txorl %r12d, %r12d\n\t"
	"xorl %r13d, %r13d\n\txorl %r14d, %r14d\n\t"
	"jmpq *-8(%rsp)\n"
	"stub64_end:\n\t"
	".popsection");

/*
 * The same. Six registers are arguments, so the base, the step, the number left and what will be
 * told lie on the stack: 0, 4, 8, 12(%esp), and the parameters' address at 16(%esp).
 */
__asm__(".pushsection .rodata\n\t.balign 16\n\t.code32\n"
	"stub32_start:\n\t"
	"leal -1024(%esp), %eax\n\t"
	"subl $32, %esp\n\t"
	"movl %eax, 16(%esp)\n\tmovl $0, (%esp)\n\tmovl $1, 12(%esp)\n\t"
	"movl 32(%eax), %ecx\n\tmovl %ecx, 8(%esp)\n\taddl $72, %eax\n\tmovl %eax, 4(%esp)\n"
	"1:\tcmpl $0, 8(%esp)\n\tje 6f\n\t"
	"movl 4(%esp), %eax\n\t"
	"movl 8(%eax), %ebx\n\tmovl 16(%eax), %ecx\n\tmovl 24(%eax), %edx\n\t"
	"movl 32(%eax), %esi\n\tmovl 40(%eax), %edi\n\tmovl 48(%eax), %ebp\n\t"
	"testb $1, 4(%eax)\n\tjz 2f\n\taddl (%esp), %ebx\n"
	"2:\ttestb $4, 4(%eax)\n\tjnz 4f\n\t"
	"movl (%eax), %eax\n\tint $0x80\n\t"
	"movl 4(%esp), %ebx\n\t"
	"cmpl $-4095, %eax\n\tjae 5f\n\t"
	"testb $2, 4(%ebx)\n\tjz 3f\n\tmovl %eax, (%esp)\n"
	"3:\taddl $56, 4(%esp)\n\tdecl 8(%esp)\n\tjmp 1b\n"
	"4:\taddl (%esp), %ecx\n\tmovl %ecx, (%ebx)\n\tjmp 3b\n"
	"5:\ttestb $8, 4(%ebx)\n\tjz 51f\n\torl $2, 12(%esp)\n\tjmp 3b\n"
	"51:\tnegl %eax\n\tmovl 8(%esp), %ecx\n\tshll $16, %ecx\n\t"
	"leal 0x40000000(%eax,%ecx), %eax\n\tmovl %eax, 12(%esp)\n\t"
	"movl 16(%esp), %eax\n\tmovl 8(%eax), %ebx\n\tmovl 16(%eax), %ecx\n\tmovl %ecx, (%ebx)\n\t"
	"movl (%esp), %ebx\n\ttestl %ebx, %ebx\n\tjz 6f\n\t"
	"movl 24(%eax), %ecx\n\tmovl $91, %eax\n\tint $0x80\n"
	"6:\tmovl 16(%esp), %esi\n\tmovl 40(%esi), %ebx\n\ttestl %ebx, %ebx\n\tjs 7f\n\t"
	"movl 12(%esp), %eax\n\tmovl %eax, 24(%esp)\n\tmovl $0, 28(%esp)\n\t"
	"leal 24(%esp), %ecx\n\tmovl $8, %edx\n\tmovl $4, %eax\n\tint $0x80\n"
	"7:\txorl %edi, %edi\n"
	"8:\tmovl 44(%esi,%edi,4), %ebx\n\ttestl %ebx, %ebx\n\tjs 9f\n\t"
	"movl $6, %eax\n\tint $0x80\n"
	"9:\tincl %edi\n\tcmpl $6, %edi\n\tjb 8b\n\t"
	"btl $30, 12(%esp)\n\tjnc 10f\n\tcmpl $0, 36(%esi)\n\tje 10f\n\t"
	"movl $126, %ebx\n\tmovl $252, %eax\n\tint $0x80\n\t"
	"movl $1, %eax\n\tint $0x80\n\tud2\n"
	"10:\tmovl (%esi), %eax\n\taddl $32, %esp\n\tmovl %eax, -8(%esp)\n\t"
	"xorl %eax, %eax\n\txorl %ebx, %ebx\n\txorl %ecx, %ecx\n\txorl %edx, %edx\n\t"
	"xorl %esi, %esi\n\txorl %edi, %edi\n\txorl %ebp, %ebp\n\t"
	"jmp *-8(%esp)\n"
	"stub32_end:\n\t"
	".code64\n\t.popsection");

extern const unsigned char stub64_start[] __attribute__((visibility("hidden")));
extern const unsigned char stub64_end[] __attribute__((visibility("hidden")));
extern const unsigned char stub32_start[] __attribute__((visibility("hidden")));
extern const unsigned char stub32_end[] __attribute__((visibility("hidden")));

static inline const struct stub_arch *stub_host_arch(bool is_64)
{
	static struct stub_arch arch64 = {.code = stub64_start,
					  .machine = EM_X86_64,
					  .word = 8,
					  .sys_mmap = 9,
					  .sys_madvise = 28,
					  .sys_prctl = 157};
	static struct stub_arch arch32 = {.code = stub32_start,
					  .machine = EM_386,
					  .word = 4,
					  .sys_mmap = 192,
					  .sys_madvise = 219,
					  .sys_prctl = 172};

	arch64.code_size = (uint32_t)((uintptr_t)stub64_end - (uintptr_t)stub64_start);
	arch32.code_size = (uint32_t)((uintptr_t)stub32_end - (uintptr_t)stub32_start);
	return is_64 ? &arch64 : &arch32;
}

#endif /* STUB_X86_H */
