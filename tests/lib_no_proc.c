/* SPDX-License-Identifier: MIT */
/*
 * Without /proc no boot id can be read: a machine page is refused, and all else works, this
 * process's own publisher too, as long as it is to be in no file.
 */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support_lib.h"
#include "tap.h"

static int run(const char *page)
{
	struct vclock_status status = support_status();
	char path[PATH_MAX];
	int wrong = 0;

	wrong += access("/proc/self", F_OK) == 0;
	wrong += vclock_open(page) != -ESTALE;
	wrong += support_outside(CLOCK_MONOTONIC, 100, 0, vclock_gettime64, NULL) != 0;
	wrong += vclock_getpid() != getpid() || status.getpid_is_cached != 1;
	wrong += support_publish(NULL) != 0;
	wrong += support_outside(CLOCK_MONOTONIC, 100, 1000000, vclock_gettime64, NULL) != 0;
	vclock_publisher_stop();
	/* In a file nobody could take it for one of this boot. */
	snprintf(path, sizeof(path), "%s.own", page);
	wrong += support_publish(path) != -ESTALE || access(path, F_OK) == 0;
	snprintf(path, sizeof(path), "%s.own.lock", page);
	wrong += access(path, F_OK) == 0;
	return wrong;
}

static int publish(const char *page)
{
	if (support_publish(page) != 0)
		return 1;
	for (;;)
		pause();
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv), *page;
	pid_t pid;

	/* Not by a function that does not return: before such a call a sanitizer looks for the ends
	 * of the stack, and needs /proc for that. */
	if (what != NULL)
		return (int)syscall(SYS_exit_group, *what != '\0' ? run(what) : 0);
	page = support_path("page");
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(publish(page));
	while (access(page, F_OK) != 0 && waitpid(pid, NULL, WNOHANG) == 0)
		usleep(1000);
	support_again("", NULL); /* finds its path while there is a /proc */
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
	    mount("none", "/proc", "tmpfs", 0, NULL) != 0)
		tap_skip("no /proc", errno == EPERM ? "needs root" : strerror(errno));
	else
		tap_ok(support_again(page, NULL) == 0, "no machine page, and all else works");
	kill(pid, SIGKILL);
	support_wait(pid);
	/* Not through exit(): a sanitizer would look for leaks, and needs /proc for that. */
	support_exit(tap_done());
}
