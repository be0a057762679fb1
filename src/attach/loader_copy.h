/* SPDX-License-Identifier: MIT */
/*
 * loader_copy.h - a dynamic loader with a segment of code more; see image/follow.h. Pure bytes:
 * opens nothing, maps nothing.
 *
 * Symbols, sections, addresses and all of its code stay where they are: linkers, debuggers and ldd
 * find in the copy what they find in the loader.
 */
#ifndef LOADER_COPY_H
#define LOADER_COPY_H

#include <stddef.h>

#include "attach/image_arch.h"
#include "image/follow.h"

/*
 * size bytes of a loader's file, code_size of code: *ret_copy (free it) of *ret_size bytes. Fills
 * in segment and entry of the configuration, which ends up in the copy. 0, -ENOMEM, or -ENOEXEC:
 * not a loader of 64-bit programs of arch, or of a form that is not known.
 */
int loader_copy(const struct image_arch *arch, const unsigned char *loader, size_t size,
		const unsigned char *code, size_t code_size, struct follow *config,
		unsigned char **ret_copy, size_t *ret_size);

#endif /* LOADER_COPY_H */
