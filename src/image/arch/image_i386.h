/* SPDX-License-Identifier: MIT */
/*
 * image_i386.h - the i386 part of the image; the contract is in image.h. Included there only.
 *
 * Compiled without -fpic: there is no instruction-pointer-relative addressing, and what compilers
 * make of it needs a table. Addresses come from image_here() below instead.
 */
#ifndef IMAGE_I386_H
#define IMAGE_I386_H

#define IMAGE_UNIT PROCESS_UNIT_X86
#define IMAGE_LONG int32_t
#define IMAGE_HAS_32 1
/* In eax, edx and ecx: the caller's frame has no room for more arguments than it was called with.
 */
#define IMAGE_INTERNAL __attribute__((regparm(3)))

#define IMAGE_FUNCTION(name, ...)                                                           \
	__asm__(".pushsection .text, \"ax\", @progbits\n\t"                                 \
		".balign 16\n\t.globl " name "\n\t.type " name ", @function\n" name ":\n\t" \
		".cfi_startproc\n\t" __VA_ARGS__ "\n\t.cfi_endproc\n\t"                     \
		".size " name ", . - " name "\n\t.popsection")

/* The address after the call, in eax. A call and its return keep the CPU's return stack right, and
 * every instruction of it can be unwound. */
IMAGE_FUNCTION("image_here", "movl (%esp), %eax\n\tret");
__asm__(".hidden image_here");

/* symbol's address. The compiler does not see the call: nothing is live below the stack pointer on
 * i386, and only eax and the flags change. */
#define IMAGE_ADDRESS(symbol, ret) \
	__asm__("call image_here\n0:\tleal " symbol " - 0b(%%eax), %%eax" : "=a"(ret) : : "cc")

VCLOCK_ALWAYS_INLINE const struct vclock_page *image_page(void)
{
	const struct vclock_page *page;

	IMAGE_ADDRESS("image_time_unit", page);
	return page;
}

VCLOCK_ALWAYS_INLINE const struct process_page *image_process(void)
{
	const struct process_page *process;

	IMAGE_ADDRESS("image_process_unit", process);
	return process;
}

VCLOCK_ALWAYS_INLINE struct process_state *image_state(void)
{
	struct process_state *state;

	IMAGE_ADDRESS("image_state_unit", state);
	return state;
}

#define IMAGE_SYSCALL_CLOCK_GETTIME64 403
#define IMAGE_SYSCALL_CLOCK_GETTIME 265
#define IMAGE_SYSCALL_GETTIMEOFDAY 78
#define IMAGE_SYSCALL_TIME 13
#define IMAGE_SYSCALL_CLOCK_GETRES 266
#define IMAGE_SYSCALL_GETCPU 318
#define IMAGE_SYSCALL_SIGRETURN 119
#define IMAGE_SYSCALL_RT_SIGRETURN 173

/* A slot's operand, after `call image_here` and the label 0. */
#define IMAGE_SLOT(slot) "image_process_unit - 0b + 16 + 8 * " IMAGE_TEXT(slot) "(%eax)"

/* A jump through the slot, if it is not empty; eax is lost. */
#define IMAGE_JUMP(slot)                                                                   \
	"call image_here\n0:\tcmpl $0, " IMAGE_SLOT(slot) "\n\tje 1f\n\tjmp *" IMAGE_SLOT( \
		slot) "\n1:\t"

/* A system call of up to three arguments that stand where a function's do. */
#define IMAGE_SYSCALL(number)                                                        \
	"pushl %ebx\n\t.cfi_adjust_cfa_offset 4\n\t.cfi_rel_offset ebx, 0\n\t"       \
	"movl $" IMAGE_TEXT(number) ", %eax\n\tmovl 8(%esp), %ebx\n\t"               \
				    "movl 12(%esp), %ecx\n\tmovl 16(%esp), %edx\n\t" \
				    "int $0x80\n\tpopl %ebx\n\t"                     \
				    ".cfi_adjust_cfa_offset -4\n\t.cfi_restore ebx\n\tret"

#define IMAGE_FORWARD(name, slot, number) \
	IMAGE_FUNCTION(name, IMAGE_JUMP(slot) IMAGE_SYSCALL(number))

IMAGE_FORWARD("image_forward_clock_gettime", PROCESS_CLOCK_GETTIME, IMAGE_SYSCALL_CLOCK_GETTIME64);
IMAGE_FORWARD("image_forward_clock_gettime32", PROCESS_CLOCK_GETTIME32,
	      IMAGE_SYSCALL_CLOCK_GETTIME);
IMAGE_FORWARD("image_forward_gettimeofday", PROCESS_GETTIMEOFDAY, IMAGE_SYSCALL_GETTIMEOFDAY);
IMAGE_FORWARD("image_forward_time", PROCESS_TIME, IMAGE_SYSCALL_TIME);
/* The kernel's takes some cycles only: nothing stands in front of the jump but the look at the
 * slot. */
IMAGE_FUNCTION("__vdso_time", IMAGE_JUMP(PROCESS_TIME) "jmp image_time");
IMAGE_FORWARD("image_forward_clock_getres", PROCESS_CLOCK_GETRES, IMAGE_SYSCALL_CLOCK_GETRES);
IMAGE_FUNCTION("image_syscall_clock_getres", IMAGE_SYSCALL(IMAGE_SYSCALL_CLOCK_GETRES));
/* Nothing but forwarded. */
IMAGE_FORWARD("__vdso_getcpu", PROCESS_GETCPU, IMAGE_SYSCALL_GETCPU);

