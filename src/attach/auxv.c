/* SPDX-License-Identifier: MIT */
/*
 * auxv.c - see auxv.h.
 */
#include "attach/auxv.h"

#include <elf.h>
#include <string.h>

static uint64_t word_at(const unsigned char *bytes, unsigned int word)
{
	uint32_t narrow;
	uint64_t wide;

	if (word == 8) {
		memcpy(&wide, bytes, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, bytes, sizeof(narrow));
	return narrow;
}

bool auxv_find(const void *auxv, size_t size, unsigned int word, uint64_t type, uint64_t *ret_value)
{
	const unsigned char *bytes = auxv;
	size_t step = 2 * (size_t)word;

	for (; size >= step; bytes += step, size -= step) {
		uint64_t have = word_at(bytes, word);

		if (have == AT_NULL)
			return false;
		if (have == type) {
			*ret_value = word_at(bytes + word, word);
			return true;
		}
	}
	return false;
}

/* Read with the wrong word, types and values get mixed: no page size of 4 KiB to 1 MiB comes out.
 */
static bool makes_sense(const void *auxv, size_t size, unsigned int word)
{
	uint64_t page;

	return auxv_find(auxv, size, word, AT_PAGESZ, &page) && page >= 4096 && page <= 1 << 20 &&
	       (page & (page - 1)) == 0;
}

unsigned int auxv_word_size(const void *auxv, size_t size)
{
	if (makes_sense(auxv, size, 8))
		return 8;
	return makes_sense(auxv, size, 4) ? 4 : 0;
}
