/* SPDX-License-Identifier: MIT */
/*
 * image_unit.h - the distance of what lies in front of this architecture's image, the bits of
 * AT_HWCAP2 with which the image is mapped so that calls must end at landing pads, 0: never, and
 * whether there is room behind the kernel's image for a launcher's code.
 */
#ifndef IMAGE_UNIT_H
#define IMAGE_UNIT_H

#include "image/process_page.h"

#if defined(__aarch64__)
#define IMAGE_UNIT PROCESS_UNIT_AARCH64
#define IMAGE_GUARDED (1ul << 17) /* HWCAP2_BTI */
#elif defined(__riscv)
#define IMAGE_UNIT PROCESS_UNIT_RISCV64
#define KERNELS_IMAGE_HAS_ROOM 0
#else
#define IMAGE_UNIT PROCESS_UNIT_X86
#endif

#ifndef IMAGE_GUARDED
#define IMAGE_GUARDED 0ul
#endif

#ifndef KERNELS_IMAGE_HAS_ROOM
#define KERNELS_IMAGE_HAS_ROOM 1
#endif

#endif /* IMAGE_UNIT_H */
