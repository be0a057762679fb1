/* SPDX-License-Identifier: MIT */
/*
 * image_aarch64.h - the aarch64 part of the image; the contract is in image.h. Included there only.
 */
#ifndef IMAGE_AARCH64_H
#define IMAGE_AARCH64_H

#define IMAGE_UNIT PROCESS_UNIT_AARCH64
#define IMAGE_LONG int64_t
#define IMAGE_HAS_32 0
#define IMAGE_HAS_TIME 0 /* nor has the kernel's */
#define IMAGE_INTERNAL

#include "image/arch/image_units.h"

#define IMAGE_SYSCALL_CLOCK_GETTIME 113
#define IMAGE_SYSCALL_GETTIMEOFDAY 169
#define IMAGE_SYSCALL_CLOCK_GETRES 114
#define IMAGE_SYSCALL_RT_SIGRETURN 139
#define IMAGE_ENOSYS 38

/* Each begins with a landing pad, bti c: the image is mapped with PROT_BTI. */
#define IMAGE_FUNCTION(name, ...)                                                           \
	__asm__(".pushsection .text, \"ax\", @progbits\n\t"                                 \
		".balign 16\n\t.globl " name "\n\t.type " name ", %function\n" name ":\n\t" \
		".cfi_startproc\n\thint #34\n\t" __VA_ARGS__ "\n\t.cfi_endproc\n\t"         \
		".size " name ", . - " name "\n\t.popsection")

/* Each indirect branch has the one form that the checker knows. x16 is nobody's. */
#define IMAGE_JUMP(slot)                                                                 \
	"adrp x16, image_process_unit + 16 + 8 * " IMAGE_TEXT(                           \
		slot) "\n\t"                                                             \
		      "ldr x16, [x16, #:lo12:image_process_unit + 16 + 8 * " IMAGE_TEXT( \
			      slot) "]\n\t"                                              \
				    "cbz x16, 1f\n\tbr x16\n1:\t"

#define IMAGE_SYSCALL(number) "mov x8, #" IMAGE_TEXT(number) "\n\tsvc #0\n\tret"

#define IMAGE_FORWARD(name, slot, otherwise) IMAGE_FUNCTION(name, IMAGE_JUMP(slot) otherwise)

IMAGE_FORWARD("image_forward_clock_gettime", PROCESS_CLOCK_GETTIME,
	      IMAGE_SYSCALL(IMAGE_SYSCALL_CLOCK_GETTIME));
IMAGE_FORWARD("image_forward_gettimeofday", PROCESS_GETTIMEOFDAY,
	      IMAGE_SYSCALL(IMAGE_SYSCALL_GETTIMEOFDAY));
IMAGE_FORWARD("image_forward_clock_getres", PROCESS_CLOCK_GETRES,
	      IMAGE_SYSCALL(IMAGE_SYSCALL_CLOCK_GETRES));
IMAGE_FUNCTION("image_syscall_clock_getres", IMAGE_SYSCALL(IMAGE_SYSCALL_CLOCK_GETRES));
/* Nothing but forwarded. */
IMAGE_FORWARD("__kernel_getrandom", PROCESS_GETRANDOM,
	      "mov x0, #-" IMAGE_TEXT(IMAGE_ENOSYS) "\n\tret");

int image_forward_clock_gettime(uint32_t clk, struct vclock_timespec *ret_ts) IMAGE_HIDDEN;
int image_forward_gettimeofday(void *ret_tv, void *ret_tz) IMAGE_HIDDEN;
int image_forward_clock_getres(uint32_t clk, void *ret_res) IMAGE_HIDDEN;
int image_syscall_clock_getres(uint32_t clk, void *ret_res) IMAGE_HIDDEN;
#define image_jump_clock_gettime image_forward_clock_gettime

/*
 * The kernel returns from signals through its own; this one is there for who looks for the name.
 * Unwinders know it by its two instructions, and nobody but a return goes there: no landing pad.
 * Where a handler returns to, the frame record that the kernel pushed is at x29. The byte in front
 * is for unwinders, who look a return address up at one less.
 */
__asm__(".pushsection .text, \"ax\", @progbits\n\t.balign 16\n\t"
	".cfi_startproc\n\t.cfi_signal_frame\n\t"
	".cfi_def_cfa x29, 0\n\t.cfi_offset x29, 0\n\t.cfi_offset x30, 8\n\tnop\n\t"
	".globl __kernel_rt_sigreturn\n\t.type __kernel_rt_sigreturn, %function\n"
	"__kernel_rt_sigreturn:\n\t"
	"mov x8, #" IMAGE_TEXT(
		IMAGE_SYSCALL_RT_SIGRETURN) "\n\tsvc #0\n\t"
					    ".cfi_endproc\n\t.size __kernel_rt_sigreturn, . - "
					    "__kernel_rt_sigreturn\n\t.popsection");

#define IMAGE_NAME_OWN(clock) __kernel_clock_gettime_##clock
#define IMAGE_NAME_CLOCK_GETTIME __kernel_clock_gettime
#define IMAGE_NAME_GETTIMEOFDAY __kernel_gettimeofday
#define IMAGE_NAME_CLOCK_GETRES __kernel_clock_getres

#endif /* IMAGE_AARCH64_H */
