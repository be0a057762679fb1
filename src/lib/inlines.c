/* SPDX-License-Identifier: MIT */
/*
 * inlines.c - the one out-of-line copy of every inline of <vclock/read.h>, for callers that cannot
 * use C headers. Nothing else may be defined here.
 */
#define VCLOCK_INLINE extern

/* The header declares nothing that it does not define. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"

#include "vclock/read.h"
