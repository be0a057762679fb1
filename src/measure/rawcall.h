/* SPDX-License-Identifier: MIT */
/*
 * rawcall.h - system calls as bare as the architecture allows, for timing: no errno, no libc.
 *
 * An architecture's file defines, inside its own condition:
 *   RAWCALL_ARCH            its name
 *   RAWCALL_WAYS(WAY)       WAY(x) for each way into the kernel, the usual one first; for each,
 *                           rawcall_x(nr, a, b, c) makes the call and rawcall_has_x() says whether
 *                           this process can
 *   RAWCALL_CLOCK_GETTIME   the number of the call that fills a struct vclock_timespec
 *   RAWCALL_TIME            the number of time(), or RAWCALL_NO_TIME
 *   RAWCALL_NAMES_*         the names of the calls behind each kind of question, for people
 * All are async-signal- and thread-safe.
 */
#ifndef RAWCALL_H
#define RAWCALL_H

#include <stdbool.h>
#include <sys/auxv.h>
#include <sys/syscall.h>

/* No system call has this number. */
#define RAWCALL_NO_TIME (-1)

#include "arch/rawcall_aarch64.h"
#include "arch/rawcall_i386.h"
#include "arch/rawcall_riscv64.h"
#include "arch/rawcall_x86_64.h"

#endif /* RAWCALL_H */
