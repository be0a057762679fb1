/* SPDX-License-Identifier: MIT */
/*
 * Names of every length are compared within the string table; a name that does not end there, an
 * empty one, and a symbol that is undefined or has no value are never found.
 */
#include <string.h>

#include "support_elf_image.h"
#include "tap.h"

#define SHORT "a"
#define LENGTH_31 "abcdefghijklmnopqrstuvwxyz01234"
#define LENGTH_32 "bbcdefghijklmnopqrstuvwxyz012345"
#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LENGTH_200 HUNDRED HUNDRED

static const struct image_symbol symbols[] = {
	{.name = SHORT, .result = 1},
	{.name = LENGTH_31, .result = 2},
	{.name = LENGTH_32, .result = 3},
	{.name = LENGTH_200, .result = 4},
	{.name = "", .result = 5},
	{.name = "undefined", .is_undefined = 1},
	{.name = "valueless", .is_valueless = 1},
	{.name = "absolute", .is_absolute = 1},
	{.name = "object", .type = STT_OBJECT},
	{.name = "resolver", .type = STT_GNU_IFUNC},
	{.name = "untyped", .type = STT_NOTYPE, .result = 6},
	{.name = "weak", .bind = STB_WEAK, .result = 7},
	{.name = "last", .result = 8},
	{.name = NULL},
};

static struct image image;
static struct vclock_elf elf;

static int lookup(const char *name)
{
	const void *address = NULL;
	int r = vclock_elf_lookup(&elf, name, NULL, &address);

	return r ? r : address != NULL ? 0 : 1;
}

static void check_lengths(void)
{
	static const char *const wanted[] = {SHORT, LENGTH_31, LENGTH_32, LENGTH_200};
	char name[210];

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		size_t length = strlen(wanted[i]);
		const void *address = NULL;

		tap_ok(vclock_elf_lookup(&elf, wanted[i], NULL, &address) == 0 &&
			       address == image_code(&image, i),
		       "a name of %zu characters", length);
		memcpy(name, wanted[i], length);
		name[length] = 'x';
		name[length + 1] = '\0';
		tap_ok(lookup(name) == -VCLOCK_ELF_NOT_FOUND, "not with one character more");
		name[length - 1] = '\0';
		tap_ok(lookup(name) == -VCLOCK_ELF_NOT_FOUND, "not with one character less");
	}
}

static void check_kinds(void)
{
	static const char *const never[] = {"",		"undefined", "valueless",
					    "absolute", "object",    "resolver"};

	for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++)
		tap_ok(lookup(never[i]) == -VCLOCK_ELF_NOT_FOUND, "never found: '%s'", never[i]);
	tap_ok(lookup("weak") == 0, "a weak function is found");
	tap_ok(lookup("last") == 0, "the good function among them is found");
}

/* The table's last string loses its NUL: DT_STRSZ ends before it. */
static void check_unterminated(void)
{
	size_t at = image_tag(&image, DT_STRSZ), name = image_symbol(&image, "last"), end;
	struct vclock_elf_symbol symbol;
	struct vclock_elf cut;
	const void *address = NULL;
	int r;

	end = (size_t)image_get(&image, name, 4) + strlen("last");
	image_set(&image, at, Dyn, d_un, end);
	r = image_open(&image, 1, &cut);
	tap_ok(r == 0 && vclock_elf_lookup(&cut, "last", NULL, &address) == -VCLOCK_ELF_NOT_FOUND,
	       "a name without its NUL in the table is not found");
	tap_ok(r == 0 && vclock_elf_lookup(&cut, SHORT, NULL, &address) == 0,
	       "the others still are");
	at = (name - image.symtab) / image_sizeof(&image, Sym);
	tap_ok(r == 0 && vclock_elf_symbol(&cut, at, &symbol) == -VCLOCK_ELF_CORRUPT,
	       "its entry in a listing is an error");
}

/* An untyped function, as some architectures have them: STT_NOTYPE is 0, so poke it. */
static void check_untyped(void)
{
	image_set(&image, image_symbol(&image, "untyped"), Sym, st_info,
		  ELF64_ST_INFO(STB_GLOBAL, STT_NOTYPE));
	tap_ok(lookup("untyped") == 0, "a function without a type is found");
	image_set(&image, image_symbol(&image, "untyped"), Sym, st_info,
		  ELF64_ST_INFO(STB_LOCAL, STT_FUNC));
	tap_ok(lookup("untyped") == -VCLOCK_ELF_NOT_FOUND, "a local one is not");
}

int main(void)
{
	/* E04, E10 */
	for (int is_64 = 0; is_64 < 2; is_64++) {
		struct image_plan plan = {
			.is_64 = is_64, .hashes = VCLOCK_ELF_HASH_SYSV, .symbols = symbols};

		image_build(&image, &plan);
		if (!tap_ok(image_open(&image, 1, &elf) == 0, "%d-bit image", is_64 ? 64 : 32))
			continue;
		check_lengths();
		check_kinds();
		check_untyped();
		check_unterminated();
		image_free(&image);
	}
	return tap_done();
}
