/* SPDX-License-Identifier: MIT */
/*
 * tracee_regs.h - the few registers of a stopped program that a launcher looks at. Builds that
 * cannot inject have them too, so that the rest compiles.
 */
#ifndef TRACEE_REGS_H
#define TRACEE_REGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/user.h>

struct tracee_regs {
	struct user_regs_struct user;
};

#if defined(__x86_64__)
/* The code segment of 64-bit programs; 32-bit ones have 0x23. */
#define TRACEE_CS_64 0x33

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

/* Before a system call instruction at pc: exit_group(status), after the stop at execve's end. */
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
#else
static inline bool tracee_regs_is_64(const struct tracee_regs *regs)
{
	(void)regs;
	return false;
}

static inline uint64_t tracee_regs_pc(const struct tracee_regs *regs)
{
	(void)regs;
	return 0;
}

static inline uint64_t tracee_regs_sp(const struct tracee_regs *regs)
{
	(void)regs;
	return 0;
}

static inline void tracee_regs_set_pc(struct tracee_regs *regs, uint64_t pc)
{
	(void)regs, (void)pc;
}

static inline void tracee_regs_exit(struct tracee_regs *regs, uint64_t pc, int status)
{
	(void)regs, (void)pc, (void)status;
}
#endif

#endif /* TRACEE_REGS_H */
