/* SPDX-License-Identifier: MIT */
/*
 * inject.h - gives a program that stands at the end of its execve an image and a page.
 *
 * The program is traced by the caller and stopped. It is hostile: its memory, its auxiliary vector
 * and what /proc says of it are held against each other before anything is written, and nothing of
 * it is written to but unused bytes behind the kernel's image and the stub's own doing.
 */
#ifndef INJECT_H
#define INJECT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "image/process_page.h"

struct inject_image {
	int fd; /* the program's descriptor too: inherited over execve; -1: not there */
	uint64_t size;
};

struct inject {
	/* Two units in shared memory: time page and process page; the program's descriptor too. */
	int area_fd;
	struct process_page *process; /* in that memory, writable */
	int page_fd;		      /* another time page, mapped over the first unit; -1: none */
	struct inject_image image[2]; /* for programs of 32 and of 64 bits */
	int result_fd;		      /* an eventfd, see stub.h; the program's descriptor too */
	bool hides_vdso;	      /* the program is not told of the kernel's functions */
	/*
	 * The program's folder of /proc, as the program itself has opened it: there its number may
	 * be another process's, where /proc is of another PID namespace.
	 */
	int proc_fd;
	int stat_fd; /* the helper's, see inject_prepare(): a file in that folder; -errno: none */
	bool must;   /* a program without the image exits with 126 */
	/* For tests: the step with this number fails; 0: none. Counts on. */
	unsigned fail_step, steps;
	int step_signal; /* the caller sends itself this there instead; 0: none */
	/* Results. */
	bool is_64;
	bool has_stub;	    /* the program is on its way through the stub */
	const char *reason; /* in plain words, of a failure */
};

/*
 * What can be done before the program's execve, so that it waits less. Nothing of libc in it. The
 * memory that is touched is one for all, so it is one program at a time.
 */
void inject_prepare(struct inject *inject);

/*
 * After inject_prepare(): prepares the rest and points the program at the stub: it runs when the
 * caller lets go. 0, or -errno with a reason; nothing is changed then. Takes some 100 us, and no
 * other thread.
 */
int inject_at_exec(struct inject *inject, pid_t pid);

/*
 * When that has failed: the program closes what it was passed before it starts, by a stub that does
 * nothing else. False: it has those descriptors, for a stub cannot be had.
 */
bool inject_close_only(const struct inject *inject, pid_t pid);

/* For a program of the same kind: AT_SYSINFO_EHDR on the stack becomes 0, and nothing else. */
int inject_hide(struct inject *inject, pid_t pid);

/*
 * The program, stopped at its execve, is to exit with 126 when it is let go. False: that cannot be
 * done, and it must not be let go.
 */
bool inject_refuse(const struct inject *inject, pid_t pid);

/* The next of the countable steps: false when the test wants it to fail. Nothing of libc in it. */
bool inject_step(struct inject *inject, const char *what);

#endif /* INJECT_H */
