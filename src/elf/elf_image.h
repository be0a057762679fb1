/* SPDX-License-Identifier: MIT */
/*
 * elf_image.h - what src/elf and the tools share beyond <vclock/elf.h>.
 */
#ifndef ELF_IMAGE_H
#define ELF_IMAGE_H

#include "vclock/elf.h"

/*
 * How many bytes a mapped image has, by its program headers. Of the image only readable bytes are
 * touched, so the headers must lie there. 0, or a negated enum vclock_elf_error:
 * -VCLOCK_ELF_CORRUPT when it would be more than max.
 */
int elf_mapped_size(const void *image, size_t readable, size_t max, size_t *ret_size);

/*
 * Looks up the functions of vdso->elf under the names of the image's own architecture, whichever
 * that is; the rest of *vdso has been cleared. 0, or -VCLOCK_ELF_MACHINE: no names are known for
 * it.
 */
int vdso_fill(struct vclock_vdso *vdso);

/* Value of the dynamic section's last entry with the tag; 0 and *ret_value untouched: it has none.
 */
int elf_dynamic(const struct vclock_elf *elf, uint64_t tag, uint64_t *ret_value);

/*
 * Where the image's address vaddr lies, and in *ret_room how many bytes follow in the same segment;
 * NULL: not in the image, or not in an executable segment where that was asked for.
 */
const unsigned char *elf_locate(const struct vclock_elf *elf, uint64_t vaddr, int is_executable,
				uint64_t *ret_room);

/*
 * The name of version definition number i, the base one left out; NULL: a nameless or base one.
 * Returns 0 when there are no more.
 */
int elf_version(const struct vclock_elf *elf, uint32_t i, const char **ret_name);

#endif /* ELF_IMAGE_H */
