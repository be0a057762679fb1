/* SPDX-License-Identifier: MIT */
/*
 * A program that runs for somebody else (set-uid, AT_SECURE) ignores VCLOCK_ROUTE and VCLOCK_PAGE:
 * the decision, and a set-uid copy of this program.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/setup.h"
#include "support_lib.h"
#include "tap.h"

#define NOBODY 65534

static void decisions(void)
{
	enum vclock_route route = VCLOCK_ROUTE_VDSO;

	setenv("VCLOCK_X", "page", 1);
	tap_ok(setup_getenv("VCLOCK_X", true) == NULL, "secure: not looked at");
	tap_ok(strcmp(setup_getenv("VCLOCK_X", false), "page") == 0, "else it is");
	setenv("VCLOCK_X", "", 1);
	tap_ok(setup_getenv("VCLOCK_X", false) == NULL, "empty is unset");
	tap_ok(setup_getenv("VCLOCK_Y", false) == NULL, "unset is unset");
	tap_ok(!setup_parse_route("Page", &route) && !setup_parse_route("page ", &route) &&
		       !setup_parse_route("", &route) && route == VCLOCK_ROUTE_VDSO,
	       "routes that there are not");
	tap_ok(setup_parse_route("syscall", &route) && route == VCLOCK_ROUTE_SYSCALL &&
		       setup_parse_route("vdso", &route) && route == VCLOCK_ROUTE_VDSO &&
		       setup_parse_route("page", &route) && route == VCLOCK_ROUTE_PAGE,
	       "and those that there are");
}

/* In the copy. 3: the file system gives it nobody's rights. */
static int run(void)
{
	struct vclock_status status = support_status();

	if (getauxval(AT_SECURE) == 0)
		return 3;
	/* What the file that VCLOCK_PAGE names gives is -EINVAL. */
	return status.route_limit != VCLOCK_ROUTE_PAGE || status.page_error == -EINVAL;
}

static int run_plain(void)
{
	struct vclock_status status = support_status();

	return status.route_limit != VCLOCK_ROUTE_SYSCALL;
}

static const char *copy_of_this(void)
{
	const char *path = support_path("copy");
	int from = open("/proc/self/exe", O_RDONLY), to = open(path, O_WRONLY | O_CREAT, 0700);

	while (sendfile(to, from, NULL, 1 << 20) > 0)
		;
	if (fchown(to, NOBODY, NOBODY) != 0 || fchmod(to, 04755) != 0)
		path = NULL;
	close(from);
	close(to);
	return path;
}

static int run_copy(const char *path)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		execl(path, path, "copy", (char *)NULL);
		_exit(254);
	}
	return support_wait(pid);
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv), *path;
	int status;

	if (what != NULL)
		support_exit(strcmp(what, "copy") == 0 ? run() : run_plain());
	decisions();
	if (support_is_emulated()) {
		tap_skip("a set-uid copy", "the emulator does not run other programs");
		return tap_done();
	}
	if (geteuid() != 0) {
		tap_skip("a set-uid copy", "needs root");
		return tap_done();
	}
	path = copy_of_this();
	chmod(support_folder(), 0755);
	setenv("VCLOCK_ROUTE", "syscall", 1);
	setenv("VCLOCK_PAGE", support_write("empty", "", 0), 1);
	tap_ok(support_again("plain", NULL) == 0, "this program obeys VCLOCK_ROUTE");
	status = path == NULL ? 254 : run_copy(path);
	if (status == 3)
		tap_skip("a set-uid copy", "this file system does not know set-uid");
	else
		tap_ok(status == 0, "its set-uid copy does not (%d)", status);
	return tap_done();
}
