/* SPDX-License-Identifier: MIT */
/*
 * stub_aarch64.h - the stub for 64-bit programs. Included by stub_host.h only; the offsets are
 * those of struct stub_params and struct stub_step, 1024 is STUB_BELOW.
 *
 * Nothing is written but the stack below the program's own, one word of its auxiliary vector and
 * what the system calls write: the code lies in memory that is not writable. At entry all registers
 * but the stack pointer are zero, and so they are in the end, but for x16, which the last branch
 * needs and which no program may rely on.
 *
 * Where the kernel maps its vDSO with PROT_BTI, code behind it is under that rule too: nobody
 * branches here, but the first instruction is a landing pad all the same. The last one is a return,
 * for which the program's entry needs none.
 *
 * The kernel cleans the data cache and invalidates the instruction caches for what is written into
 * executable memory through /proc/PID/mem, as for all that a debugger writes, and the way from the
 * kernel back into the program synchronizes the CPU that it goes on with.
 */
#ifndef STUB_AARCH64_H
#define STUB_AARCH64_H

__asm__(".pushsection .rodata\n\t.balign 16\n\t"
	".hidden stub64_start\n\t.globl stub64_start\n\t"
	".hidden stub64_end\n\t.globl stub64_end\n"
	"stub64_start:\n\t"
	"hint #34\n\t" /* bti c */
	"sub x19, sp, #1024\n\t"
	"mov x20, xzr\n\t"	  /* the base */
	"add x21, x19, #72\n\t"	  /* the step */
	"ldr w22, [x19, #32]\n\t" /* how many are left */
	"mov x23, #1\n"		  /* what will be told */
	"1:\tcbz w22, 6f\n\t"
	"ldp w8, w24, [x21]\n\t"
	"ldp x0, x1, [x21, #8]\n\tldp x2, x3, [x21, #24]\n\tldp x4, x5, [x21, #40]\n\t"
	"tbz w24, #0, 2f\n\tadd x0, x0, x20\n"
	"2:\ttbnz w24, #2, 4f\n\t"
	"svc #0\n\t"
	"cmn x0, #4095\n\tb.hs 5f\n\t"
	"tbz w24, #1, 3f\n\tmov x20, x0\n"
	"3:\tadd x21, x21, #56\n\tsub w22, w22, #1\n\tb 1b\n"
	"4:\tadd x1, x1, x20\n\tstr x1, [x0]\n\tb 3b\n"
	"5:\ttbz w24, #3, 51f\n\torr x23, x23, #2\n\tb 3b\n"
	/* A step failed: its errno and the steps that were left; then all is taken back. */
	"51:\tneg w0, w0\n\tmov w23, #0x40000000\n\t"
	"add w23, w23, w22, lsl #16\n\tadd w23, w23, w0\n\t"
	"ldp x0, x1, [x19, #8]\n\tstr x1, [x0]\n\t"
	"cbz x20, 6f\n\t"
	"mov x0, x20\n\tldr x1, [x19, #24]\n\tmov x8, #215\n\tsvc #0\n"
	"6:\tldr w0, [x19, #40]\n\ttbnz w0, #31, 7f\n\t"
	"str x23, [sp, #-16]!\n\tmov x1, sp\n\tmov x2, #8\n\tmov x8, #64\n\tsvc #0\n\t"
	"add sp, sp, #16\n"
	"7:\tadd x21, x19, #44\n\tmov w22, #6\n"
	"8:\tldr w0, [x21], #4\n\ttbnz w0, #31, 9f\n\t"
	"mov x8, #57\n\tsvc #0\n"
	"9:\tsub w22, w22, #1\n\tcbnz w22, 8b\n\t"
	"tbz w23, #30, 10f\n\tldr w0, [x19, #36]\n\tcbz w0, 10f\n\t"
	"mov x0, #126\n\tmov x8, #94\n\tsvc #0\n\t"
	"mov x0, #126\n\tmov x8, #93\n\tsvc #0\n\tbrk #1\n" /* where a filter refuses the first */
	"10:\tldr x16, [x19]\n\t"
	"mov x0, xzr\n\tmov x1, xzr\n\tmov x2, xzr\n\tmov x3, xzr\n\tmov x4, xzr\n\t"
	"mov x5, xzr\n\tmov x8, xzr\n\tmov x19, xzr\n\tmov x20, xzr\n\tmov x21, xzr\n\t"
	"mov x22, xzr\n\tmov x23, xzr\n\tmov x24, xzr\n\tmsr nzcv, xzr\n\t"
	"ret x16\n"
	"stub64_end:\n\t"
	".popsection");

extern const unsigned char stub64_start[] __attribute__((visibility("hidden")));
extern const unsigned char stub64_end[] __attribute__((visibility("hidden")));

static inline const struct stub_arch *stub_host_arch(bool is_64)
{
	static struct stub_arch arch64 = {.code = stub64_start,
					  .machine = EM_AARCH64,
					  .word = 8,
					  .sys_mmap = 222,
					  .sys_madvise = 233,
					  .sys_prctl = 167};

	arch64.code_size = (uint32_t)((uintptr_t)stub64_end - (uintptr_t)stub64_start);
	return is_64 ? &arch64 : NULL;
}

#endif /* STUB_AARCH64_H */
