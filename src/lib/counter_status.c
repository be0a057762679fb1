/* SPDX-License-Identifier: MIT */
/*
 * counter_status.c - what the counter of this machine is worth.
 */
#include <errno.h>

#include "vclock.h"

int vclock_counter_status(const char *sysfs, struct vclock_counter_status *ret_status)
{
	(void)sysfs;
	(void)ret_status;
	return -EOPNOTSUPP;
}
