/* SPDX-License-Identifier: MIT */
/*
 * vdso_image.h - fetches the image that `vclock vdso` looks at: of this process, of another, or a
 * file. The bytes are copied first, so that nobody changes or unmaps them under the reader.
 */
#ifndef VDSO_IMAGE_H
#define VDSO_IMAGE_H

#include <stddef.h>
#include <stdint.h>

struct vdso_image {
	unsigned char *bytes;
	size_t size;
	int is_mapped;
	uint64_t address; /* where it is mapped; 0 for a file */
};

/*
 * Each returns CLI_GOOD, or another exit code after its message, which names the object. *ret_image
 * is filled on success, its bytes are the caller's to free.
 */
int vdso_image_own(struct vdso_image *ret_image);
int vdso_image_of_pid(uint64_t pid, struct vdso_image *ret_image);
int vdso_image_of_file(const char *path, struct vdso_image *ret_image);

#endif /* VDSO_IMAGE_H */
