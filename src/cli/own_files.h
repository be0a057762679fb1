/* SPDX-License-Identifier: MIT */
/*
 * own_files.h - where the files are that belong to this program: beside it, in the tree that it was
 * built in or where it was installed, whatever that folder is called now.
 */
#ifndef OWN_FILES_H
#define OWN_FILES_H

#include <stdbool.h>
#include <stddef.h>

/*
 * The first of places, as seen from the program's own folder, that this user may execute, or enter.
 * NULL ends the list. False: none of them is there, or it cannot be told where the program is.
 */
bool own_file(const char *const *places, char *ret_path, size_t size);

/* The folder where the parts of an installed vclock are, as the build was told. */
const char *own_parts(void);

/* The vDSO images; else where they are installed. Never NULL; static text, until the next call. */
const char *own_images(void);

#endif /* OWN_FILES_H */
