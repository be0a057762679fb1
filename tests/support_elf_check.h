/* SPDX-License-Identifier: MIT */
/*
 * support_elf_check.h - runs the finder over hostile bytes and holds its answers against its
 * promises. Shared by the fuzz target, the replay of its corpus and the test of mutations.
 */
#ifndef SUPPORT_ELF_CHECK_H
#define SUPPORT_ELF_CHECK_H

#include <stddef.h>

/*
 * Opens the bytes as a file, as a mapped image and as this process's vDSO, lists and looks up what
 * is in them. NULL, or the promise that was broken. The bytes are copied first, to memory of
 * exactly that size, so that a sanitizer sees a read past the end.
 */
const char *elf_check(const unsigned char *bytes, size_t size);

/* The two questions that it asks of each answer. */
int elf_check_is_inside(const void *image, size_t size, const void *address);
int elf_check_is_text(const void *image, size_t size, const char *text);

#endif /* SUPPORT_ELF_CHECK_H */
