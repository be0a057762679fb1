/* SPDX-License-Identifier: MIT */
/*
 * support_daemon.h - a vclockd of this build on a page in a folder of its own.
 */
#ifndef SUPPORT_DAEMON_H
#define SUPPORT_DAEMON_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct support_daemon {
	char program[512]; /* vclockd beside the tests' folder */
	char folder[64];   /* a new one, removed by support_daemon_end() */
	char page[96];
	pid_t pid; /* 0: not running */
};

/* Finds the program by the test's own argv[0] and makes the folder. False: errno says why. */
bool support_daemon_begin(struct support_daemon *daemon, const char *argv0);

/* Starts it in the foreground. extra: more options, NULL at the end; NULL: it is told to trust the
 * counter. */
bool support_daemon_start(struct support_daemon *daemon, const char *const *extra);

/* Sends signal and waits for the end; the exit status as of waitpid(). */
int support_daemon_stop(struct support_daemon *daemon, int signal);

/* Waits until the page answers in this process, ms at the most. */
bool support_daemon_wait(const struct support_daemon *daemon, unsigned ms);

void support_daemon_end(struct support_daemon *daemon);

/* CPU time of a process, and how often it has slept. False: it has gone. */
struct support_cpu {
	uint64_t run_ns, wakes;
};
bool support_cpu(pid_t pid, struct support_cpu *ret_cpu);

/* Memory that it has in use, and its open files; -1: it has gone. */
long support_rss_kib(pid_t pid);
int support_open_files(pid_t pid);

/* Whether this build has a sanitizer, which takes memory of its own. */
bool support_is_sanitized(void);

#endif /* SUPPORT_DAEMON_H */
