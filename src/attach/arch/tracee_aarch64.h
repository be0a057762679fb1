/* SPDX-License-Identifier: MIT */
/*
 * tracee_aarch64.h - registers of a program, as the 64-bit launcher sees them. Included by
 * tracee_regs.h only.
 */
#ifndef TRACEE_AARCH64_H
#define TRACEE_AARCH64_H

#include <elf.h>
#include <sys/uio.h>
#include <sys/user.h>

struct tracee_regs {
	struct user_regs_struct user;
	size_t size; /* as the kernel gave them: less of a 32-bit program */
};

#define TRACEE_GRID 4
#define TRACEE_SYSCALL_SIZE 4

static inline bool tracee_regs_get(pid_t pid, struct tracee_regs *ret_regs)
{
	struct iovec iovec = {&ret_regs->user, sizeof(ret_regs->user)};

	if (ptrace(PTRACE_GETREGSET, pid, (void *)NT_PRSTATUS, &iovec) != 0)
		return false;
	ret_regs->size = iovec.iov_len;
	return true;
}

static inline bool tracee_regs_set(pid_t pid, struct tracee_regs *regs)
{
	struct iovec iovec = {&regs->user, regs->size};

	return ptrace(PTRACE_SETREGSET, pid, (void *)NT_PRSTATUS, &iovec) == 0;
}

static inline bool tracee_regs_is_64(const struct tracee_regs *regs)
{
	return regs->size == sizeof(regs->user);
}

static inline uint64_t tracee_regs_pc(const struct tracee_regs *regs)
{
	return regs->user.pc;
}

static inline uint64_t tracee_regs_sp(const struct tracee_regs *regs)
{
	return regs->user.sp;
}

static inline void tracee_regs_set_pc(struct tracee_regs *regs, uint64_t pc)
{
	regs->user.pc = pc;
}

/* svc #0 */
static inline bool tracee_is_syscall(bool is_64, const unsigned char *p)
{
	return is_64 && p[0] == 0x01 && p[1] == 0 && p[2] == 0 && p[3] == 0xd4;
}

static inline void tracee_regs_exit(struct tracee_regs *regs, uint64_t pc, int status)
{
	regs->user.pc = pc;
	regs->user.regs[8] = 94;
	regs->user.regs[0] = (uint64_t)status;
}

#endif /* TRACEE_AARCH64_H */
