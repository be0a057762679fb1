/* SPDX-License-Identifier: MIT */
/*
 * A clock that is set again while the daemon arms its timer for that: the kernel says ECANCELED,
 * and has armed it. timerfd_settime() is this file's own here, and wake.c the daemon's.
 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/timerfd.h>

#include "daemon/wake.h"
#include "tap.h"

static int failure, calls;

int timerfd_create(int clock, int flags)
{
	(void)clock;
	(void)flags;
	return 0;
}

int timerfd_settime(int fd, int flags, const struct itimerspec *spec, struct itimerspec *old)
{
	(void)fd;
	(void)flags;
	(void)spec;
	(void)old;
	calls++;
	errno = failure;
	return failure != 0 ? -1 : 0;
}

int main(void)
{
	failure = ECANCELED;
	tap_ok(wake_init() == 0 && calls == 1, "a clock that was set meanwhile is no failure");
	failure = EPERM;
	tap_ok(wake_init() == -EPERM, "... and another error is one");
	return tap_done();
}
