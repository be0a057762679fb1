/* SPDX-License-Identifier: MIT */
/*
 * raw_process.h - system calls of a process that shares the memory of another, which may be inside
 * libc at the same moment: nothing of libc's is touched, errno and thread-local storage neither.
 *
 * Picks the architecture's file, which defines
 *
 *   RAW_PROCESS_EXISTS: 0 where raw_clone() cannot start anything
 *
 *   raw_call(): the kernel's own return value: -errno on failure
 *
 *   raw_trap(): an instruction that ends the process by a signal
 *
 *   raw_clone(): clone() for a child that calls fn(arg) on the stack that ends at top, which is
 *   aligned to 16; fn never returns. Its number or -errno. parent_tid, child_tid: what the flags
 *   CLONE_PARENT_SETTID and CLONE_CHILD_CLEARTID mean.
 */
#ifndef RAW_PROCESS_H
#define RAW_PROCESS_H

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>

#if defined(__x86_64__)
#include "attach/arch/raw_process_x86_64.h"
#elif defined(__aarch64__)
#include "attach/arch/raw_process_aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "attach/arch/raw_process_riscv64.h"
#else
#include "attach/arch/raw_process_none.h"
#endif

/*
 * As _exit(), also where a filter refuses that: what follows never runs. But the compiler does not
 * know: before what never returns sanitizers look at the stack, and it is none that they know of.
 */
static inline void raw_exit(int status)
{
	volatile int goes_on = 1;

	do {
		(void)raw_call(SYS_exit_group, status, 0, 0, 0, 0, 0);
		(void)raw_call(SYS_exit, status, 0, 0, 0, 0, 0);
		raw_trap();
	} while (goes_on);
}

#endif /* RAW_PROCESS_H */
