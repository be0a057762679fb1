/* SPDX-License-Identifier: MIT */
/*
 * raw.h - system calls of the library, without libc: errno is never touched, nothing is a
 * cancellation point, and they work before libc is set up.
 *
 * Picks the architecture's file, which defines
 *
 *   LIB_REGCALL: attribute of internal functions: all arguments in registers, so that every one of
 *   them can be left by a tail jump
 *
 *   LIB_VDSO_IS_64: the vDSO's gettimeofday, time and getres use 64-bit types
 *
 *   raw_syscall2, raw_syscall5: the kernel's own return value: -errno on failure
 *
 *   raw_clock_gettime, raw_clock_getres, raw_gettimeofday: over our 64-bit types, by whichever
 *   system calls do that here
 *
 *   raw_set_up(): the constructor tells AT_SYSINFO
 *
 *   raw_counter_exists(): whether this CPU has what <vclock/counter.h> executes
 *
 *   raw_on_stack(): calls a function on another stack
 *
 * Must never include anything of the library but the public types.
 */
#ifndef LIB_ARCH_RAW_H
#define LIB_ARCH_RAW_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>

#include "vclock.h"

/* AT_SYSINFO: the vDSO's __kernel_vsyscall, where the architecture has that: some 20 times faster
 * than int $0x80. NULL before the constructor and where there is none. */
extern const void *lib_vsyscall __attribute__((visibility("hidden")));

#if defined(__x86_64__)
#include "x86_64.h"
#elif defined(__i386__)
#include "i386.h"
#elif defined(__aarch64__)
#include "aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "riscv64.h"
#else
#error "vclock's library does not know this architecture yet: add src/lib/arch/<name>.h"
#endif

static inline int32_t raw_getpid(void)
{
	return (int32_t)raw_syscall2(SYS_getpid, 0, 0);
}

static inline int raw_getcpu(unsigned *ret_cpu, unsigned *ret_node)
{
	return (int)raw_syscall5(SYS_getcpu, (long)ret_cpu, (long)ret_node, 0, 0, 0);
}

#endif /* LIB_ARCH_RAW_H */
