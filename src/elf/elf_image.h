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

#endif /* ELF_IMAGE_H */
