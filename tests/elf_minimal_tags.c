/* SPDX-License-Identifier: MIT */
/*
 * The dynamic section needs DT_STRTAB and DT_SYMTAB and nothing else: not the sizes, not the
 * soname, no relocation tags.
 */
#include "support_elf_image.h"
#include "tap.h"

static const struct image_symbol symbols[] = {
	{.name = "__vdso_time", .version = "LINUX_2.6"},
	{.name = NULL},
};

static void check(int is_64, uint32_t hashes, int is_unversioned)
{
	struct image_plan plan = {.is_64 = is_64,
				  .is_minimal = 1,
				  .is_unversioned = is_unversioned,
				  .hashes = hashes,
				  .symbols = symbols};
	const void *address = NULL;
	struct vclock_elf elf;
	struct image image;
	int r;

	image_build(&image, &plan);
	r = image_open(&image, 1, &elf);
	if (!r)
		r = vclock_elf_lookup(&elf, "__vdso_time", is_unversioned ? NULL : "LINUX_2.6",
				      &address);
	tap_ok(r == 0 && address == image_code(&image, 0) && vclock_elf_soname(&elf) == NULL,
	       "%d-bit, hash tables %u, %s: %s", is_64 ? 64 : 32, hashes,
	       is_unversioned ? "no versions" : "versions", vclock_elf_strerror(r));
	image_free(&image);
}

static void check_missing(int is_64, uint64_t tag, const char *what)
{
	struct vclock_elf elf;
	struct image image;
	int r;

	image_build_vdso(&image, is_64, VCLOCK_ELF_HASH_SYSV);
	image_set(&image, image_tag(&image, tag), Dyn, d_tag, 0x6000000d);
	r = image_open(&image, 1, &elf);
	tap_ok(r == -VCLOCK_ELF_NO_SYMTAB, "%d-bit without %s: %s", is_64 ? 64 : 32, what,
	       vclock_elf_strerror(r));
	image_free(&image);
}

int main(void)
{
	/* E16 */
	for (int is_64 = 0; is_64 < 2; is_64++) {
		for (uint32_t hashes = 0; hashes < 4; hashes++)
			for (int is_unversioned = 0; is_unversioned < 2; is_unversioned++)
				check(is_64, hashes, is_unversioned);
		check_missing(is_64, DT_SYMTAB, "DT_SYMTAB");
		check_missing(is_64, DT_STRTAB, "DT_STRTAB");
	}
	return tap_done();
}
