/* SPDX-License-Identifier: MIT */
/*
 * support_wide.h - 128-bit reference arithmetic for tests, apart from the code under test.
 *
 * Where the compiler has a 128-bit type, that; on i386 digits of 16 bits and long division.
 */
#ifndef SUPPORT_WIDE_H
#define SUPPORT_WIDE_H

#include <stdint.h>

struct wide {
	uint64_t hi, lo;
};

struct wide wide_mul(uint64_t a, uint64_t b);
struct wide wide_add(struct wide a, uint64_t b);
/* shift 0 .. 127 */
struct wide wide_shr(struct wide a, unsigned shift);
/* a / d rounded down, and the rest; d not 0 */
struct wide wide_div(struct wide a, uint64_t d, uint64_t *ret_rem);

/* a * b / d rounded down; what does not fit is UINT64_MAX. */
uint64_t wide_mul_div(uint64_t a, uint64_t b, uint64_t d);

#endif /* SUPPORT_WIDE_H */
