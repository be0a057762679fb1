/* SPDX-License-Identifier: MIT */
/*
 * wake.c - see wake.h. One system call for a wait that nothing cuts short: with a timer of its own
 * to set and to read, a wake-up of a loop that does nothing takes half as long again.
 */
#include "daemon/wake.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#define NSEC_PER_SEC UINT64_C(1000000000)

static int set_fd = -1; /* a timer that the kernel cancels when REALTIME is set */
static sigset_t signals_of_wait;
static volatile sig_atomic_t is_over;

static void end(int signal)
{
	(void)signal;
	is_over = 1;
}

static int watch_clock(void)
{
	/* Never expires: only a set clock makes it readable. */
	struct itimerspec spec = {.it_value = {.tv_sec = (time_t)1 << 40}};
	int flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;

	/* ECANCELED: REALTIME was set once more just now, before the sample that comes next; the
	 * timer runs. */
	if (timerfd_settime(set_fd, flags, &spec, NULL) != 0 && errno != ECANCELED)
		return -errno;
	return 0;
}

/* They are let in by the wait alone, so that none comes between a look at is_over and the wait. */
static void take_signals(void)
{
	struct sigaction action = {.sa_handler = end};
	sigset_t ours;

	sigemptyset(&ours);
	sigaddset(&ours, SIGTERM);
	sigaddset(&ours, SIGINT);
	sigprocmask(SIG_BLOCK, &ours, &signals_of_wait);
	sigdelset(&signals_of_wait, SIGTERM);
	sigdelset(&signals_of_wait, SIGINT);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
}

int wake_init(void)
{
	take_signals();
	/* Else the kernel may let every wait last 50 us longer. */
	(void)prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	set_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	return set_fd < 0 ? -errno : watch_clock();
}

int wake_wait(uint64_t ns, bool *ret_is_over)
{
	struct pollfd waker = {.fd = set_fd, .events = POLLIN};
	struct timespec timeout = {.tv_sec = (time_t)(ns / NSEC_PER_SEC),
				   .tv_nsec = (long)(ns % NSEC_PER_SEC)};
	uint64_t expirations;
	int n = ppoll(&waker, 1, &timeout, &signals_of_wait), r = 0;

	if (n < 0 && errno != EINTR)
		return -errno;
	if (n > 0) {
		/* ECANCELED: REALTIME was set. */
		(void)!read(set_fd, &expirations, sizeof(expirations));
		r = watch_clock();
	}
	*ret_is_over = is_over != 0;
	return r;
}
