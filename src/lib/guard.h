/* SPDX-License-Identifier: MIT */
/*
 * guard.h - around the calls that use libc for their set-up work: errno comes back as it was, and
 * none of them is a cancellation point, however they open and read files.
 */
#ifndef LIB_GUARD_H
#define LIB_GUARD_H

#include <errno.h>
#include <pthread.h>

struct guard {
	int saved_errno;
	int cancel_state;
};

static inline struct guard guard_enter(void)
{
	struct guard guard;

	guard.saved_errno = errno;
	(void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &guard.cancel_state);
	return guard;
}

static inline void guard_leave(const struct guard *guard)
{
	(void)pthread_setcancelstate(guard->cancel_state, NULL);
	errno = guard->saved_errno;
}

#endif /* LIB_GUARD_H */
