/* SPDX-License-Identifier: MIT */
/*
 * The auxiliary vector of a 64- and of a 32-bit process is read with the right word, told from the
 * bytes alone; one without a vDSO, an empty one and a cut one give none.
 */
#include <elf.h>
#include <string.h>

#include "attach/auxv.h"
#include "tap.h"

static unsigned char bytes[256];
static size_t size;

static void put(unsigned int word, uint64_t type, uint64_t value)
{
	const uint64_t pair[2] = {type, value};

	for (int i = 0; i < 2; i++) {
		uint32_t narrow = (uint32_t)pair[i];

		memcpy(bytes + size, word == 8 ? (const void *)&pair[i] : (const void *)&narrow,
		       word);
		size += word;
	}
}

static uint64_t find(uint64_t type)
{
	unsigned int word = auxv_word_size(bytes, size);
	uint64_t value = 77;

	if (word == 0 || !auxv_find(bytes, size, word, type, &value))
		return 77;
	return value;
}

static void check_word(unsigned int word)
{
	const uint64_t address = word == 8 ? 0x7ffc10004000 : 0xf7f00000;

	size = 0;
	put(word, AT_SYSINFO_EHDR, address);
	put(word, AT_HWCAP, 0x178bfbff);
	put(word, AT_PAGESZ, 4096);
	put(word, AT_SECURE, 0);
	put(word, AT_NULL, 0);
	put(word, AT_CLKTCK, 100);
	tap_ok(auxv_word_size(bytes, size) == word, "%u-byte words are recognised", word);
	tap_ok(find(AT_SYSINFO_EHDR) == address, "the vDSO's address");
	tap_ok(find(AT_SECURE) == 0 && find(AT_BASE) == 77, "a zero is not a missing entry");
	tap_ok(find(AT_CLKTCK) == 77, "nothing behind AT_NULL counts");
	size = 5 * word;
	tap_ok(auxv_word_size(bytes, size) == 0, "cut in AT_PAGESZ: neither");
}

/* V10: no vDSO is no vDSO, not one at 0. */
static void check_without(unsigned int word)
{
	size = 0;
	put(word, AT_PAGESZ, 65536);
	put(word, AT_NULL, 0);
	tap_ok(auxv_word_size(bytes, size) == word && find(AT_SYSINFO_EHDR) == 77,
	       "%u-byte words without the entry: none", word);
}

int main(void)
{
	check_word(8);
	check_word(4);
	check_without(8);
	check_without(4);
	tap_ok(auxv_word_size(bytes, 0) == 0, "an empty vector, as kernel threads have: neither");
	memset(bytes, 0xff, sizeof(bytes));
	tap_ok(auxv_word_size(bytes, sizeof(bytes)) == 0, "a vector of ones: neither");
	memset(bytes, 0, sizeof(bytes));
	tap_ok(auxv_word_size(bytes, sizeof(bytes)) == 0, "a vector of zeros: neither");
	return tap_done();
}
