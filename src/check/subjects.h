/* SPDX-License-Identifier: MIT */
/*
 * subjects.h - what the files of the ready subjects share.
 */
#ifndef SUBJECTS_H
#define SUBJECTS_H

#include "check/check.h"

#define SUBJECT_CLOCKS                                                \
	(VCLOCK_BIT(VCLOCK_REALTIME) | VCLOCK_BIT(VCLOCK_MONOTONIC) | \
	 VCLOCK_BIT(VCLOCK_MONOTONIC_RAW) | VCLOCK_BIT(VCLOCK_BOOTTIME) | VCLOCK_BIT(VCLOCK_TAI))

static inline int subject_split_ns(uint64_t ns, struct vclock_timespec *ret_ts)
{
	ret_ts->tv_sec = (int64_t)(ns / VCLOCK_NSEC_PER_SEC);
	ret_ts->tv_nsec = (int64_t)(ns % VCLOCK_NSEC_PER_SEC);
	return 0;
}

#endif /* SUBJECTS_H */
