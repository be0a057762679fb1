/* SPDX-License-Identifier: MIT */
/*
 * support_elf_check.c - see support_elf_check.h.
 */
#include "support_elf_check.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "elf/elf_image.h"

/* A listing of more symbols shows nothing new, and would make a large corrupt file slow. */
#define SYMBOLS_SHOWN 256u

int elf_check_is_inside(const void *image, size_t size, const void *address)
{
	return (uintptr_t)address - (uintptr_t)image < size;
}

int elf_check_is_text(const void *image, size_t size, const char *text)
{
	size_t into = (size_t)((uintptr_t)text - (uintptr_t)image);

	return into < size && memchr(text, '\0', size - into) != NULL;
}

static const char *check_lookup(const struct vclock_elf *elf, const char *name, const char *version)
{
	static const char untouched[1];
	const void *address = untouched;
	int r = vclock_elf_lookup(elf, name, version, &address);

	if (r == 0)
		return elf_check_is_inside(elf->image, elf->size, address)
			       ? NULL
			       : "an address lies outside the image";
	if (address != untouched)
		return "a failed look-up touched its result";
	if (r != -VCLOCK_ELF_NOT_FOUND && r != -VCLOCK_ELF_VERSION &&
	    r != -VCLOCK_ELF_UNVERSIONED && r != -VCLOCK_ELF_CORRUPT)
		return "a look-up gave an undocumented error";
	return NULL;
}

static const char *check_symbol(const struct vclock_elf *elf, uint64_t index)
{
	struct vclock_elf_symbol symbol;
	const char *broken;

	if (vclock_elf_symbol(elf, index, &symbol))
		return NULL;
	if (!elf_check_is_text(elf->image, elf->size, symbol.name))
		return "a name is not text of the image";
	if (symbol.version && !elf_check_is_text(elf->image, elf->size, symbol.version))
		return "a version is not text of the image";
	broken = check_lookup(elf, symbol.name, NULL);
	return broken ? broken : check_lookup(elf, symbol.name, symbol.version);
}

static const char *check_names(const struct vclock_elf *elf)
{
	static const char *const names[] = {"", "__vdso_clock_gettime", "__vdso_clock_gettime64",
					    "__kernel_clock_gettime", "__vdso_getcpu"};
	static const char *const versions[] = {NULL, "", "LINUX_2.6", "LINUX_2.6.39"};
	const char *broken = NULL;

	for (size_t i = 0; !broken && i < sizeof(names) / sizeof(names[0]); i++)
		for (size_t j = 0; !broken && j < sizeof(versions) / sizeof(versions[0]); j++)
			broken = check_lookup(elf, names[i], versions[j]);
	return broken;
}

static const char *check_opened(const struct vclock_elf *elf)
{
	const char *soname = vclock_elf_soname(elf), *broken = check_names(elf);

	if (soname && !elf_check_is_text(elf->image, elf->size, soname))
		return "the soname is not text of the image";
	for (uint64_t i = 0; !broken && i < elf->symtab_count && i < SYMBOLS_SHOWN; i++)
		broken = check_symbol(elf, i);
	return broken;
}

static const char *check_find(const unsigned char *image, size_t size)
{
	struct vclock_vdso vdso;
	const void *found[6];

	if (size == 0 || vclock_vdso_find(image, size, &vdso))
		return NULL;
	found[0] = vdso.clock_gettime;
	found[1] = vdso.clock_gettime32;
	found[2] = vdso.gettimeofday;
	found[3] = vdso.time;
	found[4] = vdso.clock_getres;
	found[5] = vdso.getcpu;
	for (int i = 0; i < 6; i++)
		if (found[i] && !elf_check_is_inside(image, size, found[i]))
			return "a function of the vDSO lies outside the image";
	return NULL;
}

static const char *check_size(const unsigned char *image, size_t size)
{
	const size_t max = 1 << 20;
	size_t mapped = 0;

	if (elf_mapped_size(image, size, max, &mapped) == 0 && mapped > max)
		return "the image's own size is beyond the limit";
	return NULL;
}

const char *elf_check(const unsigned char *bytes, size_t size)
{
	const char *broken = NULL;
	struct vclock_elf elf;
	void *image;

	if (posix_memalign(&image, 4096, size ? size : 1))
		return "no memory";
	memcpy(image, bytes, size);
	for (int is_mapped = 0; !broken && is_mapped < 2; is_mapped++) {
		memset(&elf, 0x5a, sizeof(elf));
		if (vclock_elf_open(image, size, is_mapped, &elf) == 0)
			broken = check_opened(&elf);
		else if (elf.size != (size_t)0x5a5a5a5a5a5a5a5aULL)
			broken = "a refused image touched its result";
	}
	if (!broken)
		broken = check_size(image, size);
	if (!broken)
		broken = check_find(image, size);
	if (!broken && memcmp(image, bytes, size) != 0)
		broken = "the image was written to";
	free(image);
	return broken;
}
