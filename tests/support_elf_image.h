/* SPDX-License-Identifier: MIT */
/*
 * support_elf_image.h - builds small vDSO-like ELF images in memory, and breaks them.
 *
 * An image is one PT_LOAD (R+X) from offset 0 that holds everything, and a PT_DYNAMIC. No section
 * headers unless a test writes some. Code of symbol i is at text + 16 * i, and returns its result:
 * of the machine that the test runs on, whatever the image says.
 */
#ifndef SUPPORT_ELF_IMAGE_H
#define SUPPORT_ELF_IMAGE_H

#include <elf.h>
#include <stddef.h>
#include <stdint.h>

#include "vclock/elf.h"

#define IMAGE_ROOM 16384u /* bytes for an image, many times what one needs */
#define IMAGE_SYMBOLS_MAX 32u
#define IMAGE_CODE_STEP 16u

struct image_symbol {
	const char *name;
	const char *version; /* NULL: the base version, which is none */
	uint32_t result;     /* what its code returns */
	uint8_t type, bind;  /* 0: STT_FUNC, STB_GLOBAL */
	uint8_t is_undefined, is_valueless, is_absolute;
};

struct image_plan {
	uint8_t is_64;
	uint8_t is_unversioned; /* no DT_VERSYM, no DT_VERDEF */
	uint8_t is_minimal;	/* no DT_STRSZ, DT_SYMENT, DT_SONAME, DT_VERDEFNUM */
	uint8_t is_unaligned;	/* every table but dynsym and dynstr one byte off */
	uint8_t has_gap;	/* between dynsym and dynstr: their places prove nothing */
	uint8_t load_is_second; /* PT_LOAD comes after PT_DYNAMIC */
	uint8_t phdr_spare;	/* so many more program headers, PT_NULL, for a test to fill */
	uint16_t machine;	/* 0: EM_X86_64 or EM_386, by is_64 */
	uint64_t vaddr;		/* p_vaddr of PT_LOAD */
	uint32_t hashes;	/* enum vclock_elf_hash; 0: neither */
	uint32_t sysv_buckets, gnu_buckets; /* 0: 3 */
	const struct image_symbol *symbols; /* ended by a NULL name */
};

/* Offsets in bytes; 0: the image has no such table. */
struct image {
	unsigned char *bytes; /* IMAGE_ROOM of them, page aligned, writable and executable */
	size_t size;	      /* used, and the size of PT_LOAD */
	uint8_t is_64;
	uint64_t vaddr;
	size_t phdr, load, dynamic_phdr, dynamic, symtab, strtab, versym, verdef, sysv, gnu, text;
	size_t symbols; /* with the null symbol */
};

/* Aborts when the plan does not fit: a plan is the test's own. Free with image_free(). */
void image_build(struct image *image, const struct image_plan *plan);
void image_free(struct image *image);

/* The image with the functions of the architecture's kernel and a version definition for them. */
void image_build_vdso(struct image *image, int is_64, uint32_t hashes);

/* Where the dynamic section's entry with this tag lies; 0: it has none. */
size_t image_tag(const struct image *image, uint64_t tag);
/* Where the symbol table's entry of this name lies; 0: it has none. */
size_t image_symbol(const struct image *image, const char *name);
/* The code of the plan's symbol number i. */
const void *image_code(const struct image *image, size_t i);

void image_put(struct image *image, size_t offset, size_t size, uint64_t value);
uint64_t image_get(const struct image *image, size_t offset, size_t size);

/* image_set(&image, offset of an Elf_Sym, Sym, st_value, 5) */
#define image_set(image, offset, type, field, value)                                   \
	((image)->is_64 ? image_put((image), (offset) + offsetof(Elf64_##type, field), \
				    sizeof(((Elf64_##type *)0)->field), (value))       \
			: image_put((image), (offset) + offsetof(Elf32_##type, field), \
				    sizeof(((Elf32_##type *)0)->field), (value)))
#define image_sizeof(image, type) ((image)->is_64 ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

/* Opens the built image: mapped where it stands, or as a file's bytes. */
int image_open(const struct image *image, int is_mapped, struct vclock_elf *ret_elf);

#endif /* SUPPORT_ELF_IMAGE_H */
