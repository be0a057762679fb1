/* SPDX-License-Identifier: MIT */
/* vdso_check.h - `vclock vdso --check`: whether a file is an image as vclock's must be. */
#ifndef VDSO_CHECK_H
#define VDSO_CHECK_H

#include <stddef.h>

/* Prints a line for each rule and one for each finding, or one JSON object. CLI_GOOD or CLI_WRONG;
 * CLI_IMPOSSIBLE, after a message, when a rule could not be checked in this build. */
int vdso_check(const char *object, const unsigned char *bytes, size_t size, int as_json);

#endif /* VDSO_CHECK_H */
