/* SPDX-License-Identifier: MIT */
/*
 * A writer that dies after any single store leaves a page that readers read right, and that the
 * next writer goes on from. The writer is compiled once more here, with a hook in its stores.
 */
#include "vclock/compiler.h"

#include <stdint.h>
#include <string.h>

static void store_hook(void);

typedef uint32_t __attribute__((__may_alias__)) hooked_word;

static void hooked_store32(volatile void *to, uint32_t value)
{
	*(volatile hooked_word *)to = value;
	store_hook();
}

/* Two stores, as on a 32-bit machine. */
static void hooked_store64(volatile void *to, uint64_t value)
{
	uint32_t half[2];

	memcpy(half, &value, sizeof(value));
	hooked_store32(to, half[0]);
	hooked_store32((volatile hooked_word *)to + 1, half[1]);
}

#undef VCLOCK_STORE32
#undef VCLOCK_STORE64
#define VCLOCK_STORE32(p, v) hooked_store32(p, v)
#define VCLOCK_STORE64(p, v) hooked_store64(p, v)

#define vclock_page_init hooked_page_init
#define vclock_page_adopt hooked_page_adopt
#define vclock_page_update hooked_page_update
#define vclock_page_update_tz hooked_page_update_tz
#define vclock_page_retire hooked_page_retire
#define vclock_page_revive hooked_page_revive
#include "../src/publish/page_writer.c" /* NOLINT(bugprone-suspicious-include) */
#undef vclock_page_init
#undef vclock_page_adopt
#undef vclock_page_update
#undef vclock_page_update_tz
#undef vclock_page_retire
#undef vclock_page_revive

int vclock_page_update(struct vclock_page *page, const struct vclock_timekeeper *timekeeper);
int vclock_page_adopt(struct vclock_page *page, const struct vclock_page_config *config);
void vclock_page_revive(struct vclock_page *page);

#include "support_byo.h"
#include "tap.h"
#include "vclock/read.h"

#define POINTS 32

static struct byo byo;
/* What readers saw before the update that is under way: at these counter values. */
static uint64_t point[POINTS];
static int64_t mono_before[POINTS], raw_before[POINTS];
static unsigned stores, torn, lost, backward, stuck;

static uint64_t new_counter(void *arg)
{
	return *(uint64_t *)arg;
}

/* A next writer on the page as it stands, half an interval later: MONOTONIC goes on. */
static void next_writer(void)
{
	static struct vclock_page page __attribute__((aligned(64)));
	struct vclock_page_config config = byo.config;
	struct vclock_timekeeper tk = byo.tk;
	uint64_t now = byo.cyc + 200000000; /* all lines have ended */
	int64_t last = byo_read_ns(&byo.page, point[POINTS - 1], VCLOCK_MONOTONIC), mono;

	page = byo.page;
	if (vclock_page_adopt(&page, &config) != 0)
		stuck++;
	if (page.slot[page.generation & 1].retired != 0)
		vclock_page_revive(&page);
	tk.read_counter = new_counter;
	tk.read_counter_arg = &now;
	tk.clock_was_set_seq += 7;
	stuck += vclock_page_update(&page, &tk) != 0;
	now += 400000;
	mono = byo_read_ns(&page, now, VCLOCK_MONOTONIC);
	stuck += mono == INT64_MIN;
	backward += mono <= last;
}

static void store_hook(void)
{
	unsigned i;

	stores++;
	for (i = 0; i < POINTS; i++) {
		int64_t mono = byo_read_ns(&byo.page, point[i], VCLOCK_MONOTONIC);
		int64_t raw = byo_read_ns(&byo.page, point[i], VCLOCK_MONOTONIC_RAW);

		if (mono_before[i] == INT64_MIN) /* the update may cover it now, or not yet */
			continue;
		lost += mono == INT64_MIN || raw == INT64_MIN;
		torn += mono != INT64_MIN && (mono != mono_before[i] || raw != raw_before[i]);
	}
	if (stores % 7 == 0)
		next_writer();
}

