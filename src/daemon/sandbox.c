/* SPDX-License-Identifier: MIT */
/* sandbox.c - see sandbox.h. One list; a system call that this machine does not have is left out.
 */
#include "daemon/sandbox.h"

#include <errno.h>

#if VCLOCK_HAS_LIBS
#include <seccomp.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>

static const char *const allowed[] = {
	/* the loop */
	"clock_gettime",
	"clock_gettime64",
	"gettimeofday",
	"ppoll",
	"ppoll_time64",
	"read",
	"timerfd_settime",
	"timerfd_settime64",
	"rt_sigreturn",
	"restart_syscall",
	"sendto",
	"futex",
	"futex_time64",
	/* messages, and the way into the background */
	"dup2",
	"dup3",
	"write",
	"writev",
	/* the kernel's list of clocksources; the page file, should it have been deleted */
	"openat",
	"close",
	"fstat",
	"fstat64",
	"newfstatat",
	"fstatat64",
	"statx",
	"lseek",
	"pwrite64",
	"lstat",
	"lstat64",
	"stat",
	"stat64",
	"clock_getres",
	"clock_getres_time64",
	"fcntl",
	"fcntl64",
	"ftruncate",
	"ftruncate64",
	"fchmod",
	"rename",
	"renameat",
	"renameat2",
	"unlink",
	"unlinkat",
	"munmap",
	"getpid",
	"getuid",
	"geteuid",
	"gettid",
	"flock",
	/* a look at the counter of each CPU */
	"sched_setaffinity",
	"sched_getaffinity",
	/* memory of the C library */
	"brk",
	"madvise",
	/* the end */
	"exit",
	"exit_group",
	"rt_sigprocmask",
	"tgkill",
};

bool sandbox_is_built_in(void)
{
	return true;
}

int sandbox_enter(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_KILL_PROCESS);
	size_t i;
	int r = 0;

	if (filter == NULL)
		return -ENOMEM;
	for (i = 0; r == 0 && i < sizeof(allowed) / sizeof(allowed[0]); i++) {
		int number = seccomp_syscall_resolve_name(allowed[i]);

		if (number != __NR_SCMP_ERROR)
			r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, number, 0);
	}
	/* Memory, but none that can be executed. */
	if (r == 0)
		r = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(mmap), 1,
				     SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	if (r == 0)
		r = seccomp_load(filter);
	seccomp_release(filter);
	return r;
}

#else

bool sandbox_is_built_in(void)
{
	return false;
}

int sandbox_enter(void)
{
	return -ENOSYS;
}

#endif
