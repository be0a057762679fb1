/* SPDX-License-Identifier: MIT */
/* image_x86_64.h - the x86_64 part of the image; the contract is in image.h. Included there only.
 */
#ifndef IMAGE_X86_64_H
#define IMAGE_X86_64_H

#define IMAGE_UNIT PROCESS_UNIT_X86
#define IMAGE_LONG int64_t
#define IMAGE_HAS_32 0
#define IMAGE_INTERNAL

#include "image/arch/image_units.h"

#define IMAGE_SYSCALL_CLOCK_GETTIME 228
#define IMAGE_SYSCALL_GETTIMEOFDAY 96
#define IMAGE_SYSCALL_TIME 201
#define IMAGE_SYSCALL_CLOCK_GETRES 229
#define IMAGE_SYSCALL_GETCPU 309
#define IMAGE_ENOSYS 38

/*
 * The forwarders are written out, so that each indirect jump has the one form that the checker
 * knows: through a slot of the process page. The system call takes its arguments where a function
 * does. rcx and r11, which it clobbers, are the callee's.
 */
#define IMAGE_FUNCTION(name, ...)                                                           \
	__asm__(".pushsection .text, \"ax\", @progbits\n\t"                                 \
		".balign 16\n\t.globl " name "\n\t.type " name ", @function\n" name ":\n\t" \
		".cfi_startproc\n\t" __VA_ARGS__ "\n\t.cfi_endproc\n\t"                     \
		".size " name ", . - " name "\n\t.popsection")

#define IMAGE_SLOT(slot) "image_process_unit + 16 + 8 * " IMAGE_TEXT(slot) "(%rip)"

#define IMAGE_FORWARD(name, slot, otherwise)                                                \
	IMAGE_FUNCTION(name, "cmpq $0, " IMAGE_SLOT(slot) "\n\tje 1f\n\tjmpq *" IMAGE_SLOT( \
				     slot) "\n1:\t" otherwise "\n\tret")

#define IMAGE_SYSCALL(number) "movl $" IMAGE_TEXT(number) ", %eax\n\tsyscall"

IMAGE_FORWARD("image_forward_clock_gettime", PROCESS_CLOCK_GETTIME,
	      IMAGE_SYSCALL(IMAGE_SYSCALL_CLOCK_GETTIME));
IMAGE_FORWARD("image_forward_gettimeofday", PROCESS_GETTIMEOFDAY,
	      IMAGE_SYSCALL(IMAGE_SYSCALL_GETTIMEOFDAY));
IMAGE_FORWARD("image_forward_time", PROCESS_TIME, IMAGE_SYSCALL(IMAGE_SYSCALL_TIME));
/* The kernel's takes some cycles only: nothing stands in front of the jump but the look at the
 * slot. */
IMAGE_FUNCTION("__vdso_time",
	       "cmpq $0, " IMAGE_SLOT(PROCESS_TIME) "\n\tje image_time\n\t"
						    "jmpq *" IMAGE_SLOT(PROCESS_TIME));
/* Where the slot is known not to be empty. */
IMAGE_FUNCTION("image_jump_clock_gettime", "jmpq *" IMAGE_SLOT(PROCESS_CLOCK_GETTIME));
IMAGE_FORWARD("image_forward_clock_getres", PROCESS_CLOCK_GETRES,
	      IMAGE_SYSCALL(IMAGE_SYSCALL_CLOCK_GETRES));
IMAGE_FUNCTION("image_syscall_clock_getres", IMAGE_SYSCALL(IMAGE_SYSCALL_CLOCK_GETRES) "\n\tret");
/* These two are nothing but forwarded. */
IMAGE_FORWARD("__vdso_getcpu", PROCESS_GETCPU, IMAGE_SYSCALL(IMAGE_SYSCALL_GETCPU));
IMAGE_FORWARD("__vdso_getrandom", PROCESS_GETRANDOM, "movq $-" IMAGE_TEXT(IMAGE_ENOSYS) ", %rax");

int image_forward_clock_gettime(uint32_t clk, struct vclock_timespec *ret_ts) IMAGE_HIDDEN;
int image_forward_gettimeofday(void *ret_tv, void *ret_tz) IMAGE_HIDDEN;
int64_t image_forward_time(int64_t *ret_time) IMAGE_HIDDEN;
int64_t __vdso_time(int64_t *ret_time) IMAGE_EXPORT;
int image_jump_clock_gettime(uint32_t clk, struct vclock_timespec *ret_ts) IMAGE_HIDDEN;
int image_forward_clock_getres(uint32_t clk, void *ret_res) IMAGE_HIDDEN;
int image_syscall_clock_getres(uint32_t clk, void *ret_res) IMAGE_HIDDEN;

/* The plain names are weak, as the kernel has them; those of C functions stand in image.c. */
__asm__(".weak getcpu\n\t.set getcpu, __vdso_getcpu\n\t"
	".weak time\n\t.set time, __vdso_time\n\t"
	".weak getrandom\n\t.set getrandom, __vdso_getrandom");
#define IMAGE_ALIAS_CLOCK_GETTIME clock_gettime
#define IMAGE_ALIAS_GETTIMEOFDAY gettimeofday
#define IMAGE_ALIAS_CLOCK_GETRES clock_getres

#define IMAGE_NAME_OWN(clock) __vdso_clock_gettime_##clock
#define IMAGE_NAME_CLOCK_GETTIME __vdso_clock_gettime
#define IMAGE_NAME_GETTIMEOFDAY __vdso_gettimeofday
#define IMAGE_HAS_TIME 1
#define IMAGE_NAME_CLOCK_GETRES __vdso_clock_getres

#endif /* IMAGE_X86_64_H */
