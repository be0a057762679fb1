/* SPDX-License-Identifier: MIT */
/*
 * output.h - stdout: the only file of the command that writes to it, so that the reason of the
 * first failed write is known, whichever it was.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>

void output(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Whether all of it could be written so far. */
bool output_flush(void);

/*
 * At the end of the program: status, or CLI_FAILURE after a message where stdout could not be
 * written. That the reader of a pipe has gone is no message: it has seen enough.
 */
int output_finish(int status);

#endif /* OUTPUT_H */
