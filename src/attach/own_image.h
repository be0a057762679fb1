/* SPDX-License-Identifier: MIT */
/*
 * own_image.h - the image of this program's own architecture, mapped into this process next to the
 * kernel's vDSO, which stays the one that everybody uses: to measure its entries.
 */
#ifndef OWN_IMAGE_H
#define OWN_IMAGE_H

#include "attach/image_arch.h"
#include "image/process_page.h"
#include "vclock/elf.h"

struct own_image {
	void *area; /* of area_size bytes: the units in front, then the image */
	size_t area_size;
	const struct image_arch *arch;
	struct vclock_elf elf;
};

/*
 * Maps folder's image. page: a time page in shared memory, which is mapped a second time; NULL: a
 * page that was never written. vdso: what it leaves to the kernel goes there; absent: it makes the
 * system call. 0, or -errno: no such image, not an image, or no memory; nothing is left behind.
 */
int own_image_open(const char *folder, const struct vclock_page *page,
		   const struct vclock_vdso *vdso, struct own_image *ret_image);
void own_image_close(struct own_image *map);

/* An export's address; NULL: not there. name: one of the image's arch; NULL: there is none. */
const void *own_image_entry(const struct own_image *map, const char *name);

#endif /* OWN_IMAGE_H */
