/* SPDX-License-Identifier: MIT */
/*
 * miss.h - what a clock function does when the page did not answer: the slow half of clock.c.
 *
 * Each of these is reached by a tail jump from the function of the same name there, and leaves by a
 * tail jump to the kernel's vDSO wherever the arguments allow it, so that a call never stands on
 * more than 104 bytes of our own stack when the kernel's code begins.
 */
#ifndef LIB_MISS_H
#define LIB_MISS_H

#include "lib/process.h"

#pragma GCC visibility push(hidden)

#define LIB_MISS LIB_COLD LIB_REGCALL

/*
 * Returns what a function of the same type returns, from this function's own frame. clang leaves a
 * second frame on i386, where it spares the registers that it might want for the address.
 */
#if defined(__clang__)
#define LIB_RETURN_TAIL __attribute__((musttail)) return
#else
#define LIB_RETURN_TAIL return
#endif

LIB_MISS int miss_gettime(int32_t clk, struct vclock_timespec *ret_ts);
LIB_MISS uint64_t miss_ns(uint32_t clk);
/* Its arguments lie where its caller's do, so that clang too goes on to it from no frame. */
LIB_COLD int miss_now(struct vclock_timespec *ret_real, struct vclock_timespec *ret_mono);
LIB_MISS int miss_gettimeofday(struct vclock_timeval *ret_tv, struct vclock_timezone *ret_tz);
LIB_MISS int64_t miss_time(int64_t *ret_time);

#pragma GCC visibility pop

#endif /* LIB_MISS_H */
