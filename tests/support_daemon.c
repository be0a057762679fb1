/* SPDX-License-Identifier: MIT */
/* support_daemon.c - see support_daemon.h. Ends only what it started. */
#include "support_daemon.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vclock.h"
#include "vclock/read.h"

#define OPTIONS_MAX 16

bool support_daemon_begin(struct support_daemon *daemon, const char *argv0)
{
	const char *slash = strrchr(argv0, '/');
	int length = slash != NULL ? (int)(slash - argv0) : 1;

	memset(daemon, 0, sizeof(*daemon));
	snprintf(daemon->program, sizeof(daemon->program), "%.*s/../vclockd", length,
		 slash != NULL ? argv0 : ".");
	/* A sanitizer that looks for leaks at the end makes system calls that the daemon's filter
	 * does not allow. */
	setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
	strcpy(daemon->folder, "/tmp/vclock-test-XXXXXX");
	if (access(daemon->program, X_OK) != 0 || mkdtemp(daemon->folder) == NULL)
		return false;
	snprintf(daemon->page, sizeof(daemon->page), "%s/page", daemon->folder);
	return true;
}

bool support_daemon_start(struct support_daemon *daemon, const char *const *extra)
{
	const char *argv[OPTIONS_MAX] = {daemon->program, "--foreground", "--page", daemon->page};
	int n = 4;

	/* A test that brings a list of clocksources of its own brings its trust with it. */
	if (extra == NULL)
		argv[n++] = "--trust-counter";

	while (extra != NULL && *extra != NULL && n < OPTIONS_MAX - 1)
		argv[n++] = *extra++;
	daemon->pid = fork();
	if (daemon->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (freopen("/dev/null", "w", stdout) == NULL) /* ours carries TAP */
			_exit(127);
		execv(argv[0], (char *const *)argv);
		_exit(127);
	}
	return daemon->pid > 0;
}

int support_daemon_stop(struct support_daemon *daemon, int signal)
{
	int status = -1;

	if (daemon->pid <= 0)
		return -1;
	kill(daemon->pid, signal);
	while (waitpid(daemon->pid, &status, 0) < 0 && errno == EINTR)
		;
	daemon->pid = 0;
	return status;
}

bool support_daemon_wait(const struct support_daemon *daemon, unsigned ms)
{
	uint64_t ns;

	for (; ms > 0; ms--) {
		if (vclock_read_ns(vclock_page(), VCLOCK_MONOTONIC, &ns) == 0)
			return true;
		(void)vclock_open(daemon->page);
		usleep(1000);
	}
	return false;
}

void support_daemon_end(struct support_daemon *daemon)
{
	char path[512];
	struct dirent *entry;
	DIR *folder;

	if (daemon->pid > 0)
		support_daemon_stop(daemon, SIGKILL);
	folder = opendir(daemon->folder);
	while (folder != NULL && (entry = readdir(folder)) != NULL) {
		snprintf(path, sizeof(path), "%s/%s", daemon->folder, entry->d_name);
		unlink(path);
	}
	if (folder != NULL)
		closedir(folder);
	rmdir(daemon->folder);
}

/* A number of /proc/PID/status; -1: there is none. */
static long status_field(pid_t pid, const char *name)
{
	char path[64], line[256];
	size_t length = strlen(name);
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", (int)pid);
	file = fopen(path, "r");
	while (file != NULL && value < 0 && fgets(line, sizeof(line), file) != NULL)
		if (strncmp(line, name, length) == 0 && line[length] == ':')
			value = strtol(line + length + 1, NULL, 10);
	if (file != NULL)
		fclose(file);
	return value;
}

bool support_cpu(pid_t pid, struct support_cpu *ret_cpu)
{
	long wakes = status_field(pid, "voluntary_ctxt_switches");
	struct timespec ts;
	clockid_t clock;

	if (wakes < 0 || clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &ts) != 0)
		return false;
	ret_cpu->wakes = (uint64_t)wakes;
	ret_cpu->run_ns = (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
	return true;
}

long support_rss_kib(pid_t pid)
{
	return status_field(pid, "VmRSS");
}

int support_open_files(pid_t pid)
{
	char path[64];
	DIR *folder;
	int n = -2; /* "." and ".." */

	snprintf(path, sizeof(path), "/proc/%d/fd", (int)pid);
	folder = opendir(path);
	if (folder == NULL)
		return -1;
	while (readdir(folder) != NULL)
		n++;
	closedir(folder);
	return n;
}

bool support_is_sanitized(void)
{
#if defined(__SANITIZE_ADDRESS__)
	return true;
#elif defined(__has_feature)
	return __has_feature(address_sanitizer);
#else
	return false;
#endif
}
