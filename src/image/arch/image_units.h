/* SPDX-License-Identifier: MIT */
/*
 * image_units.h - the pages before the image, for architectures that reach them relative to the
 * program counter. Included by image_<arch>.h only.
 */
#ifndef IMAGE_UNITS_H
#define IMAGE_UNITS_H

/* Placed by image.lds. */
extern const struct vclock_page image_time_unit IMAGE_HIDDEN;
extern const struct process_page image_process_unit IMAGE_HIDDEN;
extern struct process_state image_state_unit IMAGE_HIDDEN;

VCLOCK_ALWAYS_INLINE const struct vclock_page *image_page(void)
{
	return &image_time_unit;
}

VCLOCK_ALWAYS_INLINE const struct process_page *image_process(void)
{
	return &image_process_unit;
}

VCLOCK_ALWAYS_INLINE struct process_state *image_state(void)
{
	return &image_state_unit;
}

#endif /* IMAGE_UNITS_H */
