/* SPDX-License-Identifier: MIT */
/*
 * image_riscv64.h - the riscv64 part of the image; the contract is in image.h. Included there only.
 */
#ifndef IMAGE_RISCV64_H
#define IMAGE_RISCV64_H

#define IMAGE_UNIT PROCESS_UNIT_RISCV64
#define IMAGE_LONG int64_t
#define IMAGE_HAS_32 0
#define IMAGE_HAS_TIME 0 /* nor has the kernel's */
#define IMAGE_INTERNAL

#include "image/arch/image_units.h"

#define IMAGE_SYSCALL_CLOCK_GETTIME 113
#define IMAGE_SYSCALL_GETTIMEOFDAY 169
#define IMAGE_SYSCALL_CLOCK_GETRES 114
#define IMAGE_SYSCALL_GETCPU 168
#define IMAGE_SYSCALL_RT_SIGRETURN 139

#define IMAGE_FUNCTION(name, ...)                                                           \
	__asm__(".pushsection .text, \"ax\", @progbits\n\t.option push\n\t"                 \
		".option norelax\n\t.option norvc\n\t"                                      \
		".balign 16\n\t.globl " name "\n\t.type " name ", @function\n" name ":\n\t" \
		".cfi_startproc\n\t" __VA_ARGS__ "\n\t.cfi_endproc\n\t"                     \
		".size " name ", . - " name "\n\t.option pop\n\t.popsection")

/* Each indirect jump has the one form that the checker knows. t1 is nobody's. */
#define IMAGE_JUMP(slot)                                                     \
	"2:\tauipc t1, %pcrel_hi(image_process_unit + 16 + 8 * " IMAGE_TEXT( \
		slot) ")\n\t"                                                \
		      "ld t1, %pcrel_lo(2b)(t1)\n\tbeqz t1, 1f\n\tjr t1\n1:\t"

#define IMAGE_SYSCALL(number) "li a7, " IMAGE_TEXT(number) "\n\tecall\n\tret"

#define IMAGE_FORWARD(name, slot, number) \
	IMAGE_FUNCTION(name, IMAGE_JUMP(slot) IMAGE_SYSCALL(number))

IMAGE_FORWARD("image_forward_clock_gettime", PROCESS_CLOCK_GETTIME, IMAGE_SYSCALL_CLOCK_GETTIME);
IMAGE_FORWARD("image_forward_gettimeofday", PROCESS_GETTIMEOFDAY, IMAGE_SYSCALL_GETTIMEOFDAY);
IMAGE_FORWARD("image_forward_clock_getres", PROCESS_CLOCK_GETRES, IMAGE_SYSCALL_CLOCK_GETRES);
IMAGE_FUNCTION("image_syscall_clock_getres", IMAGE_SYSCALL(IMAGE_SYSCALL_CLOCK_GETRES));
/* Nothing but forwarded. */
IMAGE_FORWARD("__vdso_getcpu", PROCESS_GETCPU, IMAGE_SYSCALL_GETCPU);

int image_forward_clock_gettime(uint32_t clk, struct vclock_timespec *ret_ts) IMAGE_HIDDEN;
int image_forward_gettimeofday(void *ret_tv, void *ret_tz) IMAGE_HIDDEN;
int image_forward_clock_getres(uint32_t clk, void *ret_res) IMAGE_HIDDEN;
int image_syscall_clock_getres(uint32_t clk, void *ret_res) IMAGE_HIDDEN;
#define image_jump_clock_gettime image_forward_clock_gettime

/* The kernel returns from signals through its own; this one is there for who looks for the name. */
__asm__(".pushsection .text, \"ax\", @progbits\n\t.option push\n\t.option norvc\n\t.balign 16\n\t"
	".cfi_startproc\n\t.cfi_signal_frame\n\tnop\n\t"
	".globl __vdso_rt_sigreturn\n\t.type __vdso_rt_sigreturn, @function\n"
	"__vdso_rt_sigreturn:\n\t"
	"li a7, " IMAGE_TEXT(
		IMAGE_SYSCALL_RT_SIGRETURN) "\n\tecall\n\t"
					    ".cfi_endproc\n\t.size __vdso_rt_sigreturn, . - "
					    "__vdso_rt_sigreturn\n\t"
					    ".option pop\n\t.popsection");

#define IMAGE_NAME_OWN(clock) __vdso_clock_gettime_##clock
#define IMAGE_NAME_CLOCK_GETTIME __vdso_clock_gettime
#define IMAGE_NAME_GETTIMEOFDAY __vdso_gettimeofday
#define IMAGE_NAME_CLOCK_GETRES __vdso_clock_getres

#endif /* IMAGE_RISCV64_H */
