/* SPDX-License-Identifier: MIT */
/* src/keeper/scale.c against 128-bit arithmetic: exact or saturating, never wrapped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "keeper/scale.h"
#include "support_wide.h"
#include "vclock/page.h"

#define NSEC UINT64_C(1000000000)

static const uint64_t edges[] = {
	0,
	1,
	2,
	3,
	999999999,
	NSEC,
	NSEC + 1,
	UINT64_C(0x7fffffff),
	UINT64_C(0x80000000),
	UINT64_C(0xffffffff),
	UINT64_C(0x100000000),
	UINT64_C(18000000000),
	UINT64_C(1) << 40,
	UINT64_C(1) << 56,
	UINT64_C(1) << 62,
	UINT64_C(0x7fffffffffffffff),
	UINT64_C(0x8000000000000000),
	UINT64_MAX - 1,
	UINT64_MAX,
};
#define EDGES (sizeof(edges) / sizeof(edges[0]))

static uint64_t state = 42;

static uint64_t random_64(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	z ^= z >> 31;
	return z >> (state >> 32 & 63); /* of every length */
}

static uint64_t mul_shr(uint64_t a, uint64_t b, unsigned shift)
{
	struct wide wide = wide_shr(wide_mul(a, b), shift);

	return wide.hi != 0 ? UINT64_MAX : wide.lo;
}

/* Rounded to nearest: twice the rest is at least the divisor. */
static uint64_t shl_div(uint64_t n, unsigned shift, uint64_t d)
{
	struct wide wide = {shift == 0 ? 0 : n >> (64 - shift), n << shift}, quotient;
	uint64_t rem;

	if (d == 0)
		return UINT64_MAX;
	quotient = wide_div(wide, d, &rem);
	if (rem >= d - rem)
		quotient = wide_add(quotient, 1);
	return quotient.hi != 0 ? UINT64_MAX : quotient.lo;
}

static void mul_shr_is_exact(void **unused)
{
	unsigned shift;
	size_t i, j;

	(void)unused;
	for (i = 0; i < EDGES; i++)
		for (j = 0; j < EDGES; j++)
			for (shift = 0; shift < 64; shift++)
				assert_int_equal(scale_mul_shr(edges[i], edges[j], shift),
						 mul_shr(edges[i], edges[j], shift));
	for (i = 0; i < 300000; i++) {
		uint64_t a = random_64(), b = random_64();

		shift = (unsigned)(random_64() & 63);
		assert_int_equal(scale_mul_shr(a, b, shift), mul_shr(a, b, shift));
	}
}

static void shl_div_is_exact(void **unused)
{
	unsigned shift;
	size_t i, j;

	(void)unused;
	for (i = 0; i < EDGES; i++)
		for (j = 0; j < EDGES; j++)
			for (shift = 0; shift < 64; shift += 3)
				assert_int_equal(scale_shl_div(edges[i], shift, edges[j]),
						 shl_div(edges[i], shift, edges[j]));
	for (i = 0; i < 100000; i++) {
		uint64_t n = random_64(), d = random_64();

		shift = (unsigned)(random_64() & 63);
		assert_int_equal(scale_shl_div(n, shift, d), shl_div(n, shift, d));
	}
}

static void div_rem_is_exact(void **unused)
{
	size_t i, j;

	(void)unused;
	for (i = 0; i < EDGES; i++)
		for (j = 1; j < EDGES; j++) {
			uint64_t rem, quotient = scale_div_rem(edges[i], edges[j], &rem);

			assert_int_equal(quotient, edges[i] / edges[j]);
			assert_int_equal(rem, edges[i] % edges[j]);
		}
}

