/* SPDX-License-Identifier: MIT */
/*
 * An image linked at any address, the highest ones too, gives the same functions as one linked at
 * 0, and what is found can be called.
 */
#include "support_elf_image.h"
#include "tap.h"

static void check(int is_64, int is_mapped, uint64_t vaddr, size_t load_offset)
{
	static const struct image_symbol symbols[] = {
		{.name = "__vdso_time", .version = "LINUX_2.6", .result = 4711},
		{.name = "__vdso_getcpu", .version = "LINUX_2.6", .result = 4712},
		{.name = NULL},
	};
	struct image_plan plan = {.is_64 = is_64,
				  .vaddr = vaddr,
				  .hashes = VCLOCK_ELF_HASH_SYSV | VCLOCK_ELF_HASH_GNU,
				  .symbols = symbols};
	const void *address = NULL;
	struct vclock_elf elf;
	struct image image;
	int r, result = 0;
	uint64_t value;

	image_build(&image, &plan);
	/* The segment may leave out the file's first bytes; the bias is the same. */
	image_set(&image, image.load, Phdr, p_offset, load_offset);
	image_set(&image, image.load, Phdr, p_vaddr, vaddr + load_offset);
	image_set(&image, image.load, Phdr, p_filesz, image.size - load_offset);
	image_set(&image, image.load, Phdr, p_memsz, image.size - load_offset);
	r = image_open(&image, is_mapped, &elf);
	if (!r)
		r = vclock_elf_lookup(&elf, "__vdso_getcpu", "LINUX_2.6", &address);
	tap_ok(r == 0 && address == image_code(&image, 1),
	       "%d-bit %s linked at 0x%llx, loaded from byte %zu: %s", is_64 ? 64 : 32,
	       is_mapped ? "mapped image" : "file", (unsigned long long)vaddr, load_offset,
	       vclock_elf_strerror(r));
	value = vaddr + image.text + IMAGE_CODE_STEP;
	tap_ok(r == 0 && value + elf.bias ==
				 (is_mapped ? (uintptr_t)address : image.text + IMAGE_CODE_STEP),
	       "value + bias is the function's place");
	if (r == 0)
		result = ((int (*)(void))(uintptr_t)address)();
	tap_ok(result == 4712, "the function can be called");
	image_free(&image);
}

int main(void)
{
	/* E11, E13 */
	for (int is_mapped = 0; is_mapped < 2; is_mapped++) {
		check(1, is_mapped, 0, 0);
		check(1, is_mapped, 0xffffffffff700000, 0);
		check(1, is_mapped, 0x7ffff0000000, 0);
		check(0, is_mapped, 0, 0);
		check(0, is_mapped, 0xffffe000 - 0x10000, 0);
		check(0, is_mapped, 0x8048000, 0);
		check(0, is_mapped, 0x8048000, 32);
		check(1, is_mapped, 0xffffffffff700000, 64);
	}
	return tap_done();
}
