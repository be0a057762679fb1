/* SPDX-License-Identifier: MIT */
/* scale.c - 128-bit products and quotients; see scale.h. Must never use '/' or '%' on 64 bits. */
#include "keeper/scale.h"

#include "vclock/page.h"

struct u128 {
	uint64_t hi;
	uint64_t lo;
};

/* Schoolbook on 32-bit digits: no partial sum exceeds (2^32 - 1)^2 + 2 * (2^32 - 1) = 2^64 - 1. */
static struct u128 mul(uint64_t a, uint64_t b)
{
	uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
	uint64_t low = a0 * b0;
	uint64_t mid = a1 * b0 + (low >> 32);
	uint64_t mid2 = a0 * b1 + (uint32_t)mid;
	struct u128 product;

	product.hi = a1 * b1 + (mid >> 32) + (mid2 >> 32);
	product.lo = (mid2 << 32) | (uint32_t)low;
	return product;
}

/* Restoring division, a bit at a time; n.hi < d, so that the quotient has 64 bits. */
static uint64_t div(struct u128 n, uint64_t d, uint64_t *ret_rem)
{
	uint64_t rem = n.hi, quotient = 0;
	int bit;

	for (bit = 63; bit >= 0; bit--) {
		uint64_t carry = rem >> 63;

		rem = (rem << 1) | ((n.lo >> bit) & 1);
		quotient <<= 1;
		if (carry || rem >= d) {
			rem -= d;
			quotient |= 1;
		}
	}
	*ret_rem = rem;
	return quotient;
}

uint64_t scale_mul_shr(uint64_t a, uint64_t b, unsigned shift)
{
	struct u128 product = mul(a, b);

	if (shift == 0)
		return product.hi != 0 ? UINT64_MAX : product.lo;
	if (product.hi >> shift != 0)
		return UINT64_MAX;
	return (product.hi << (64 - shift)) | (product.lo >> shift);
}

uint64_t scale_shl_div(uint64_t n, unsigned shift, uint64_t d)
{
	struct u128 wide;
	uint64_t quotient, rem;

	wide.hi = shift == 0 ? 0 : n >> (64 - shift);
	wide.lo = n << shift;
	if (wide.hi >= d)
		return UINT64_MAX;
	quotient = div(wide, d, &rem);
	/* rem >= d - rem without the overflow of 2 * rem. */
	return quotient + (rem >= d - rem && quotient != UINT64_MAX);
}

uint64_t scale_div_rem(uint64_t n, uint64_t d, uint64_t *ret_rem)
{
	struct u128 wide = {0, n};

	return div(wide, d, ret_rem);
}

void scale_ns_to_sec(int64_t ns, int64_t *ret_sec, uint32_t *ret_nsec)
{
	/* -(ns + 1) is representable for every negative ns. */
	uint64_t magnitude = ns < 0 ? (uint64_t)(-(ns + 1)) : (uint64_t)ns, rem, quotient;

	quotient = scale_div_rem(magnitude, VCLOCK_NSEC_PER_SEC, &rem);
	if (ns < 0) {
		/* ns = -(quotient * 10^9 + rem + 1) */
		*ret_sec = -(int64_t)quotient - 1;
		*ret_nsec = VCLOCK_NSEC_PER_SEC - 1 - (uint32_t)rem;
	} else {
		*ret_sec = (int64_t)quotient;
		*ret_nsec = (uint32_t)rem;
	}
}

uint32_t scale_shift_for(uint64_t hz)
{
	uint32_t shift = VCLOCK_SHIFT_MAX;

	/* 2 * mult < 2^32; at 1 kHz mult is 10^6 << shift, so shift 11 is the smallest. */
	while (shift > 0 && scale_shl_div(VCLOCK_NSEC_PER_SEC, shift, hz) > UINT32_MAX / 2)
		shift--;
	return shift;
}
