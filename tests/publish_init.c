/* SPDX-License-Identifier: MIT */
/* vclock_page_init() and vclock_page_adopt(): ranges, fields, and a shift that fits every rate. */
#include "support_byo.h"
#include "support_wide.h"
#include "tap.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static struct byo byo;
static struct vclock_page page __attribute__((aligned(64)));

static int init_with(uint64_t hz, uint32_t interval_ns, uint32_t ahead_ns)
{
	struct vclock_page_config config = {.counter_hz = hz,
					    .counter_kind = VCLOCK_COUNTER_CALLER,
					    .interval_ns = interval_ns,
					    .ahead_ns = ahead_ns};

	memset(&page, 0x5a, sizeof(page));
	return vclock_page_init(&page, &config);
}

static void ranges(void)
{
	struct vclock_page untouched;

	tap_ok(init_with(1000, 1000000, 0) == 0, "1 kHz, 1 ms, not ahead");
	tap_ok(init_with(100000000000, 40000000, 0) == 0, "100 GHz, 40 ms");
	tap_ok(init_with(2600000000, 20000000, 20000000) == 0, "20 ms, 20 ms ahead");
	memset(&untouched, 0x5a, sizeof(untouched));
	tap_ok(init_with(999, 10000000, 0) == -EINVAL, "999 Hz is refused");
	tap_ok(init_with(100000000001, 10000000, 0) == -EINVAL, "more than 100 GHz is refused");
	tap_ok(init_with(0, 10000000, 0) == -EINVAL, "0 Hz is refused");
	tap_ok(init_with(1000000, 999999, 0) == -EINVAL, "less than 1 ms is refused");
	tap_ok(init_with(1000000, 40000001, 0) == -EINVAL, "more than 40 ms is refused");
	tap_ok(init_with(1000000, 10000000, 10000001) == -EINVAL,
	       "farther ahead than a line is long: refused");
	tap_ok(init_with(1000000, 30000000, 10000001) == -EINVAL,
	       "a first line of more than 40 ms is refused");
	tap_ok(init_with(1000000, UINT32_MAX, UINT32_MAX) == -EINVAL, "no sum wraps");
	tap_ok(memcmp(&page, &untouched, sizeof(page)) == 0, "a refused page is untouched");
}

static void fields(void)
{
	struct vclock_page_config config = {.counter_hz = 2600000000,
					    .counter_kind = VCLOCK_COUNTER_CALLER,
					    .flags = VCLOCK_PAGE_TRUST_OVERRIDDEN,
					    .interval_ns = 10000000,
					    .ahead_ns = 2000000,
					    .coarse_ns = 4000000,
					    .writer_pid = 77,
					    .timens_ino = UINT64_C(0x123456789abcdef0),
					    .boot_id = {1, 2, 3}};
	static const uint8_t zero[sizeof(struct vclock_slot)];

	memset(&page, 0x5a, sizeof(page));
	tap_ok(vclock_page_init(&page, &config) == 0, "a whole configuration");
	tap_ok(page.magic == VCLOCK_PAGE_MAGIC && page.version == VCLOCK_PAGE_VERSION &&
		       page.size == VCLOCK_PAGE_SIZE && page.generation == 0,
	       "magic, version, size; never published");
	tap_ok(page.counter_hz == config.counter_hz && page.flags == config.flags &&
		       page.interval_ns == config.interval_ns && page.ahead_ns == config.ahead_ns &&
		       page.coarse_ns == config.coarse_ns && page.writer_pid == 77 &&
		       page.timens_ino == config.timens_ino &&
		       memcmp(page.boot_id, config.boot_id, sizeof(page.boot_id)) == 0,
	       "and what the configuration says");
	tap_ok(memcmp(&page.slot[0], zero, sizeof(zero)) == 0 &&
		       memcmp(&page.slot[1], zero, sizeof(zero)) == 0,
	       "the rest is zero");
	tap_ok(byo_read_ns(&page, 0, VCLOCK_MONOTONIC) == INT64_MIN, "it covers nothing");
}

/* M16: the rate fits its field with room for twice of it, and is right to 10^-9. */
static void shifts(void)
{
	static const uint64_t rates[] = {1000,	     32768,	 1000000,    24000000,	 998160346,
					 1000000000, 1999999999, 2000000000, 2000000001, 2600000000,
					 3000000000, 4294967296, 9999999999, 10000000000};
	size_t i;

	for (i = 0; i < sizeof(rates) / sizeof(rates[0]); i++) {
		uint64_t hz = rates[i], mult, back;

		init_with(hz, 10000000, 10000000);
		mult = wide_mul_div(UINT64_C(1000000000) << page.shift, 1, hz);
		back = wide_mul_div(mult, hz, UINT64_C(1000000000));
		tap_ok(page.shift <= VCLOCK_SHIFT_MAX && mult > 0 && mult <= UINT32_MAX / 2,
		       "%" PRIu64 " Hz: shift %u, twice of mult fits", hz, page.shift);
		/* What is lost by rounding down is below one part of mult. */
		tap_ok((UINT64_C(1) << page.shift) - back <= hz / 1000000000 + 1 &&
			       (mult > 500000000 || page.shift == VCLOCK_SHIFT_MAX),
		       "%" PRIu64 " Hz: and its rounding is below 2 in 10^9", hz);
	}
}

static void adoption(void)
{
	struct vclock_page_config config;
	struct vclock_page before;

	byo_init(&byo, 2600000000, 1000, 5, 0, 1000);
	byo_run(&byo, 3);
	config = byo.config;
	config.counter_hz += 1000;
	config.interval_ns = 4000000;
	config.ahead_ns = 1000000;
	config.writer_pid = 5;
	before = byo.page;
	tap_ok(vclock_page_adopt(&byo.page, &config) == 0, "a page of the same counter is adopted");
	tap_ok(byo.page.interval_ns == 4000000 && byo.page.ahead_ns == 1000000 &&
		       byo.page.writer_pid == 5 && byo.page.counter_hz == before.counter_hz,
	       "with the new writer's interval, ahead and pid");
	tap_ok(byo.page.generation == before.generation &&
		       memcmp(byo.page.slot, before.slot, sizeof(before.slot)) == 0,
	       "and all that readers read as it stands");
	before = byo.page;
	config.counter_kind = VCLOCK_COUNTER_TSC;
	tap_ok(vclock_page_adopt(&byo.page, &config) == -EINVAL, "not of another counter");
	config = byo.config;
	config.counter_hz += config.counter_hz / 100;
	tap_ok(vclock_page_adopt(&byo.page, &config) == -EINVAL, "not of another rate");
	config = byo.config;
	config.boot_id[15] = 1;
	tap_ok(vclock_page_adopt(&byo.page, &config) == -EINVAL, "not of another boot");
	config = byo.config;
	config.timens_ino = 1;
	tap_ok(vclock_page_adopt(&byo.page, &config) == -EINVAL, "not of another time namespace");
	config = byo.config;
	config.interval_ns = 1;
	tap_ok(vclock_page_adopt(&byo.page, &config) == -EINVAL, "not out of range");
	tap_ok(memcmp(&byo.page, &before, sizeof(before)) == 0, "and a refused one is untouched");
	byo.page.version++;
	tap_ok(vclock_page_adopt(&byo.page, &byo.config) == -EINVAL, "not of another version");
	memset(&byo.page, 0, sizeof(byo.page));
	tap_ok(vclock_page_adopt(&byo.page, &byo.config) == -EINVAL, "not what is no page");
}

int main(void)
{
	ranges();
	fields();
	shifts();
	adoption();
	return tap_done();
}
