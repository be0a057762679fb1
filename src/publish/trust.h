/* SPDX-License-Identifier: MIT */
/*
 * trust.h - whether the counter may be used, after the kernel's list of clocksources.
 *
 * The kernel watches the counter and knows; CPUID only informs.
 */
#ifndef TRUST_H
#define TRUST_H

#include <stdbool.h>

#include "vclock.h"

struct trust {
	enum vclock_trust verdict;
	char current[32];    /* the kernel's clocksource; empty: unreadable */
	char available[160]; /* names separated by single spaces */
	const char *reason;  /* static text, plain words */
};

/* The table, pure: current and available as sysfs has them, without the newline; NULL: unreadable.
 */
enum vclock_trust trust_judge(const char *current, const char *available, const char **ret_reason);

/* Reads sysfs (mounted at sysfs; NULL: /sys) and judges. Never fails: unreadable is a verdict. */
void trust_read(const char *sysfs, struct trust *ret_trust);

#endif /* TRUST_H */
