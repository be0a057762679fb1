/* SPDX-License-Identifier: MIT */
/*
 * fuzz_proc.c - the text of /proc/PID/maps and the bytes of /proc/PID/auxv, both from any bytes.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "attach/auxv.h"
#include "attach/maps.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int cond, const char *what)
{
	if (cond)
		return;
	fprintf(stderr, "fuzz_proc: %s\n", what);
	abort();
}

static void check_line(const char *text, size_t length)
{
	struct maps_line line;

	if (maps_parse(text, length, &line) != 0)
		return;
	require(line.start < line.end, "an empty mapping");
	require(line.name >= text && line.name + line.name_length <= text + length,
		"a name outside the line");
	require(memchr(line.name, '\n', line.name_length) == NULL, "a name beyond the line");
	require(!maps_is_vdso(&line) || line.inode == 0, "a file as the vDSO");
}

static void check_maps(const char *text, size_t size)
{
	while (size > 0) {
		const char *newline = memchr(text, '\n', size);
		size_t length = newline ? (size_t)(newline + 1 - text) : size;

		check_line(text, length);
		text += length;
		size -= length;
	}
}

static void check_auxv(const uint8_t *data, size_t size)
{
	unsigned int word = auxv_word_size(data, size);
	uint64_t value = 0, page = 0;

	require(word == 0 || word == 4 || word == 8, "a word of another size");
	if (word == 0)
		return;
	require(auxv_find(data, size, word, 6, &page) && page >= 4096, "no page size");
	auxv_find(data, size, word, 33, &value);
	require(word == 8 || value <= UINT32_MAX, "a 32-bit value beyond 32 bits");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	check_maps((const char *)data, size);
	check_auxv(data, size);
	return 0;
}
