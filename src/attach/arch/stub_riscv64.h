/* SPDX-License-Identifier: MIT */
/*
 * stub_riscv64.h - the stub for 64-bit programs. Included by stub_host.h only; the offsets are
 * those of struct stub_params and struct stub_step, 1024 is STUB_BELOW.
 *
 * Nothing is written but the stack below the program's own, one word of its auxiliary vector and
 * what the system calls write: the code lies in memory that is not writable. At entry a0 is zero,
 * which a program takes for a function to call at its end, and so it is in the end; the other
 * registers but the stack pointer have what execve's caller left there, and no program may rely on
 * any of them. Those that were used become zero, but for t2, which the last jump needs: one through
 * it needs no landing pad where it goes.
 *
 * For what is written into executable memory through /proc/PID/mem, as for all that a debugger
 * writes, the kernel has every CPU fetch the program's instructions anew before it runs it on.
 */
#ifndef STUB_RISCV64_H
#define STUB_RISCV64_H

__asm__(".pushsection .rodata\n\t.balign 16\n\t"
	".option push\n\t.option norelax\n\t"
	".hidden stub64_start\n\t.globl stub64_start\n\t"
	".hidden stub64_end\n\t.globl stub64_end\n"
	"stub64_start:\n\t"
	"addi s1, sp, -1024\n\t"
	"li s2, 0\n\t"	      /* the base */
	"addi s3, s1, 72\n\t" /* the step */
	"lw s4, 32(s1)\n\t"   /* how many are left */
	"li s5, 1\n"	      /* what will be told */
	"1:\tbeqz s4, 6f\n\t"
	"lw a7, 0(s3)\n\tlw s6, 4(s3)\n\t"
	"ld a0, 8(s3)\n\tld a1, 16(s3)\n\tld a2, 24(s3)\n\t"
	"ld a3, 32(s3)\n\tld a4, 40(s3)\n\tld a5, 48(s3)\n\t"
	"andi t0, s6, 1\n\tbeqz t0, 2f\n\tadd a0, a0, s2\n"
	"2:\tandi t0, s6, 4\n\tbnez t0, 4f\n\t"
	"ecall\n\t"
	"li t0, -4095\n\tbgeu a0, t0, 5f\n\t"
	"andi t0, s6, 2\n\tbeqz t0, 3f\n\tmv s2, a0\n"
	"3:\taddi s3, s3, 56\n\taddi s4, s4, -1\n\tj 1b\n"
	"4:\tadd a1, a1, s2\n\tsd a1, 0(a0)\n\tj 3b\n"
	"5:\tandi t0, s6, 8\n\tbeqz t0, 51f\n\tori s5, s5, 2\n\tj 3b\n"
	/* A step failed: its errno and the steps that were left; then all is taken back. */
	"51:\tlui s5, 0x40000\n\tslli s4, s4, 16\n\tadd s5, s5, s4\n\tsub s5, s5, a0\n\t"
	"ld a0, 8(s1)\n\tld a1, 16(s1)\n\tsd a1, 0(a0)\n\t"
	"beqz s2, 6f\n\t"
	"mv a0, s2\n\tld a1, 24(s1)\n\tli a7, 215\n\tecall\n"
	"6:\tlw a0, 40(s1)\n\tbltz a0, 7f\n\t"
	"addi sp, sp, -16\n\tsd s5, 0(sp)\n\tmv a1, sp\n\tli a2, 8\n\tli a7, 64\n\tecall\n\t"
	"addi sp, sp, 16\n"
	"7:\taddi s3, s1, 44\n\tli s4, 6\n"
	"8:\tlw a0, 0(s3)\n\taddi s3, s3, 4\n\tbltz a0, 9f\n\t"
	"li a7, 57\n\tecall\n"
	"9:\taddi s4, s4, -1\n\tbnez s4, 8b\n\t"
	"srli s5, s5, 30\n\tbeqz s5, 10f\n\tlw a0, 36(s1)\n\tbeqz a0, 10f\n\t"
	"li a0, 126\n\tli a7, 94\n\tecall\n\t"
	"li a0, 126\n\tli a7, 93\n\tecall\n\tebreak\n" /* where a filter refuses the first */
	"10:\tld t2, 0(s1)\n\t"
	"li a0, 0\n\tli a1, 0\n\tli a2, 0\n\tli a3, 0\n\tli a4, 0\n\tli a5, 0\n\tli a7, 0\n\t"
	"li s1, 0\n\tli s2, 0\n\tli s3, 0\n\tli s4, 0\n\tli s5, 0\n\tli s6, 0\n\tli t0, 0\n\t"
	"jr t2\n"
	"stub64_end:\n\t"
	".option pop\n\t.popsection");

extern const unsigned char stub64_start[] __attribute__((visibility("hidden")));
extern const unsigned char stub64_end[] __attribute__((visibility("hidden")));

static inline const struct stub_arch *stub_host_arch(bool is_64)
{
	static struct stub_arch arch64 = {.code = stub64_start,
					  .machine = EM_RISCV,
					  .word = 8,
					  .sys_mmap = 222,
					  .sys_madvise = 233,
					  .sys_prctl = 167};

	arch64.code_size = (uint32_t)((uintptr_t)stub64_end - (uintptr_t)stub64_start);
	return is_64 ? &arch64 : NULL;
}

#endif /* STUB_RISCV64_H */
