/* SPDX-License-Identifier: MIT */
/*
 * A grandchild that happens to get its grandparent's pid is a new process all the same: nothing is
 * detected by comparing pids (F05). The kernel is asked for that very pid, in a PID namespace of
 * the test's own.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support_lib.h"
#include "tap.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef CLONE_NEWPID
#define CLONE_NEWPID 0x20000000
#endif

#define PID 50

/* <linux/sched.h>: with set_tid, Linux 5.5. */
struct clone3_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
	uint64_t set_tid, set_tid_size;
};

static pid_t fork_as(pid_t pid)
{
	struct clone3_args args = {
		.exit_signal = SIGCHLD,
		.set_tid = (uint64_t)(uintptr_t)&pid,
		.set_tid_size = 1,
	};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* C: PID again, in memory that A and then B have used. */
static int c(void)
{
	return *vclock_pid_word() != 0 || support_status().fallbacks != 0 ||
	       vclock_getpid() != PID || syscall(SYS_getpid) != PID;
}

/* B: a child of A, outlives it. Exits with what C says. */
static int b(void)
{
	pid_t child = -1;
	int i;

	if (vclock_getpid() != PID + 1)
		return 11;
	for (i = 0; i < 5000 && child < 0; i++) {
		child = fork_as(PID);
		if (child == 0)
			_exit(c());
		usleep(1000);
	}
	return child < 0 ? 12 : support_wait(child);
}

/* A */
static int a(void)
{
	pid_t child;

	if (vclock_getpid() != PID || *vclock_pid_word() != PID)
		return 21;
	child = fork_as(PID + 1);
	if (child == 0)
		_exit(b());
	_exit(child < 0 ? 22 : 0);
}

/* Process 1 of the namespace: A's end, then B's. */
static int first(void)
{
	int status_a, status_b;
	pid_t child = fork_as(PID);

	if (child == 0)
		_exit(a());
	if (child < 0)
		return errno == ENOSYS || errno == EINVAL ? 98 : 31;
	if (waitpid(PID, &status_a, 0) != PID || status_a != 0)
		return 32;
	/* B became ours when A died. */
	if (waitpid(PID + 1, &status_b, 0) != PID + 1)
		return 33;
	return WIFEXITED(status_b) ? WEXITSTATUS(status_b) : 34;
}

int main(void)
{
	pid_t pid;
	int status;

	fflush(stdout);
	pid = (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_NEWPID, 0, 0, 0, 0);
	if (pid == 0)
		_exit(first());
	if (pid < 0) {
		tap_skip("a pid used again", "needs root");
		return tap_done();
	}
	status = support_wait(pid);
	if (status == 98)
		tap_skip("a pid used again", "this kernel does not have the system call");
	else
		tap_ok(status == 0, "a pid that is used again (%d)", status);
	return tap_done();
}
