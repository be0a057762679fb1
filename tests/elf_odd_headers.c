/* SPDX-License-Identifier: MIT */
/*
 * Headers that are unusual but usable are read; unusable ones make the image unusable, each with a
 * reason, and nothing aborts (the sanitizer builds run this too).
 */
#include "support_elf_image.h"
#include "tap.h"

static const struct image_symbol symbols[] = {
	{.name = "__vdso_time", .version = "LINUX_2.6"},
	{.name = "__vdso_getcpu", .version = "LINUX_2.6"},
	{.name = NULL},
};

static int try_image(const struct image *image)
{
	const void *address;
	struct vclock_elf elf;
	int r = image_open(image, 1, &elf);

	if (!r)
		r = vclock_elf_lookup(&elf, "__vdso_getcpu", "LINUX_2.6", &address);
	if (!r && address != image_code(image, 1))
		return 1;
	return r;
}

static void expect(struct image *image, int want, const char *what)
{
	int r = try_image(image);

	tap_ok(r == want, "%d-bit, %s: %s", image->is_64 ? 64 : 32, what, vclock_elf_strerror(r));
	image_free(image);
}

static void build(struct image *image, struct image_plan plan, int is_64)
{
	plan.is_64 = is_64 != 0;
	plan.symbols = symbols;
	plan.hashes = VCLOCK_ELF_HASH_SYSV | VCLOCK_ELF_HASH_GNU;
	image_build(image, &plan);
}

static void check_unusable(int is_64)
{
	struct image_plan plan = {0}, many = {.phdr_spare = 70};
	struct image image;

	build(&image, plan, is_64);
	image_set(&image, 0, Ehdr, e_phnum, 0);
	expect(&image, -VCLOCK_ELF_NO_LOAD, "e_phnum 0");
	build(&image, plan, is_64);
	image_set(&image, 0, Ehdr, e_phnum, 0xffff);
	expect(&image, -VCLOCK_ELF_TRUNCATED, "e_phnum 0xffff");
	build(&image, many, is_64);
	expect(&image, -VCLOCK_ELF_CORRUPT, "72 program headers");
	build(&image, plan, is_64);
	image_set(&image, 0, Ehdr, e_phentsize, 57);
	expect(&image, -VCLOCK_ELF_CLASS, "e_phentsize 57");
	build(&image, plan, is_64);
	image_set(&image, 0, Ehdr, e_ehsize, 63);
	expect(&image, -VCLOCK_ELF_CLASS, "e_ehsize 63");
	build(&image, plan, is_64);
	image_set(&image, 0, Ehdr, e_phoff, 0xfffffff0);
	expect(&image, -VCLOCK_ELF_TRUNCATED, "e_phoff beyond the image");
	build(&image, plan, is_64);
	image_set(&image, image.load, Phdr, p_type, PT_NOTE);
	expect(&image, -VCLOCK_ELF_NO_LOAD, "no PT_LOAD");
	build(&image, plan, is_64);
	image_set(&image, image.dynamic_phdr, Phdr, p_type, PT_NOTE);
	expect(&image, -VCLOCK_ELF_NO_DYNAMIC, "no PT_DYNAMIC");
	build(&image, plan, is_64);
	image_set(&image, image.dynamic_phdr, Phdr, p_filesz, UINT64_MAX);
	expect(&image, -VCLOCK_ELF_TRUNCATED, "a PT_DYNAMIC longer than the image");
	build(&image, plan, is_64);
	image_set(&image, image.load, Phdr, p_memsz, 8);
	expect(&image, -VCLOCK_ELF_TRUNCATED, "a PT_LOAD of 8 bytes");
	build(&image, plan, is_64);
	image_set(&image, image.load, Phdr, p_flags, PF_R);
	expect(&image, -VCLOCK_ELF_CORRUPT, "functions in memory without execute permission");
}

static void check_usable(int is_64)
{
	struct image_plan second = {.load_is_second = 1}, odd = {.is_unaligned = 1};
	struct image_plan spare = {.phdr_spare = 2}, plain = {0};
	struct image image;
	size_t at;

	build(&image, second, is_64);
	expect(&image, 0, "PT_LOAD after PT_DYNAMIC");
	build(&image, odd, is_64);
	expect(&image, image.dynamic % 8 ? 0 : 1, "all tables at odd addresses");

	/* A second PT_DYNAMIC that points at the code: the first one counts. */
	build(&image, spare, is_64);
	at = image.phdr + 2 * image_sizeof(&image, Phdr);
	image_set(&image, at, Phdr, p_type, PT_DYNAMIC);
	image_set(&image, at, Phdr, p_vaddr, image.text);
	image_set(&image, at, Phdr, p_filesz, 32);
	expect(&image, 0, "two PT_DYNAMIC");

	build(&image, plain, is_64);
	image_set(&image, image_tag(&image, DT_SONAME), Dyn, d_tag, 0x6000000d);
	expect(&image, 0, "an unknown tag");

	/* The last entry is not DT_NULL: the segment's size ends the walk. */
	build(&image, plain, is_64);
	at = image_tag(&image, DT_NULL);
	image_set(&image, image.dynamic_phdr, Phdr, p_filesz, at - image.dynamic);
	expect(&image, 0, "a dynamic section without DT_NULL");
}

int main(void)
{
	/* E15 */
	for (int is_64 = 0; is_64 < 2; is_64++) {
		check_unusable(is_64);
		check_usable(is_64);
	}
	return tap_done();
}
