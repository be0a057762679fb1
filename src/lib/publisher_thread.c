/* SPDX-License-Identifier: MIT */
/*
 * publisher_thread.c - the publisher of this process.
 */
#include <errno.h>

#include "vclock.h"

int vclock_publisher_start(const struct vclock_publisher_options *options)
{
	(void)options;
	return -EOPNOTSUPP;
}

void vclock_publisher_stop(void)
{
}
