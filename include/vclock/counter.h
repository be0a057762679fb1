/* SPDX-License-Identifier: MIT */
/*
 * counter.h - reads the CPU's counter. The only file that asks which architecture this is.
 *
 * An architecture's file defines VCLOCK_COUNTER_KIND and
 *   vclock_counter_ordered()    the counter, read after every earlier load of this thread has its
 *                               value: two threads that order their reads by memory never see the
 *                               counter go back;
 *   vclock_counter_unordered()  the counter, read whenever the CPU likes: about twice as fast, and
 *                               it can be seen to go back between CPUs.
 * Both are async-signal-, thread- and fork-safe. Both fault (SIGSEGV) in a process that forbade
 * itself the counter, prctl(PR_SET_TSC, PR_TSC_SIGSEGV); the library looks before it uses them.
 */
#ifndef VCLOCK_COUNTER_H
#define VCLOCK_COUNTER_H

#include "compiler.h"

#if defined(__x86_64__) || defined(__i386__)
#include "arch/x86.h"
#elif defined(__aarch64__)
#include "arch/aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "arch/riscv64.h"
#else
#error "vclock has no counter for this architecture yet: add include/vclock/arch/<name>.h"
#endif

#endif /* VCLOCK_COUNTER_H */