struct image_timespec;
int image_forward_clock_gettime(uint32_t clk, struct vclock_timespec *ret_ts) IMAGE_HIDDEN;
int image_forward_clock_gettime32(uint32_t clk, struct image_timespec *ret_ts) IMAGE_HIDDEN;
int image_forward_gettimeofday(void *ret_tv, void *ret_tz) IMAGE_HIDDEN;
int32_t image_forward_time(int32_t *ret_time) IMAGE_HIDDEN;
int32_t __vdso_time(int32_t *ret_time) IMAGE_EXPORT;
/* An address that needs a call to be had hides what a second look at the slot costs. */
#define image_jump_clock_gettime image_forward_clock_gettime
#define image_jump_clock_gettime32 image_forward_clock_gettime32
int image_forward_clock_getres(uint32_t clk, void *ret_res) IMAGE_HIDDEN;
int image_syscall_clock_getres(uint32_t clk, void *ret_res) IMAGE_HIDDEN;

/*
 * The way into the kernel. Every register is an argument of the system call, so the slot's address
 * is put on the stack and returned to: the caller's return address is then on top again.
 */
IMAGE_FUNCTION(
	"__kernel_vsyscall",
	"pushl %eax\n\t.cfi_adjust_cfa_offset 4\n\t"
	"pushl %eax\n\t.cfi_adjust_cfa_offset 4\n\t"
	"call image_here\n0:\t"
	"movl " IMAGE_SLOT(PROCESS_VSYSCALL) ", %eax\n\t"
					     "testl %eax, %eax\n\tje 1f\n\t"
					     "movl %eax, 4(%esp)\n\t"
					     "popl %eax\n\t.cfi_adjust_cfa_offset -4\n\tret\n"
					     "1:\t.cfi_adjust_cfa_offset 4\n\t"
					     "popl %eax\n\t.cfi_adjust_cfa_offset -4\n\t"
					     "leal 4(%esp), %esp\n\t.cfi_adjust_cfa_offset -4\n\t"
					     "int $0x80\n\tret");

/*
 * Signal frames. Where a handler returns to, esp points into the frame that the kernel built; an
 * unwinder finds the interrupted registers there, in a struct sigcontext `context` bytes above esp.
 * Both functions have a byte in front that is not theirs: unwinders look a return address up at one
 * less.
 *
 * DW_CFA_def_cfa_expression is 0x0f, DW_CFA_expression 0x10, DW_OP_breg4 (esp) 0x74 with a signed
 * LEB128 offset, DW_OP_deref 0x06. Registers have DWARF's numbers: eax 0, ecx 1, edx 2, ebx 3,
 * ebp 5, esi 6, edi 7, eip 8. Their offsets are struct sigcontext's.
 */
__asm__(".macro image_register_at register, offset\n\t"
	".cfi_escape 0x10, \\register, 3, 0x74, ((\\offset) & 0x7f) | 0x80, (\\offset) >> 7\n\t"
	".endm\n\t"
	".macro image_signal_frame context\n\t"
	".cfi_escape 0x0f, 4, 0x74, ((\\context + 28) & 0x7f) | 0x80, (\\context + 28) >> 7, "
	"0x06\n\t"
	"image_register_at 7, \\context + 16\n\t"
	"image_register_at 6, \\context + 20\n\t"
	"image_register_at 5, \\context + 24\n\t"
	"image_register_at 3, \\context + 32\n\t"
	"image_register_at 2, \\context + 36\n\t"
	"image_register_at 1, \\context + 40\n\t"
	"image_register_at 0, \\context + 44\n\t"
	"image_register_at 8, \\context + 56\n\t"
	".endm");

#define IMAGE_SIGNAL_FUNCTION(name, ...)                                     \
	__asm__(".pushsection .text, \"ax\", @progbits\n\t.balign 16\n\t"    \
		".cfi_startproc simple\n\t.cfi_signal_frame\n\t" __VA_ARGS__ \
		"\n\t.cfi_endproc\n\t.size " name ", . - " name "\n\t.popsection")
#define IMAGE_SIGNAL_ENTRY(name) \
	"nop\n\t.globl " name "\n\t.type " name ", @function\n" name ":\n\t"

/* esp points at the signal's number here, and at the context after the pop. */
IMAGE_SIGNAL_FUNCTION(
	"__kernel_sigreturn",
	"image_signal_frame 4\n\t" IMAGE_SIGNAL_ENTRY("__kernel_sigreturn") IMAGE_JUMP(
		PROCESS_SIGRETURN) "popl %eax\n\timage_signal_frame 0\n\t"
				   "movl $" IMAGE_TEXT(
					   IMAGE_SYSCALL_SIGRETURN) ", %eax\n\tint $0x80");
/* The number, two pointers, siginfo (128 bytes) and the head of ucontext (20) are in front. */
IMAGE_SIGNAL_FUNCTION("__kernel_rt_sigreturn",
		      "image_signal_frame 160\n\t" IMAGE_SIGNAL_ENTRY("__kernel_rt_sigreturn")
			      IMAGE_JUMP(PROCESS_RT_SIGRETURN) "movl $" IMAGE_TEXT(
				      IMAGE_SYSCALL_RT_SIGRETURN) ", %eax\n\tint $0x80");

#define IMAGE_NAME_OWN(clock) __vdso_clock_gettime_##clock
#define IMAGE_NAME_CLOCK_GETTIME __vdso_clock_gettime64
#define IMAGE_NAME_CLOCK_GETTIME32 __vdso_clock_gettime
#define IMAGE_NAME_GETTIMEOFDAY __vdso_gettimeofday
#define IMAGE_HAS_TIME 1
#define IMAGE_NAME_CLOCK_GETRES __vdso_clock_getres

#endif /* IMAGE_I386_H */
