/* SPDX-License-Identifier: MIT */
/*
 * The finder reads images with DT_HASH, DT_GNU_HASH, both, or neither, and finds the same functions
 * in each. Without a hash table it needs proof of the number of symbols, else says so.
 */
#include "support_elf_image.h"
#include "tap.h"

#define FUNCTIONS 5u

static const struct image_symbol symbols[] = {
	{.name = "__vdso_clock_gettime", .version = "LINUX_2.6", .result = 1},
	{.name = "__vdso_gettimeofday", .version = "LINUX_2.6", .result = 2},
	{.name = "__vdso_time", .version = "LINUX_2.6", .result = 3},
	{.name = "__vdso_clock_getres", .version = "LINUX_2.6", .result = 4},
	{.name = "__vdso_getcpu", .version = "LINUX_2.6", .result = 5},
	{.name = "first", .is_undefined = 1},
	{.name = "second", .is_undefined = 1},
	{.name = "third", .is_undefined = 1},
	{.name = NULL},
};

static int finds_all(const struct image *image, const struct vclock_elf *elf)
{
	const void *address;

	for (size_t i = 0; i < FUNCTIONS; i++) {
		if (vclock_elf_lookup(elf, symbols[i].name, "LINUX_2.6", &address) ||
		    address != image_code(image, i))
			return 0;
	}
	return 1;
}

static void check(int is_64, int is_mapped, uint32_t hashes, const char *what)
{
	struct image_plan plan = {.is_64 = is_64, .hashes = hashes, .symbols = symbols};
	struct vclock_elf elf;
	struct image image;
	int r;

	image_build(&image, &plan);
	r = image_open(&image, is_mapped, &elf);
	tap_ok(r == 0 && elf.hashes == hashes && elf.symtab_count == 9 && finds_all(&image, &elf),
	       "%d-bit %s with %s: all five functions, each at its own address (%s)",
	       is_64 ? 64 : 32, is_mapped ? "mapped image" : "file", what, vclock_elf_strerror(r));
	image_free(&image);
}

/* The case asks for undefined symbols before the hashed ones and for a chain of two. */
static void check_gnu_shape(int is_64)
{
	struct image_plan plan = {
		.is_64 = is_64, .hashes = VCLOCK_ELF_HASH_GNU, .symbols = symbols};
	struct image image;

	image_build(&image, &plan);
	tap_ok(image_get(&image, image.gnu, 4) == 3 && image_get(&image, image.gnu + 4, 4) == 4,
	       "the %d-bit GNU table has 3 buckets for 5 functions and begins at symbol 4",
	       is_64 ? 64 : 32);
	image_free(&image);
}

static void check_unproven(int is_64)
{
	struct image_plan plan = {.is_64 = is_64, .has_gap = 1, .symbols = symbols};
	struct vclock_elf elf = {.size = 77};
	struct image image;
	int r;

	image_build(&image, &plan);
	r = image_open(&image, 1, &elf);
	tap_ok(r == -VCLOCK_ELF_NO_HASH && elf.size == 77,
	       "%d-bit without a hash table, symbols and strings apart: %s", is_64 ? 64 : 32,
	       vclock_elf_strerror(r));
	image_free(&image);
}

/* Another table begins before the strings do: the symbols end there, or nobody knows where. */
static void check_between(int is_64)
{
	struct image_plan plan = {.is_64 = is_64, .symbols = symbols};
	struct vclock_elf elf;
	struct image image;
	int r;

	image_build(&image, &plan);
	image_set(&image, image_tag(&image, DT_VERSYM), Dyn, d_un,
		  image.symtab + 2 * image_sizeof(&image, Sym));
	r = image_open(&image, 1, &elf);
	tap_ok(r == -VCLOCK_ELF_NO_HASH, "%d-bit without a hash table, a table in between: %s",
	       is_64 ? 64 : 32, vclock_elf_strerror(r));
	image_free(&image);
}

int main(void)
{
	/* E01, E02 */
	for (int is_64 = 0; is_64 < 2; is_64++) {
		check_gnu_shape(is_64);
		for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
			check(is_64, is_mapped, VCLOCK_ELF_HASH_SYSV, "DT_HASH");
			check(is_64, is_mapped, VCLOCK_ELF_HASH_GNU, "DT_GNU_HASH");
			check(is_64, is_mapped, VCLOCK_ELF_HASH_SYSV | VCLOCK_ELF_HASH_GNU, "both");
			check(is_64, is_mapped, 0, "neither, strings right after symbols");
		}
		check_unproven(is_64);
		check_between(is_64);
	}
	return tap_done();
}
