/* SPDX-License-Identifier: MIT */
/*
 * oracle.h - the kernel's own answers, straight from it: what subjects are judged by.
 *
 * The raw system call is always right. The kernel's vDSO is faster, so its brackets are tighter,
 * and it is right for the clocks that it has; it is used where it is surely the kernel's own: a
 * program under `vclock run` finds ours in its auxiliary vector.
 */
#ifndef ORACLE_H
#define ORACLE_H

#include "vclock/elf.h"

#include "check/check.h"

/* 0 or -errno; errno is left alone. */
int oracle_syscall_gettime(int32_t clk, struct vclock_timespec *ret_ts);
int oracle_syscall_getres(int32_t clk, struct vclock_timespec *ret_res);
int oracle_syscall_gettimeofday(struct vclock_timeval *ret_tv);
int64_t oracle_syscall_time(void);
int32_t oracle_syscall_getpid(void);

/* What the auxiliary vector names: functions may be NULL. Never NULL; looked up once. */
const struct vclock_vdso *oracle_vdso(void);
/* Whether that is the image that the kernel mapped; unknown: /proc does not tell. */
enum oracle_owner { ORACLE_OWNER_UNKNOWN, ORACLE_OWNER_KERNEL, ORACLE_OWNER_OTHER };
enum oracle_owner oracle_vdso_owner(void);
/* The vDSO's function, else the system call. */
int oracle_vdso_gettime(int32_t clk, struct vclock_timespec *ret_ts);

typedef int (*oracle_gettime)(int32_t clk, struct vclock_timespec *ret_ts);
/* The fastest trustworthy one for this subject: a vDSO is never judged by itself. */
oracle_gettime oracle_for(const struct check_run *run, const struct check_subject *subject);

static inline int64_t oracle_ns(const struct vclock_timespec *ts)
{
	return ts->tv_sec * 1000000000 + ts->tv_nsec;
}

/* One clock in ns; -1 where the kernel refuses. */
static inline int64_t oracle_read(oracle_gettime gettime, int32_t clk)
{
	struct vclock_timespec ts;

	return gettime(clk, &ts) == 0 ? oracle_ns(&ts) : -1;
}

/* MONOTONIC of the kernel, for time limits. */
uint64_t oracle_now_ns(void);

/* REALTIME - MONOTONIC, exact: of the COARSE pair, which the kernel steps together. */
int64_t oracle_real_minus_mono(void);

#endif /* ORACLE_H */
