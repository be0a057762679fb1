/* SPDX-License-Identifier: MIT */
/*
 * output.h - stdout: the only file of the command that writes to it, so that the reason of the
 * first failed write is known, whichever it was.
 */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdbool.h>

/*
 * At the start of the program: a descriptor that the caller closed would be given to the next file
 * that is opened here, and stdout's text would go into it. What is put there is read-only, so that
 * a write to it still fails, and a program that this process becomes finds it closed again.
 */
void output_begin(void);

void output(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Whether all of it could be written so far. */
bool output_flush(void);

/*
 * At the end of the program: status, or CLI_FAILURE after a message where stdout could not be
 * written. That the reader of a pipe has gone is no message: it has seen enough.
 */
int output_finish(int status);

#endif /* OUTPUT_H */
