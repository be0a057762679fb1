/* SPDX-License-Identifier: MIT */
/*
 * tracee_sp.h - which of the words that PTRACE_GETREGSET gives for NT_PRSTATUS is the stack
 * pointer, and how many of them there are at most.
 */
#ifndef TRACEE_SP_H
#define TRACEE_SP_H

#define TRACEE_REGS 64

#if defined(__x86_64__)
#define TRACEE_SP 19
#elif defined(__i386__)
#define TRACEE_SP 15
#elif defined(__aarch64__)
#define TRACEE_SP 31
#elif defined(__riscv)
#define TRACEE_SP 2
#else
#error "no place of the stack pointer for this architecture yet"
#endif

#endif /* TRACEE_SP_H */
