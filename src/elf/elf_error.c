/* SPDX-License-Identifier: MIT */
/*
 * elf_error.c - the reasons of elf.h in words. The table holds the text itself: an array of
 * pointers would need relocations.
 */
#include "vclock/elf.h"

static const char elf_words[][48] = {
	[VCLOCK_ELF_OK] = "no error",
	[VCLOCK_ELF_ABSENT] = "no image",
	[VCLOCK_ELF_NOT_ELF] = "not an ELF file",
	[VCLOCK_ELF_CLASS] = "wrong ELF class or header size",
	[VCLOCK_ELF_BYTE_ORDER] = "foreign byte order",
	[VCLOCK_ELF_TYPE] = "not a shared object",
	[VCLOCK_ELF_MACHINE] = "for another machine",
	[VCLOCK_ELF_TRUNCATED] = "a header or table lies outside the image",
	[VCLOCK_ELF_NO_LOAD] = "no loadable segment",
	[VCLOCK_ELF_NO_DYNAMIC] = "no dynamic section",
	[VCLOCK_ELF_NO_SYMTAB] = "no DT_SYMTAB or no DT_STRTAB",
	[VCLOCK_ELF_NO_HASH] = "no usable hash table",
	[VCLOCK_ELF_CORRUPT] = "corrupt image",
	[VCLOCK_ELF_NOT_FOUND] = "no such symbol",
	[VCLOCK_ELF_VERSION] = "present, version mismatch",
	[VCLOCK_ELF_UNVERSIONED] = "the image has no versions",
	[VCLOCK_ELF_ADDRESS] = "the address is not that of a page",
};

const char *vclock_elf_strerror(int error)
{
	unsigned int index = error < 0 ? 0U - (unsigned int)error : (unsigned int)error;

	if (index >= sizeof(elf_words) / sizeof(elf_words[0]))
		return "unknown error";
	return elf_words[index];
}
