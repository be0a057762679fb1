/* SPDX-License-Identifier: MIT */
/*
 * A page's file is replaced: deleted, and made anew by a daemon that starts. A call that falls back
 * finds the new one, at most once a second, with errno as it was and on no more of its caller's
 * stack than any other; VCLOCK_REOPEN=0 makes no system call and follows nothing. A daemon that
 * restarts keeps its file, and no open call is needed.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_daemon.h"
#include "support_lib.h"
#include "support_stack.h"
#include "tap.h"
#include "vclock/read.h"

/* Once a second, and a daemon that may be late on a busy machine. */
#define FOLLOW_MS 10000
#define START_MS 20000

static struct support_daemon daemon_;

static const struct support_denial opens[] = {
	{SYS_openat, -1, 0},
#ifdef SYS_open
	{SYS_open, -1, 0},
#endif
	{SYS_rt_sigprocmask, -1, 0},
};

/* A call every millisecond, as a program makes them, until the page of pid answers. */
static int follows(pid_t pid, unsigned ms)
{
	struct vclock_status status;

	for (; ms > 0; ms--) {
		if (vclock_monotonic_ns() == 0)
			return 0;
		status = support_status();
		if (status.page_writer_pid == (uint32_t)pid &&
		    status.clock[VCLOCK_MONOTONIC].route == VCLOCK_ROUTE_PAGE)
			return 1;
		usleep(1000);
	}
	return 0;
}

/* Until the page stands in its place: it is shown when it answers. */
static int is_shown(void)
{
	struct stat st;
	int i;

	for (i = 0; i < START_MS; i++) {
		if (stat(daemon_.page, &st) == 0)
			return 1;
		usleep(1000);
	}
	return 0;
}

/* A daemon is killed, its file deleted, and another one makes a new file. */
static int replace(void)
{
	support_daemon_stop(&daemon_, SIGKILL);
	unlink(daemon_.page);
	return support_daemon_start(&daemon_, NULL) && is_shown();
}

static int begin(void)
{
	return support_daemon_start(&daemon_, NULL) && support_daemon_wait(&daemon_, START_MS) &&
	       follows(daemon_.pid, START_MS);
}

static unsigned most_of_vdso(void)
{
	const struct vclock_vdso *vdso = oracle_vdso();
	struct vclock_timespec ts;

	if (vdso->error != 0 || vdso->clock_gettime == NULL)
		return 0;
	return support_stack_used((const void *)vdso->clock_gettime, VCLOCK_MONOTONIC,
				  (long)(intptr_t)&ts);
}

/* One call alone, a second after the last: it is the one that looks. */
static void stack_of_a_look(void)
{
	struct vclock_timespec ts;
	unsigned below = most_of_vdso(), used;

	tap_ok(replace(), "another file once more");
	(void)support_stack_used((const void *)vclock_monotonic64, (long)(intptr_t)&ts, 0);
	usleep(1500000);
	used = support_stack_used((const void *)vclock_monotonic64, (long)(intptr_t)&ts, 0);
	tap_ok(support_status().page_writer_pid == (uint32_t)daemon_.pid,
	       "one call is enough to find it");
	if (SUPPORT_STACK_IS_SANITIZED)
		tap_skip("stack use", "sanitizers have frames of their own");
	else
		tap_ok(used <= SUPPORT_STACK_PROMISE + below,
		       "... on %u bytes of stack, %u of them the vDSO's", used, below);
}

/* In a process of its own: whether VCLOCK_REOPEN keeps it from looking. */
static int watch(void)
{
	pid_t pid;

	if (!begin())
		return 99;
	pid = daemon_.pid;
	if (!replace())
		return 98;
	if (follows(daemon_.pid, 3000))
		return 1;
	return support_status().page_writer_pid == (uint32_t)pid ? 0 : 97;
}

static int calls_under_filter(void *arg)
{
	int i;

	(void)arg;
	if (support_deny(opens, sizeof(opens) / sizeof(opens[0]), 0) != 0)
		return 77;
	for (i = 0; i < 1500; i++) {
		if (vclock_monotonic_ns() == 0)
			return 1;
		usleep(1000);
	}
	return 0;
}

/* In a process of its own: every open call of its child is that one's end. */
static int sandboxed(void)
{
	if (!begin())
		return 99;
	support_daemon_stop(&daemon_, SIGKILL);
	return support_child(calls_under_filter, NULL);
}

static int run(const char *what)
{
	int r = strcmp(what, "watch") == 0 ? watch() : sandboxed();

	support_daemon_end(&daemon_);
	return r;
}

static void in_sandboxes(void)
{
	int off = support_again("sandboxed", "VCLOCK_REOPEN=0");

	if (off == 77) {
		tap_skip("sandboxes", "the emulator has no seccomp filters");
		return;
	}
	tap_ok(off == 0, "VCLOCK_REOPEN=0: no open call when the page ends (%d)", off);
	off = support_again("sandboxed", NULL);
	tap_ok(off == 128 + SIGSYS, "... and without it there is one (%d)", off);
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv);
	pid_t first;
	int r;

	if (support_is_emulated()) {
		tap_skip("another file", "the emulator does not run other programs");
		return tap_done();
	}
	unsetenv("VCLOCK_ROUTE");
	if (!support_daemon_begin(&daemon_, argv[0]))
		return 99;
	if (what != NULL)
		return run(what);
	tap_ok(begin(), "a page that is kept");
	first = daemon_.pid;
	errno = 12345;
	tap_ok(replace() && daemon_.pid != first, "another file in its place");
	errno = 12345;
	r = follows(daemon_.pid, FOLLOW_MS);
	tap_ok(r, "readers follow");
	tap_ok(errno == 12345, "... with errno as it was");
	tap_ok(vclock_open("/nonexistent") == -ENOENT && follows(daemon_.pid, FOLLOW_MS),
	       "... and hold on to it");
	stack_of_a_look();
	support_daemon_stop(&daemon_, SIGKILL);
	unlink(daemon_.page);
	usleep(1500000);
	tap_ok(vclock_monotonic_ns() != 0, "with no file at all the kernel answers");
	support_daemon_end(&daemon_);
	r = support_again("watch", "VCLOCK_REOPEN=0");
	tap_ok(r == 0, "VCLOCK_REOPEN=0: another file is not followed (%d)", r);
	in_sandboxes();
	return tap_done();
}
