/* SPDX-License-Identifier: MIT */
/*
 * image_file.h - the file of a vDSO image, looked at before a program gets it: a cut or strange one
 * would end the program at its first clock.
 */
#ifndef IMAGE_FILE_H
#define IMAGE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "attach/image_arch.h"

/*
 * Whether the bytes are a whole file with an image of vclock's for arch: by its headers, its tables
 * and an export of its own. The link rule judged its code.
 */
bool image_file_is_good(const struct image_arch *arch, const void *bytes, size_t size);

/*
 * Opens FOLDER/vdso-NAME.so. A descriptor for reading, close-on-exec, and the file's size; or
 * -errno: -ENOEXEC where the file is not good.
 */
int image_file_open(const char *folder, const struct image_arch *arch, size_t *ret_size);

#endif /* IMAGE_FILE_H */
