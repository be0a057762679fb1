/* SPDX-License-Identifier: MIT */
/*
 * reopen.h - a page's file that another one has taken the place of.
 */
#ifndef LIB_REOPEN_H
#define LIB_REOPEN_H

#include "lib/miss.h"

#pragma GCC visibility push(hidden)

/* From now on path may be looked at again: it was just opened, and the page is in the window. The
 * lock is held. */
void reopen_allow(const char *path);

/*
 * A call did not get an answer from the page of a file. Once a second one such call of the process
 * looks whether the file is still that one. Async-signal-safe, waits for nobody, leaves errno
 * alone, and stands on a stack of its own.
 */
LIB_MISS void reopen_look(void);

#pragma GCC visibility pop

#endif /* LIB_REOPEN_H */
