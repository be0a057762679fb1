/* SPDX-License-Identifier: MIT */
/*
 * tracee_riscv64.h - registers of a program, as the 64-bit launcher sees them. Included by
 * tracee_regs.h only.
 */
#ifndef TRACEE_RISCV64_H
#define TRACEE_RISCV64_H

#include <elf.h>
#include <sys/uio.h>

/* The program counter, and x1 to x31. */
#define TRACEE_PC 0
#define TRACEE_SP 2
#define TRACEE_A0 10
#define TRACEE_A7 17

struct tracee_regs {
	uint64_t word[32];
	size_t size; /* as the kernel gave them: less of a 32-bit program */
};

/* Of its short instructions; the long ones begin there too. */
#define TRACEE_GRID 2
#define TRACEE_SYSCALL_SIZE 4

static inline bool tracee_regs_get(pid_t pid, struct tracee_regs *ret_regs)
{
	struct iovec iovec = {ret_regs->word, sizeof(ret_regs->word)};

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iovec) != 0)
		return false;
	ret_regs->size = iovec.iov_len;
	return true;
}

static inline bool tracee_regs_set(pid_t pid, struct tracee_regs *regs)
{
	struct iovec iovec = {regs->word, regs->size};

	return ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &iovec) == 0;
}

static inline bool tracee_regs_is_64(const struct tracee_regs *regs)
{
	return regs->size == sizeof(regs->word);
}

static inline uint64_t tracee_regs_pc(const struct tracee_regs *regs)
{
	return regs->word[TRACEE_PC];
}

static inline uint64_t tracee_regs_sp(const struct tracee_regs *regs)
{
	return regs->word[TRACEE_SP];
}

static inline void tracee_regs_set_pc(struct tracee_regs *regs, uint64_t pc)
{
	regs->word[TRACEE_PC] = pc;
}

/* ecall */
static inline bool tracee_is_syscall(bool is_64, const unsigned char *p)
{
	return is_64 && p[0] == 0x73 && p[1] == 0 && p[2] == 0 && p[3] == 0;
}

static inline void tracee_regs_exit(struct tracee_regs *regs, uint64_t pc, int status)
{
	regs->word[TRACEE_PC] = pc;
	regs->word[TRACEE_A7] = 94;
	regs->word[TRACEE_A0] = (uint64_t)status;
}

#endif /* TRACEE_RISCV64_H */
