/* SPDX-License-Identifier: MIT */
/* image_code.h - decodes an image's code for src/check/image_check.h, with capstone. */
#ifndef IMAGE_CODE_H
#define IMAGE_CODE_H

#include "check/image_check.h"

/* NULL in a build without a decoder. */
extern image_branches *const image_code_branches;

#endif /* IMAGE_CODE_H */
