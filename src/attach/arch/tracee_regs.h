/* SPDX-License-Identifier: MIT */
/*
 * tracee_regs.h - the few registers of a stopped program that a launcher looks at. Picks the
 * architecture's file, which defines
 *
 *   struct tracee_regs
 *
 *   tracee_regs_get, tracee_regs_set: false when the kernel refuses
 *
 *   tracee_regs_is_64: whether it is a 64-bit program
 *
 *   tracee_regs_pc, tracee_regs_sp, tracee_regs_set_pc
 *
 *   TRACEE_GRID: instructions begin at multiples of it
 *
 *   TRACEE_SYSCALL_SIZE, tracee_is_syscall(): the bytes of a system call instruction, and whether
 *   so many bytes are one
 *
 *   tracee_regs_exit(): before a system call instruction at pc: exit_group(status), after the stop
 *   at execve's end
 */
#ifndef TRACEE_REGS_H
#define TRACEE_REGS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/ptrace.h>
#include <sys/types.h>

#if defined(__x86_64__)
#include "attach/arch/tracee_x86_64.h"
#elif defined(__aarch64__)
#include "attach/arch/tracee_aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "attach/arch/tracee_riscv64.h"
#else
#include "attach/arch/tracee_none.h"
#endif

#endif /* TRACEE_REGS_H */