/* M13: cycles to ns at 3 GHz, for longer than 64 bits of cycles * 10^9 hold. */
static void long_stretches_of_cycles(void **unused)
{
	static const uint64_t cycles[] = {UINT64_C(18000000000), UINT64_C(1) << 40,
					  UINT64_C(1) << 56};
	uint64_t rate = scale_shl_div(NSEC, 40, UINT64_C(3000000000));
	size_t i;

	(void)unused;
	for (i = 0; i < 3; i++) {
		uint64_t ns = scale_mul_shr(cycles[i], rate, 40), exact;

		assert_int_equal(ns, mul_shr(cycles[i], rate, 40));
		/* The rate is rounded to 10^-12. */
		exact = wide_mul_div(cycles[i], NSEC, UINT64_C(3000000000));
		assert_true((ns > exact ? ns - exact : exact - ns) <= exact / 100000000000u + 1);
	}
	assert_int_equal(scale_mul_shr(UINT64_C(18000000000), rate, 40), UINT64_C(5999999999));
}

/* M14: ns to cycles for two hours and a year, and where it must saturate. */
static void long_stretches_of_ns(void **unused)
{
	static const uint64_t seconds[] = {7200, 31556952, 315569520};
	int off;
	size_t i;

	(void)unused;
	for (i = 0; i < 3; i++)
		for (off = -1; off <= 1; off++) {
			uint64_t ns = seconds[i] * NSEC + (uint64_t)(int64_t)off;
			uint64_t cyc = scale_shl_div(ns, 31, UINT64_C(715827883));

			assert_int_equal(cyc, shl_div(ns, 31, UINT64_C(715827883)));
			assert_true(cyc > ns * 2); /* 3 GHz */
		}
	assert_int_equal(scale_shl_div(UINT64_MAX, 1, 1), UINT64_MAX);
	assert_int_equal(scale_shl_div(1, 63, 0), UINT64_MAX);
	assert_int_equal(scale_mul_shr(UINT64_MAX, UINT64_MAX, 63), UINT64_MAX);
	assert_int_equal(scale_mul_shr(UINT64_MAX, 2, 1), UINT64_MAX);
	assert_int_equal(scale_mul_shr(UINT64_MAX, 4, 1), UINT64_MAX);
}

static void seconds_round_down(void **unused)
{
	static const struct {
		int64_t ns, sec;
		uint32_t nsec;
	} cases[] = {
		{0, 0, 0},
		{1, 0, 1},
		{999999999, 0, 999999999},
		{1000000000, 1, 0},
		{-1, -1, 999999999},
		{-999999999, -1, 1},
		{-1000000000, -1, 0},
		{-1000000001, -2, 999999999},
		{INT64_MAX, 9223372036, 854775807},
		{INT64_MIN, -9223372037, 145224192},
	};
	size_t i;

	(void)unused;
	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t sec;
		uint32_t nsec;

		scale_ns_to_sec(cases[i].ns, &sec, &nsec);
		assert_int_equal(sec, cases[i].sec);
		assert_int_equal(nsec, cases[i].nsec);
	}
}

/* M16: the largest shift that leaves room for twice the rate. */
static void shift_is_the_largest_that_fits(void **unused)
{
	uint64_t hz;

	(void)unused;
	for (hz = 1000; hz <= UINT64_C(100000000000); hz += hz / 7 + 1) {
		uint32_t shift = scale_shift_for(hz);

		assert_true(shift <= VCLOCK_SHIFT_MAX);
		assert_true(shl_div(NSEC, shift, hz) <= UINT32_MAX / 2);
		assert_true(shift == VCLOCK_SHIFT_MAX ||
			    shl_div(NSEC, shift + 1, hz) > UINT32_MAX / 2);
	}
	assert_int_equal(scale_shift_for(1000), 11);
	assert_int_equal(scale_shift_for(UINT64_C(10000000000)), 33);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mul_shr_is_exact),
		cmocka_unit_test(shl_div_is_exact),
		cmocka_unit_test(div_rem_is_exact),
		cmocka_unit_test(long_stretches_of_cycles),
		cmocka_unit_test(long_stretches_of_ns),
		cmocka_unit_test(seconds_round_down),
		cmocka_unit_test(shift_is_the_largest_that_fits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
