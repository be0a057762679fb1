/* SPDX-License-Identifier: MIT */
/*
 * auxv.h - the bytes of /proc/PID/auxv. Opens nothing; any bytes are safe.
 */
#ifndef AUXV_H
#define AUXV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Bytes of a word in this vector: 8 or 4, as the process is 64- or 32-bit, told from its AT_PAGESZ.
 * 0: neither makes sense, as in a kernel thread's, which is empty.
 */
unsigned int auxv_word_size(const void *auxv, size_t size);

/* The value of the first entry of that type, before AT_NULL. */
bool auxv_find(const void *auxv, size_t size, unsigned int word, uint64_t type,
	       uint64_t *ret_value);

#endif /* AUXV_H */
