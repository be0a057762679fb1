/* SPDX-License-Identifier: MIT */
/*
 * A version is matched through DT_VERSYM and DT_VERDEF alone: the wrong one has a reason of its
 * own, an image without version tables another, and the symbol that names the version is not
 * needed.
 */
#include <string.h>

#include "support_elf_image.h"
#include "tap.h"

static const struct image_symbol symbols[] = {
	{.name = "__vdso_clock_gettime", .version = "LINUX_2.7", .result = 1},
	{.name = "__vdso_time", .version = "LINUX_2.6", .result = 2},
	{.name = "twice", .version = "LINUX_2.6", .result = 3},
	{.name = "twice", .version = "LINUX_2.7", .result = 4},
	{.name = "plain", .result = 5},
	{.name = NULL},
};

static struct image image;
static struct vclock_elf elf;

static void check(const char *name, const char *version, int want, int code)
{
	const void *address = &image;
	int r = vclock_elf_lookup(&elf, name, version, &address);

	tap_ok(r == want && address == (r ? (void *)&image : image_code(&image, (size_t)code)),
	       "%s with version %s: %s", name, version ? version : "(any)", vclock_elf_strerror(r));
}

static void check_versioned(void)
{
	/* E08 */
	check("__vdso_clock_gettime", "LINUX_2.6", -VCLOCK_ELF_VERSION, 0);
	check("__vdso_clock_gettime", "LINUX_2.7", 0, 0);
	check("__vdso_clock_gettime", NULL, 0, 0);
	check("__vdso_clock_gettime", "LINUX_9.9", -VCLOCK_ELF_VERSION, 0);
	check("nothing", "LINUX_2.6", -VCLOCK_ELF_NOT_FOUND, 0);
	check("twice", "LINUX_2.6", 0, 2);
	check("twice", "LINUX_2.7", 0, 3);
	/* The base definition bears the soname; it is no version. */
	check("plain", vclock_elf_soname(&elf), -VCLOCK_ELF_VERSION, 0);
	check("plain", NULL, 0, 4);
	/* E09: no symbol called LINUX_2.6 in this image. */
	tap_ok(image_symbol(&image, "LINUX_2.6") == 0, "no symbol names the version");
	check("__vdso_time", "LINUX_2.6", 0, 1);
}

static void check_hidden(void)
{
	size_t index =
		(image_symbol(&image, "__vdso_time") - image.symtab) / image_sizeof(&image, Sym);
	size_t at = image.versym + 2 * index;

	image_put(&image, at, 2, image_get(&image, at, 2) | 0x8000);
	check("__vdso_time", "LINUX_2.6", 0, 1);
	image_put(&image, at, 2, VER_NDX_LOCAL);
	check("__vdso_time", "LINUX_2.6", -VCLOCK_ELF_NOT_FOUND, 0);
	check("__vdso_time", NULL, -VCLOCK_ELF_NOT_FOUND, 0);
}

static void check_listing(void)
{
	size_t index = (image_symbol(&image, "__vdso_clock_gettime") - image.symtab) /
		       image_sizeof(&image, Sym);
	struct vclock_elf_symbol symbol = {.name = NULL};
	int r = vclock_elf_symbol(&elf, index, &symbol);

	tap_ok(r == 0 && strcmp(symbol.name, "__vdso_clock_gettime") == 0 &&
		       symbol.version != NULL && strcmp(symbol.version, "LINUX_2.7") == 0,
	       "a listing gives the symbol's own version");
	tap_ok(vclock_elf_symbol(&elf, elf.symtab_count, &symbol) == -VCLOCK_ELF_CORRUPT,
	       "a listing ends with the symbols");
}

/* E07: no version tables at all. */
static void check_unversioned(int is_64)
{
	struct image_plan plan = {.is_64 = is_64,
				  .is_unversioned = 1,
				  .hashes = VCLOCK_ELF_HASH_SYSV,
				  .symbols = symbols};

	image_build(&image, &plan);
	if (tap_ok(image_open(&image, 1, &elf) == 0, "%d-bit image without versions",
		   is_64 ? 64 : 32)) {
		check("__vdso_time", NULL, 0, 1);
		check("__vdso_time", "LINUX_2.6", -VCLOCK_ELF_UNVERSIONED, 0);
		check("nothing", "LINUX_2.6", -VCLOCK_ELF_NOT_FOUND, 0);
	}
	image_free(&image);
}

int main(void)
{
	for (int is_64 = 0; is_64 < 2; is_64++) {
		struct image_plan plan = {
			.is_64 = is_64, .hashes = VCLOCK_ELF_HASH_GNU, .symbols = symbols};

		image_build(&image, &plan);
		if (tap_ok(image_open(&image, 1, &elf) == 0, "%d-bit image with two versions",
			   is_64 ? 64 : 32)) {
			check_versioned();
			check_listing();
			check_hidden();
		}
		image_free(&image);
		check_unversioned(is_64);
	}
	return tap_done();
}
