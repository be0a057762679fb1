/* SPDX-License-Identifier: MIT */
/*
 * raw_process_none.h - for builds that cannot inject, so that the rest compiles. Included by
 * raw_process.h only.
 */
#ifndef RAW_PROCESS_NONE_H
#define RAW_PROCESS_NONE_H

#define RAW_PROCESS_EXISTS 0

static inline long raw_call(long number, long a, long b, long c, long d, long e, long f)
{
	(void)number, (void)a, (void)b, (void)c, (void)d, (void)e, (void)f;
	return -ENOSYS;
}

static inline void raw_trap(void)
{
}

static inline long raw_clone(unsigned long flags, void *top, int *parent_tid, int *child_tid,
			     void (*fn)(void *), void *arg)
{
	(void)flags, (void)top, (void)parent_tid, (void)child_tid, (void)fn, (void)arg;
	return -ENOSYS;
}

#endif /* RAW_PROCESS_NONE_H */
