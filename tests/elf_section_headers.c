/* SPDX-License-Identifier: MIT */
/*
 * Section headers are never used: an image without them is complete, and a .symtab in one that has
 * them misleads nobody.
 */
#include "support_elf_image.h"
#include "tap.h"

static int finds(const struct image *image)
{
	const void *address = NULL;
	struct vclock_elf elf;

	return image_open(image, 0, &elf) == 0 &&
	       vclock_elf_lookup(&elf, "__vdso_time", "LINUX_2.6", &address) == 0 &&
	       address == image_code(image, 2);
}

/* A .symtab whose only symbol has the name, and leads to another function's code. */
static void add_misleading_symtab(struct image *image)
{
	size_t symbol = image->size, section = symbol + image_sizeof(image, Sym);

	image_set(image, symbol, Sym, st_name,
		  image_get(image, image_symbol(image, "__vdso_time"), 4));
	image_set(image, symbol, Sym, st_value, image->text);
	image_set(image, symbol, Sym, st_info, ELF64_ST_INFO(STB_GLOBAL, STT_FUNC));
	image_set(image, symbol, Sym, st_shndx, 1);
	image_set(image, section, Shdr, sh_type, SHT_SYMTAB);
	image_set(image, section, Shdr, sh_offset, symbol);
	image_set(image, section, Shdr, sh_size, image_sizeof(image, Sym));
	image_set(image, section, Shdr, sh_entsize, image_sizeof(image, Sym));
	image_set(image, 0, Ehdr, e_shoff, section);
	image_set(image, 0, Ehdr, e_shnum, 1);
	image_set(image, 0, Ehdr, e_shentsize, image_sizeof(image, Shdr));
	image->size = section + image_sizeof(image, Shdr);
}

int main(void)
{
	/* E17 */
	for (int is_64 = 0; is_64 < 2; is_64++) {
		struct image image;

		image_build_vdso(&image, is_64, VCLOCK_ELF_HASH_GNU);
		tap_ok(finds(&image), "%d-bit, e_shoff 0 and e_shnum 0: found", is_64 ? 64 : 32);
		image_set(&image, 0, Ehdr, e_shoff, 0xfffffff0);
		image_set(&image, 0, Ehdr, e_shnum, 0xfff0);
		tap_ok(finds(&image), "%d-bit, section headers outside the file: found",
		       is_64 ? 64 : 32);
		add_misleading_symtab(&image);
		tap_ok(finds(&image), "%d-bit, a misleading .symtab: the dynamic one is used",
		       is_64 ? 64 : 32);
		image_free(&image);
	}
	return tap_done();
}
