/* SPDX-License-Identifier: MIT */
/*
 * Children that share their parent's memory: they end no publisher of their parent's, and start
 * none, whose thread would end with them and leave its page behind.
 */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support_lib.h"
#include "tap.h"

#define STACK (256 * 1024)

static volatile int started;

static int stop(void *arg)
{
	(void)arg;
	vclock_publisher_stop();
	return 0;
}

static int start(void *arg)
{
	struct vclock_publisher_options options = {.size = sizeof(options), .trust_counter = 1};

	(void)arg;
	started = vclock_publisher_start(&options);
	return 0;
}

static void by_vfork(int (*act)(void *))
{
	pid_t pid = vfork();

	if (pid == 0) {
		act(NULL);
		_exit(0);
	}
	support_wait(pid);
}

/* False: this user may not have such a child. */
static bool by_clone(int (*act)(void *), int flags)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid = clone(act, stack + STACK, flags | SIGCHLD, NULL);

	if (pid > 0)
		support_wait(pid);
	munmap(stack, STACK);
	return pid > 0;
}

/* Kept: a page of this process's own that goes on. */
static bool goes_on(void)
{
	uint32_t generation = vclock_page()->generation;
	int i;

	for (i = 0; i < 3000 && vclock_page()->generation == generation; i++)
		usleep(1000);
	return i < 3000 && support_status().page_source == VCLOCK_PAGE_OWN &&
	       support_status().page_retired == VCLOCK_RETIRED_NOT;
}

static void nobody_else_stops_it(void)
{
	by_vfork(stop);
	tap_ok(goes_on(), "a child of vfork does not stop it");
	by_clone(stop, CLONE_VM);
	tap_ok(goes_on(), "a child of clone(CLONE_VM) does not stop it");
	by_clone(stop, CLONE_VM | CLONE_VFORK);
	tap_ok(goes_on(), "what posix_spawn makes does not stop it");
	by_vfork(start);
	tap_ok(started == -EALREADY, "a child of vfork that starts one: %d", started);
}

/* Here the publisher has the id 1, and so has the child in a namespace below. */
static int as_first(void *arg)
{
	int flags = CLONE_VM | CLONE_NEWPID;
	bool is_good;

	(void)arg;
	if (getpid() != 1 || support_publish(NULL) != 0)
		return 1;
	if (!by_clone(stop, flags))
		return 77;
	is_good = goes_on();
	vclock_publisher_stop();
	return !is_good || support_status().page_source != VCLOCK_PAGE_NONE;
}

static void first_of_a_namespace(void)
{
	char *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	pid_t pid;
	int r;

	fflush(stdout);
	pid = clone(as_first, stack + STACK, CLONE_NEWPID | SIGCHLD, NULL);
	r = pid > 0 ? support_wait(pid) : 77;
	munmap(stack, STACK);
	if (r == 77)
		tap_skip("two processes of the id 1", "needs root");
	else
		tap_ok(r == 0, "nor does one that has the same id, in a PID namespace below (%d)",
		       r);
}

static int none_is_started(void *arg)
{
	(void)arg;
	by_vfork(start);
	return started != -EOPNOTSUPP || support_status().page_source != VCLOCK_PAGE_NONE;
}

/* A thread that has ended by itself can be stopped all the same: the path is free again. */
static void after_its_end(void)
{
	const char *path = support_path("page");
	int i;

	tap_ok(support_publish(path) == 0, "a page in a file");
	chmod(path, 0666);
	for (i = 0; i < 3000 && support_status().page_retired == VCLOCK_RETIRED_NOT; i++)
		usleep(1000);
	usleep(50000);
	by_vfork(stop);
	tap_ok(support_status().page_source == VCLOCK_PAGE_OWN,
	       "a child of vfork does not stop one that has ended by itself");
	vclock_publisher_stop();
	tap_ok(support_status().page_source == VCLOCK_PAGE_NONE && access(path, F_OK) != 0,
	       "its own process does");
}

int main(void)
{
	if (support_is_emulated()) {
		/* It makes a copy of the memory. */
		tap_skip("children that share memory", "the emulator does not share memory");
		return tap_done();
	}
	tap_ok(none_is_started(NULL) == 0, "a child of vfork starts none");
	tap_ok(support_child(none_is_started, NULL) == 0, "nor one below a fork");
	tap_ok(support_publish(NULL) == 0, "a publisher");
	nobody_else_stops_it();
	vclock_publisher_stop();
	tap_ok(support_status().page_source == VCLOCK_PAGE_NONE, "its own process stops it");
	first_of_a_namespace();
	after_its_end();
	return tap_done();
}
