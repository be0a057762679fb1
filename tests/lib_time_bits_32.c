/* SPDX-License-Identifier: MIT */
/* The calls of vclock.h with the time_t that a program has by default: T07, T08. */
#include "support_time_bits.h"
