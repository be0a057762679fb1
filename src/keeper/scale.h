/* SPDX-License-Identifier: MIT */
/*
 * scale.h - 128-bit products and quotients from 32-bit pieces.
 *
 * The keeper's arithmetic needs more than 64 bits in places. i386 has no 128-bit type, and a plain
 * 64-bit division there calls libgcc; so both are done here, the same way on every architecture.
 * Nothing here is on a hot path: a step of the publisher does some ten of them.
 */
#ifndef SCALE_H
#define SCALE_H

#include <stdint.h>

/* a * b / 2^shift, shift 0 .. 63, rounded down; UINT64_MAX where that does not fit. */
uint64_t scale_mul_shr(uint64_t a, uint64_t b, unsigned shift);

/* (n << shift) / d, shift 0 .. 63, rounded to nearest; UINT64_MAX where it does not fit or d is 0.
 */
uint64_t scale_shl_div(uint64_t n, unsigned shift, uint64_t d);

/* n / d and the remainder; d not 0. */
uint64_t scale_div_rem(uint64_t n, uint64_t d, uint64_t *ret_rem);

/* Signed ns as whole seconds and 0 .. 999999999 ns, seconds rounded down. */
void scale_ns_to_sec(int64_t ns, int64_t *ret_sec, uint32_t *ret_nsec);

/*
 * The largest shift <= VCLOCK_SHIFT_MAX at which a rate of twice nominal still fits 32 bits of
 * mult, for a counter of hz, 1,000 <= hz <= 10^11.
 */
uint32_t scale_shift_for(uint64_t hz);

#endif /* SCALE_H */
