/* SPDX-License-Identifier: MIT */
/*
 * launch.h - a process turns itself into another program, which starts with our image.
 *
 * A helper process traces the caller over its execve, injects, lets go, and stays as the page's
 * publisher while the program lives. It is no child of the program's, shares no terminal, no
 * session and no descriptor with it. Whatever fails, the caller can go on and call execve.
 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include <stdbool.h>
#include <stdint.h>

#include "attach/inject.h"

struct launch {
	int page_fd; /* the machine's page; -1: one of the program's own is kept */
	/* Memory for that, see struct follow_space; area_fd is taken over. -1: none */
	int area_fd, area_read_fd;
	const char *images; /* folder of the images; NULL: the program gets none */
	bool hides_vdso;    /* from the program */
	bool trusts_counter;
	bool must;	     /* the program does not run without, and is killed with the helper */
	bool is_loud;	     /* the helper says on stderr how it went */
	const char *program; /* for messages */
	unsigned fail_step;  /* for tests, as in struct inject */
	int step_signal;
	bool is_rehearsal; /* the helper stays the caller's child */
};

/*
 * Starts the helper; when it returns 0 the caller is traced until it has called execve, and should
 * do that at once. -errno with plain words in *ret_reason: there is no helper, and no descriptor of
 * the helper's is left.
 */
int launch_start(const struct launch *launch, const char **ret_reason);

/*
 * In a child of the caller that will go on to launch_start(), all of that, and what the program
 * will do itself for its image: where a seccomp filter kills for it, it kills the child. Leaves no
 * process behind. False: the filter does not allow it.
 */
bool launch_rehearse(const struct launch *launch);

#endif /* LAUNCH_H */
