/* SPDX-License-Identifier: MIT */
/*
 * seed_page.c - writes the seeds of fuzz/corpus/page: seed_page FOLDER. Pages of a simulated
 * counter in each state that a writer leaves; the fuzzer breaks them.
 */
#include <stdio.h>
#include <string.h>

#include "vclock/counter.h"
#include "vclock/publish.h"

#define HZ 1000000000u
#define INTERVAL_NS 10000000u

static struct vclock_page page;
static struct vclock_timekeeper keeper;
static uint64_t now_cyc;

static uint64_t counter(void *arg)
{
	(void)arg;
	return now_cyc;
}

static void begin(uint64_t start_cyc, int64_t real_sec)
{
	struct vclock_page_config config = {
		.counter_hz = HZ,
		.counter_kind = VCLOCK_COUNTER_KIND,
		.interval_ns = INTERVAL_NS,
		.ahead_ns = INTERVAL_NS,
		.coarse_ns = 4000000,
	};

	memset(&page, 0, sizeof(page));
	memset(&keeper, 0, sizeof(keeper));
	vclock_page_init(&page, &config);
	now_cyc = start_cyc;
	keeper.shift = page.shift;
	keeper.mult = keeper.raw_mult = (uint32_t)(1u << page.shift);
	keeper.xtime_sec = real_sec;
	keeper.wall_to_monotonic.tv_sec = -real_sec + 1000;
	keeper.raw_sec = 1000;
	keeper.error_ns = 50;
	keeper.tai_offset_sec = 37;
	keeper.clock_was_set_seq = 1;
	keeper.read_counter = counter;
}

static void step(uint32_t ns)
{
	uint64_t second = (uint64_t)VCLOCK_NSEC_PER_SEC << keeper.shift;

	now_cyc += ns;
	keeper.xtime_nsec += (uint64_t)ns << keeper.shift;
	keeper.raw_nsec += (uint64_t)ns << keeper.shift;
	for (; keeper.xtime_nsec >= second; keeper.xtime_nsec -= second)
		keeper.xtime_sec++;
	for (; keeper.raw_nsec >= second; keeper.raw_nsec -= second)
		keeper.raw_sec++;
	keeper.cycle_last = now_cyc;
	vclock_page_update(&page, &keeper);
}

static int write_seed(const char *folder, const char *name, size_t size)
{
	char path[4096];
	FILE *file;
	int good;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "wb");
	good = file != NULL && fwrite(&page, 1, size, file) == size;
	if (file == NULL || fclose(file) != 0 || !good)
		fprintf(stderr, "%s: cannot be written\n", path);
	return good ? 0 : 1;
}

static void steps(int count)
{
	while (count-- > 0)
		step(INTERVAL_NS);
}

int main(int argc, char **argv)
{
	const char *folder = argc == 2 ? argv[1] : ".";
	int failed = 0;

	begin(1000000, 1700000000);
	failed += write_seed(folder, "unpublished", sizeof(page));
	steps(1);
	failed += write_seed(folder, "first-line", sizeof(page));
	steps(20);
	failed += write_seed(folder, "history", sizeof(page));
	failed += write_seed(folder, "short", 100);
	keeper.xtime_sec -= 10;
	keeper.wall_to_monotonic.tv_sec += 10;
	keeper.clock_was_set_seq++;
	step(1000000);
	failed += write_seed(folder, "stepped", sizeof(page));
	step(500000000);
	failed += write_seed(folder, "after-a-gap", sizeof(page));
	vclock_page_retire(&page, VCLOCK_RETIRED_STOPPED, counter, NULL);
	failed += write_seed(folder, "ended", sizeof(page));
	begin(UINT64_MAX - 15000000, -5);
	steps(3);
	failed += write_seed(folder, "counter-wraps-before-1970", sizeof(page));
	return failed;
}