/*
 * From now to the end of what is known, and a little before now: a reader may hold an old counter
 * value, but a line that leaves the slot is not covered any more.
 */
static void aim(void)
{
	const struct vclock_slot *live = byo_live(&byo);
	uint64_t end = live->line[1].start_cyc + live->line[1].length_cyc;
	unsigned i;

	for (i = 0; i < POINTS; i++) {
		point[i] = byo.cyc + (end - byo.cyc) / POINTS * i;
		mono_before[i] = byo_read_ns(&byo.page, point[i], VCLOCK_MONOTONIC);
		raw_before[i] = byo_read_ns(&byo.page, point[i], VCLOCK_MONOTONIC_RAW);
	}
}

static void clear(void)
{
	stores = torn = lost = backward = stuck = 0;
}

static void judge(const char *what, unsigned least)
{
	tap_ok(stores >= least, "%s: stopped after each of %u stores", what, stores);
	tap_ok(torn == 0, "%s: readers never see another value", what);
	tap_ok(lost == 0, "%s: nor lose a line that runs", what);
	tap_ok(stuck == 0 && backward == 0, "%s: the next writer goes on above it", what);
}

static void update(int expected)
{
	aim();
	byo_restate(&byo);
	if (hooked_page_update(&byo.page, &byo.tk) != expected)
		stuck++;
}

static void updates(void)
{
	unsigned i;

	for (i = 0; i < 20; i++) {
		byo_next(&byo);
		byo.tk.mult += i % 2 == 0 ? 800000 : -800000; /* 480 ppm */
		update(0);
	}
	judge("updates", 20 * 180);
	clear();
	for (i = 0; i < 10; i++) {
		byo.tk.xtime_sec += 100;
		byo.tk.wall_to_monotonic.tv_sec -= 100;
		byo.tk.clock_was_set_seq++;
		update(0);
	}
	judge("steps of REALTIME", 10 * 140);
	clear();
	for (i = 0; i < 10; i++) {
		byo_next(&byo);
		byo_advance_ns(&byo, 60000000);
		update(0);
		byo_next(&byo);
		update(0);
	}
	judge("updates after a gap", 10 * 400);
}

static void others(void)
{
	clear();
	aim();
	hooked_page_update_tz(&byo.page, 60, 1);
	judge("a timezone", 140);
	clear();
	aim();
	hooked_page_adopt(&byo.page, &byo.config);
	judge("a page that is taken over", 5);
	clear();
	byo_advance_ns(&byo, 1000);
	aim();
	while (mono_before[0] == INT64_MIN)
		byo_next(&byo), aim();
	/* What lies past the new end goes, and is not asked for. */
	for (unsigned i = 1; i < POINTS; i++)
		mono_before[i] = INT64_MIN;
	hooked_page_retire(&byo.page, VCLOCK_RETIRED_STOPPED, byo.tk.read_counter, &byo);
	judge("the end of a page", 140);
	clear();
	aim();
	hooked_page_revive(&byo.page);
	judge("its revival", 140);
}

/* Must fail: a writer that shows the slot before it is whole. */
static void twin(void)
{
	struct vclock_slot next;
	uint32_t *to, word;
	size_t i;

	byo_init(&byo, 2600000000, 1000000, 50, 0, 1700000000);
	byo_run(&byo, 4);
	clear();
	aim();
	next = *byo_live(&byo);
	to = (uint32_t *)(void *)&byo.page.slot[(byo.page.generation + 1) & 1];
	VCLOCK_STORE32(&byo.page.generation, byo.page.generation + 1);
	for (i = 0; i < sizeof(next) / sizeof(word); i++) {
		memcpy(&word, (const unsigned char *)&next + i * sizeof(word), sizeof(word));
		VCLOCK_STORE32(&to[i], word);
	}
	tap_ok(torn + lost > 0, "caught: a slot that shows before it is whole");
}

int main(void)
{
	byo_init(&byo, 2600000000, 1000000, 50, 0, 1700000000);
	byo_run(&byo, 20);
	clear();
	updates();
	others();
	twin();
	return tap_done();
}
