/* SPDX-License-Identifier: MIT */
/* support_wide.c - see support_wide.h. */
#include "support_wide.h"

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 u128;

static u128 join(struct wide a)
{
	return (u128)a.hi << 64 | a.lo;
}

static struct wide split(u128 a)
{
	struct wide wide = {(uint64_t)(a >> 64), (uint64_t)a};

	return wide;
}

struct wide wide_mul(uint64_t a, uint64_t b)
{
	return split((u128)a * b);
}

struct wide wide_add(struct wide a, uint64_t b)
{
	return split(join(a) + b);
}

struct wide wide_shr(struct wide a, unsigned shift)
{
	return split(join(a) >> shift);
}

struct wide wide_div(struct wide a, uint64_t d, uint64_t *ret_rem)
{
	*ret_rem = (uint64_t)(join(a) % d);
	return split(join(a) / d);
}

#else

#define DIGITS 8

static void to_digits(struct wide a, uint32_t *digit)
{
	int i;

	for (i = 0; i < DIGITS; i++)
		digit[i] = (uint32_t)((i < 4 ? a.lo : a.hi) >> (16 * (i & 3))) & 0xffff;
}

static struct wide from_digits(const uint32_t *digit)
{
	struct wide a = {0, 0};
	int i;

	for (i = 0; i < 4; i++) {
		a.lo |= (uint64_t)digit[i] << (16 * i);
		a.hi |= (uint64_t)digit[i + 4] << (16 * i);
	}
	return a;
}

struct wide wide_mul(uint64_t a, uint64_t b)
{
	struct wide wa = {0, a}, wb = {0, b};
	uint32_t da[DIGITS], db[DIGITS], out[DIGITS] = {0};
	int i, j;

	to_digits(wa, da);
	to_digits(wb, db);
	for (i = 0; i < 4; i++) {
		uint64_t carry = 0;

		for (j = 0; i + j < DIGITS; j++) {
			carry += out[i + j] + (uint64_t)da[i] * db[j];
			out[i + j] = (uint32_t)carry & 0xffff;
			carry >>= 16;
		}
	}
	return from_digits(out);
}

struct wide wide_add(struct wide a, uint64_t b)
{
	a.lo += b;
	a.hi += a.lo < b;
	return a;
}

struct wide wide_shr(struct wide a, unsigned shift)
{
	while (shift-- > 0) {
		a.lo = a.lo >> 1 | a.hi << 63;
		a.hi >>= 1;
	}
	return a;
}

struct wide wide_div(struct wide a, uint64_t d, uint64_t *ret_rem)
{
	struct wide quotient = {a.hi / d, 0};
	uint64_t rem = a.hi % d;
	int bit;

	for (bit = 63; bit >= 0; bit--) {
		uint64_t top = rem >> 63;

		rem = rem << 1 | (a.lo >> bit & 1);
		if (top || rem >= d) {
			rem -= d;
			quotient.lo |= (uint64_t)1 << bit;
		}
	}
	*ret_rem = rem;
	return quotient;
}

#endif

uint64_t wide_mul_div(uint64_t a, uint64_t b, uint64_t d)
{
	uint64_t rem;
	struct wide quotient = wide_div(wide_mul(a, b), d, &rem);

	return quotient.hi != 0 ? UINT64_MAX : quotient.lo;
}
