/* SPDX-License-Identifier: MIT */
/*
 * tracee_none.h - for builds that cannot inject, so that the rest compiles: stub_arch_of() has told
 * them so before a register is looked at. Included by tracee_regs.h only.
 */
#ifndef TRACEE_NONE_H
#define TRACEE_NONE_H

#define TRACEE_GRID 1
#define TRACEE_SYSCALL_SIZE 1

struct tracee_regs {
	uint64_t pc, sp;
};

static inline bool tracee_regs_get(pid_t pid, struct tracee_regs *ret_regs)
{
	(void)pid;
	ret_regs->pc = ret_regs->sp = 0;
	return true;
}

static inline bool tracee_regs_set(pid_t pid, struct tracee_regs *regs)
{
	(void)pid, (void)regs;
	return false;
}

static inline bool tracee_regs_is_64(const struct tracee_regs *regs)
{
	(void)regs;
	return sizeof(long) == 8;
}

static inline uint64_t tracee_regs_pc(const struct tracee_regs *regs)
{
	return regs->pc;
}

static inline uint64_t tracee_regs_sp(const struct tracee_regs *regs)
{
	return regs->sp;
}

static inline void tracee_regs_set_pc(struct tracee_regs *regs, uint64_t pc)
{
	regs->pc = pc;
}

static inline bool tracee_is_syscall(bool is_64, const unsigned char *p)
{
	(void)is_64, (void)p;
	return false;
}

static inline void tracee_regs_exit(struct tracee_regs *regs, uint64_t pc, int status)
{
	(void)regs, (void)pc, (void)status;
}

#endif /* TRACEE_NONE_H */
