/* SPDX-License-Identifier: MIT */
/*
 * image_unit.h - the distance of what lies in front of this architecture's image, and the bits of
 * AT_HWCAP2 with which the image is mapped so that calls must end at landing pads; 0: never.
 */
#ifndef IMAGE_UNIT_H
#define IMAGE_UNIT_H

#include "image/process_page.h"

#if defined(__aarch64__)
#define IMAGE_UNIT PROCESS_UNIT_AARCH64
#define IMAGE_GUARDED (1ul << 17) /* HWCAP2_BTI */
#elif defined(__riscv)
#define IMAGE_UNIT PROCESS_UNIT_RISCV64
#else
#define IMAGE_UNIT PROCESS_UNIT_X86
#endif

#ifndef IMAGE_GUARDED
#define IMAGE_GUARDED 0ul
#endif

#endif /* IMAGE_UNIT_H */
