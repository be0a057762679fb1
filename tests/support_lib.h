/* SPDX-License-Identifier: MIT */
/*
 * support_lib.h - what the tests of the library share: children, this program once more, sandboxes,
 * a page that lies.
 */
#ifndef SUPPORT_LIB_H
#define SUPPORT_LIB_H

#include <stdint.h>
#include <sys/types.h>

#include "vclock.h"

/* Children report to their parent by their exit status: 0 is good. A signal is 128 + its number,
 * and whoever does not end within 20 s is killed: 128 + SIGKILL. */
int support_wait(pid_t pid);
int support_child(int (*body)(void *arg), void *arg);

/* Whether the kernel does not run this program itself (scripts/emulator). */
int support_is_emulated(void);

/*
 * Runs this program again with one argument, and with env ("NAME=value", NULL: none) in its
 * environment; returns its status as above. The program's main calls support_what() first.
 */
int support_again(const char *what, const char *env);
/* The argument of support_again(), or NULL in the first run. */
const char *support_what(int argc, char **argv);

/* The end of a run that support_again() made: nothing that a sanitizer would still do at exit, and
 * cannot in a sandbox. */
void support_exit(int status) __attribute__((noreturn));

/* A system call to refuse. arg: 0 .. 5, an argument that must have the value; -1: whatever they
 * are. */
struct support_denial {
	int nr;
	int arg;
	uint32_t value;
};
/* From now on, in this thread and its children: result is what they return (-errno), 0: the process
 * is killed. 0, or -errno where filters are refused. */
int support_deny(const struct support_denial *denials, unsigned count, int result);

/* Waits until vclock_status() says that this is the clock's route: a page has moments without one
 * on a busy machine. 0, or -ETIME after 5 s. */
int support_wait_for_route(uint32_t clk, enum vclock_route route);

/* This process's publisher, whatever the kernel thinks of the counter, until its page answers.
 * path: also in that file. 0 or -errno. */
int support_publish(const char *path);

struct vclock_status support_status(void);
enum vclock_route support_route(uint32_t clk);

/*
 * A page at page (4096 bytes) that is right but for offset_ns on all clocks, for the next 20 ms or
 * so. 0 or -errno.
 */
int support_make_page(struct vclock_page *page, int64_t offset_ns);

/* A folder of this test's own, removed with what is in it when the first run ends. */
const char *support_folder(void);

/* folder/name; valid to the end. */
const char *support_path(const char *name);

/* Writes size bytes to folder/name, mode 0644. */
const char *support_write(const char *name, const void *bytes, size_t size);

/*
 * count reads of clk by read, each between two of the kernel's: how many lay outside by more than
 * tolerance_ns, or failed. *ret_worst_ns may be NULL.
 */
unsigned support_outside(int32_t clk, unsigned count, int64_t tolerance_ns,
			 int (*read)(int32_t clk, struct vclock_timespec *ret_ts),
			 int64_t *ret_worst_ns);

#endif /* SUPPORT_LIB_H */
