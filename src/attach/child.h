/* SPDX-License-Identifier: MIT */
/*
 * child.h - a child process for a moment: whatever stops it, the wait for it has an end.
 *
 * Time is counted in slices, each of which may last: where the caller is stopped together with the
 * child, as by a terminal, both still have theirs when they go on.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define CHILD_SLICE_MS 100

/* The kernel's set of signals. */
struct child_signals {
	uint64_t bits;
};

#define CHILD_ALL_SIGNALS ((const struct child_signals){UINT64_MAX})

/*
 * Sets the caller's mask, and in *ret_before what it was, unless NULL. libc's call leaves out the
 * signals that it keeps for itself: what it restores is not what was. musl keeps 34, which other
 * programs know as SIGRTMIN, and which is the program's to inherit.
 */
void child_mask(const struct child_signals *signals, struct child_signals *ret_before);

/* As fork(). All signals are blocked in the child, and none tells of its end. -1 with errno. */
pid_t child_start(void);

/*
 * For a child whose every wait has an end: how it ended; who is stopped without the caller goes on.
 * Makes no system call but wait4() while all goes well.
 */
bool child_outcome(pid_t pid, int *ret_status);

/* Whether there is something to read, or an end, within ms. */
bool child_readable(int fd, int ms);

/* The child ends within ms, or is killed. True with *ret_status where it ended by itself. */
bool child_end(pid_t pid, int ms, int *ret_status);

#endif /* CHILD_H */
