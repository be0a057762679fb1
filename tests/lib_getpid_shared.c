/* SPDX-License-Identifier: MIT */
/*
 * What the declaration of vclock_getpid() says of children that share their parent's memory:
 * before the parent asked, such a child is told its own id and leaves none behind; after that it is
 * told its parent's.
 */
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support_lib.h"
#include "tap.h"

#define STACK (256 * 1024)

static volatile pid_t told, was;
static volatile uint32_t word;

static int ask(void *arg)
{
	(void)arg;
	was = (pid_t)syscall(SYS_getpid);
	told = vclock_getpid();
	word = *vclock_pid_word();
	return 0;
}

static void by_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		ask(NULL);
		_exit(0);
	}
	support_wait(pid);
}

static void by_clone(int flags)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid = clone(ask, stack + STACK, flags | SIGCHLD, NULL);

	support_wait(pid);
	munmap(stack, STACK);
}

static void judge(const char *what, int parent_has_asked)
{
	pid_t self = (pid_t)syscall(SYS_getpid);

	tap_ok(was != self && was > 0, "%s: a process of its own", what);
	if (parent_has_asked) {
		tap_ok(told == self, "%s: told its parent's id, which had asked", what);
		return;
	}
	tap_ok(told == was, "%s: told its own id", what);
	tap_ok(word == 0 && *vclock_pid_word() == 0, "%s: and left none behind", what);
}

static void judge_all(int parent_has_asked)
{
	by_vfork();
	judge("vfork", parent_has_asked);
	by_clone(CLONE_VM);
	judge("clone(CLONE_VM)", parent_has_asked);
	/* What posix_spawn's child is, before it executes something. */
	by_clone(CLONE_VM | CLONE_VFORK);
	judge("clone(CLONE_VM | CLONE_VFORK)", parent_has_asked);
}

/* A copy of the parent's memory, so that another process than the constructor's has to find out
 * whether it shares. */
static int in_a_fork(void *arg)
{
	int failed;

	(void)arg;
	/* Another process's TAP. */
	if (freopen("/dev/null", "w", stdout) == NULL)
		return 99;
	judge_all(0);
	failed = tap_failed;
	return vclock_getpid() != (pid_t)syscall(SYS_getpid) || failed != 0;
}

int main(void)
{
	if (support_is_emulated()) {
		/* It makes a copy of the memory. */
		tap_skip("children that share memory", "the emulator does not share memory");
		return tap_done();
	}
	judge_all(0);
	tap_ok(support_child(in_a_fork, NULL) == 0, "the same below a fork");
	tap_ok(vclock_getpid() == (pid_t)syscall(SYS_getpid), "the parent asks");
	judge_all(1);
	return tap_done();
}
