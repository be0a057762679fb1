/* SPDX-License-Identifier: MIT */
/* image_unit.h - the distance of what lies in front of this architecture's image. */
#ifndef IMAGE_UNIT_H
#define IMAGE_UNIT_H

#include "image/process_page.h"

#if defined(__aarch64__)
#define IMAGE_UNIT PROCESS_UNIT_AARCH64
#elif defined(__riscv)
#define IMAGE_UNIT PROCESS_UNIT_RISCV64
#else
#define IMAGE_UNIT PROCESS_UNIT_X86
#endif

#endif /* IMAGE_UNIT_H */
