/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel does not wipe memory in a fork (MADV_WIPEONFORK refused), nothing is remembered
 * that a child could find stale: getpid is a system call, and there is no page (F04).
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support_lib.h"
#include "tap.h"

#define WIPEONFORK 18

static int in_child(void *arg)
{
	(void)arg;
	return vclock_getpid() != (pid_t)syscall(SYS_getpid);
}

static int run(void)
{
	static const char zero[4096];
	int wrong = 0;

	wrong += vclock_getpid() != (pid_t)syscall(SYS_getpid) || *vclock_pid_word() != 0;
	wrong += support_status().getpid_is_cached != 0;
	wrong += support_child(in_child, NULL);
	wrong += support_publish(NULL) != -EOPNOTSUPP;
	wrong += vclock_open(support_write("page", zero, sizeof(zero))) != -EOPNOTSUPP;
	wrong += support_outside(CLOCK_MONOTONIC, 100, 0, vclock_gettime64, NULL) != 0;
	return wrong;
}

int main(int argc, char **argv)
{
	static const struct support_denial wipe[] = {{SYS_madvise, 2, WIPEONFORK}};

	if (support_what(argc, argv) != NULL)
		support_exit(run());
	if (support_is_emulated()) {
		tap_skip("MADV_WIPEONFORK refused", "the emulator has no seccomp filters");
		return tap_done();
	}
	tap_ok(support_deny(wipe, 1, -EINVAL) == 0, "MADV_WIPEONFORK is refused from now on");
	tap_ok(support_again("run", NULL) == 0, "no page, and getpid is a system call");
	return tap_done();
}
