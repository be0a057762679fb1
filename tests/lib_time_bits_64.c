/* SPDX-License-Identifier: MIT */
/* The calls of vclock.h with a 64-bit time_t, on 32-bit machines too: T06. */
#define _FILE_OFFSET_BITS 64
#define _TIME_BITS 64
#include "support_time_bits.h"
