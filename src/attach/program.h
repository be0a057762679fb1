/* SPDX-License-Identifier: MIT */
/*
 * program.h - finds the file that execve will run, and whether it may be traced over it.
 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include <stddef.h>

#define PROGRAM_PATH_MAX 4096

/*
 * As glibc's execvp does: name itself when it has a slash, else the first file of that name in
 * $PATH that may be executed. 0 or -errno: -ENOENT, -EACCES (found, and none may be executed) and
 * others.
 */
int program_find(const char *name, char *ret_path, size_t size);

/*
 * NULL, or why the program must not be traced, in plain words: it, or the interpreter of a script,
 * gets rights by its file, which the kernel withholds from a traced program without a word; or it
 * cannot be read, and then neither can its memory; or there is no image for its word size, or no
 * vDSO of the kernel's, which the image takes the place of.
 */
const char *program_refusal(const char *path);

#endif /* PROGRAM_H */
