/* SPDX-License-Identifier: MIT */
/*
 * image_unwind.h - whether .eh_frame_hdr and .eh_frame let an unwinder through a file's code.
 *
 * For the forms that linkers write: 4-byte offsets, a sorted table. Hostile input: each number is
 * held against the file before it is used.
 */
#ifndef IMAGE_UNWIND_H
#define IMAGE_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_unwind {
	const unsigned char *bytes; /* of the file; addresses in it are offsets */
	size_t size;
	uint64_t header;       /* .eh_frame_hdr */
	uint64_t table, count; /* entries of two 4-byte offsets from header */
};

/*
 * Reads the header at offset and walks every entry: the table is sorted, each entry's instructions
 * are known ones and end where they should. NULL, or what is wrong in plain words; *ret_unwind is
 * untouched then.
 */
const char *image_unwind_open(const unsigned char *bytes, size_t size, uint64_t offset,
			      uint64_t length, struct image_unwind *ret_unwind);

/* Whether the table leads to an entry that covers size bytes from address. */
bool image_unwind_covers(const struct image_unwind *unwind, uint64_t address, uint64_t size);

#endif /* IMAGE_UNWIND_H */
