/* SPDX-License-Identifier: MIT */
/* child.c - see child.h. Must never wait for a process that can be stopped. */
#include "attach/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

/* Nobody stops a process so often by accident. */
#define STOPS_MAX 100

void child_mask(const struct child_signals *signals, struct child_signals *ret_before)
{
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, signals, ret_before, sizeof(*signals));
}

/* Not vfork(): the caller would wait in the kernel for a child that a signal has stopped. */
pid_t child_start(void)
{
	struct child_signals before;
	pid_t pid;
	int error;

	child_mask(&CHILD_ALL_SIGNALS, &before);
	pid = (pid_t)syscall(SYS_clone, 0, 0, 0, 0, 0);
	error = errno;
	if (pid != 0)
		child_mask(&before, NULL);
	errno = error;
	return pid;
}

bool child_outcome(pid_t pid, int *ret_status)
{
	unsigned stops = 0;

	while (waitpid(pid, ret_status, __WALL | WUNTRACED) == pid) {
		if (!WIFSTOPPED(*ret_status))
			return true;
		kill(pid, ++stops < STOPS_MAX ? SIGCONT : SIGKILL);
	}
	return false;
}

bool child_readable(int fd, int ms)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	int r = 0;

	for (; ms > 0 && r <= 0; ms -= CHILD_SLICE_MS) {
		r = poll(&pollfd, 1, CHILD_SLICE_MS);
		if (r < 0 && errno != EINTR)
			return false;
	}
	return r > 0;
}

bool child_end(pid_t pid, int ms, int *ret_status)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);
	bool has_ended = fd >= 0 && child_readable(fd, ms);

	if (fd >= 0)
		close(fd);
	if (!has_ended)
		kill(pid, SIGKILL);
	return waitpid(pid, ret_status, __WALL) == pid && has_ended;
}
