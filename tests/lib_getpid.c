/* SPDX-License-Identifier: MIT */
/*
 * vclock_getpid() is right at once in every child whose memory is a copy: fork, fork of a fork, raw
 * fork, raw clone, clone3, a new PID namespace, after unshare (F01, F03, F06); and what else the
 * library remembers of a process is gone there too (F08).
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support_lib.h"
#include "tap.h"

#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef CLONE_NEWPID
#define CLONE_NEWPID 0x20000000
#endif

/* <linux/sched.h>, which does not go together with <sched.h>: the first version of it. */
struct clone3_args {
	uint64_t flags, pidfd, child_tid, parent_tid, exit_signal, stack, stack_size, tls;
};

/* In the child: asked twice, so that the second answer is the remembered one. */
static int is_right(void)
{
	pid_t want = (pid_t)syscall(SYS_getpid);

	return support_status().fallbacks != 0 || *vclock_pid_word() != 0 ||
	       vclock_getpid() != want || vclock_getpid() != want ||
	       (*vclock_pid_word() != 0 && *vclock_pid_word() != (uint32_t)want);
}

static pid_t raw_fork(void)
{
#ifdef SYS_fork
	return (pid_t)syscall(SYS_fork);
#else
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#endif
}

static pid_t raw_clone(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
}

static pid_t raw_clone_newpid(void)
{
	return (pid_t)syscall(SYS_clone, SIGCHLD | CLONE_NEWPID, 0, 0, 0, 0);
}

static pid_t raw_clone3(void)
{
	struct clone3_args args = {.exit_signal = SIGCHLD};

	return (pid_t)syscall(SYS_clone3, &args, sizeof(args));
}

/* In a child: its children are in another namespace from then on. 98: not allowed. */
static int unshare_and_fork(void *arg)
{
	pid_t pid;

	(void)arg;
	if (unshare(CLONE_NEWPID) != 0)
		return 98;
	pid = fork();
	if (pid == 0)
		_exit(is_right());
	return support_wait(pid);
}

static void judge(pid_t (*make)(void), const char *what)
{
	pid_t pid;

	fflush(stdout);
	pid = make();
	if (pid == 0)
		_exit(is_right());
	if (pid < 0)
		tap_skip(what, errno == EPERM	 ? "needs root"
			       : errno == ENOSYS ? "this kernel does not have the system call"
						 : strerror(errno));
	else
		tap_ok(support_wait(pid) == 0, "%s", what);
}

static int fork_again(void *arg)
{
	pid_t pid;

	(void)arg;
	if (is_right() != 0)
		return 1;
	pid = fork();
	if (pid == 0)
		_exit(is_right());
	return support_wait(pid);
}

/* Falls back once, so that there is something to forget. */
static int count_one(const char *what)
{
	return strcmp(what, "counted") != 0 || vclock_monotonic_ns() == 0 ||
	       support_status().fallbacks == 0 || support_child(fork_again, NULL);
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv);
	pid_t pid = (pid_t)syscall(SYS_getpid);
	int r;

	if (what != NULL)
		support_exit(count_one(what));
	tap_ok(vclock_getpid() == pid, "this process's own");
	tap_ok(*vclock_pid_word() == (uint32_t)pid, "and it is remembered");
	tap_ok(vclock_getpid() == pid, "and told again");
	tap_ok(support_status().getpid_is_cached == 1, "the status says so");
	if (support_is_emulated()) {
		tap_skip("children", "the emulator does not wipe pages in a fork");
		return tap_done();
	}
	judge(fork, "fork");
	judge(raw_fork, "raw fork");
	judge(raw_clone, "raw clone");
	judge(raw_clone3, "raw clone3");
	tap_ok(support_child(fork_again, NULL) == 0, "fork of a fork");
	judge(raw_clone_newpid, "raw clone into a new PID namespace");
	tap_ok(vclock_getpid() == pid, "still this process's own");
	tap_ok(support_again("counted", "VCLOCK_ROUTE=page") == 0,
	       "a child's fallbacks start at 0");
	r = support_child(unshare_and_fork, NULL);
	if (r == 98)
		tap_skip("fork after unshare(CLONE_NEWPID)", "needs root");
	else
		tap_ok(r == 0, "fork after unshare(CLONE_NEWPID)");
	return tap_done();
}
