/* SPDX-License-Identifier: MIT */
/*
 * tracee_x86_64.h - registers of 64- and 32-bit programs, as the 64-bit launcher sees both.
 * Included by tracee_regs.h only.
 */
#ifndef TRACEE_X86_64_H
#define TRACEE_X86_64_H

#include <sys/user.h>

struct tracee_regs {
	struct user_regs_struct user;
};

#define TRACEE_GRID 1
#define TRACEE_SYSCALL_SIZE 2

/* The code segment of 64-bit programs; 32-bit ones have 0x23. */
#define TRACEE_CS_64 0x33

static inline bool tracee_regs_get(pid_t pid, struct tracee_regs *ret_regs)
{
	return ptrace(PTRACE_GETREGS, pid, NULL, &ret_regs->user) == 0;
}

static inline bool tracee_regs_set(pid_t pid, struct tracee_regs *regs)
{
	return ptrace(PTRACE_SETREGS, pid, NULL, &regs->user) == 0;
}

static inline bool tracee_regs_is_64(const struct tracee_regs *regs)
{
	return regs->user.cs == TRACEE_CS_64;
}

static inline uint64_t tracee_regs_pc(const struct tracee_regs *regs)
{
	return regs->user.rip;
}

static inline uint64_t tracee_regs_sp(const struct tracee_regs *regs)
{
	return regs->user.rsp;
}

static inline void tracee_regs_set_pc(struct tracee_regs *regs, uint64_t pc)
{
	regs->user.rip = pc;
}

/* `syscall`, or `int $0x80` for 32-bit programs. */
static inline bool tracee_is_syscall(bool is_64, const unsigned char *p)
{
	return is_64 ? p[0] == 0x0f && p[1] == 0x05 : p[0] == 0xcd && p[1] == 0x80;
}

static inline void tracee_regs_exit(struct tracee_regs *regs, uint64_t pc, int status)
{
	regs->user.rip = pc;
	regs->user.orig_rax = ~0ull;
	if (tracee_regs_is_64(regs)) {
		regs->user.rax = 231;
		regs->user.rdi = (uint64_t)status;
	} else {
		regs->user.rax = 252;
		regs->user.rbx = (uint64_t)status;
	}
}

#endif /* TRACEE_X86_64_H */
