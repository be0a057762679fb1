/* SPDX-License-Identifier: MIT */
/*
 * page_look.c - one look at a page: its fields, what the library says of it, and its clocks held
 * against the kernel's. The page is hostile; nothing is computed from fields that are out of range.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/cli.h"
#include "cli/page_view.h"
#include "cli/page_words.h"
#include "measure/measure.h"
#include "publish/machine.h"
#include "vclock/read.h"

/* The narrowest of these counts; together some 100 us for all clocks, less than a line. */
#define BRACKETS 8

static enum page_same compare_timens(const struct vclock_page *page)
{
	struct machine_identity here;

	machine_identify(&here);
	if (page->timens_ino == 0 || here.timens_ino == 0)
		return PAGE_UNKNOWN;
	return here.timens_ino == page->timens_ino ? PAGE_SAME : PAGE_OTHER;
}

static bool kernel_ns(int32_t clk, int64_t *ret_ns)
{
	struct timespec ts;

	if (clock_gettime(clk, &ts) != 0)
		return false;
	*ret_ns = ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
	return true;
}

static void bracket(const struct page_view *view, struct page_clock *clock)
{
	int64_t before, after, ns;
	struct vclock_timespec ts;
	int i;

	for (i = 0; i < BRACKETS; i++) {
		if (!kernel_ns(clock->name->id, &before) ||
		    vclock_read_timespec(&view->page, (uint32_t)clock->name->id, &ts) != 0 ||
		    !kernel_ns(clock->name->id, &after))
			return;
		ns = ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
		if (clock->has_kernel && after - before >= clock->high_ns - clock->low_ns)
			continue;
		clock->has_kernel = true;
		clock->low_ns = ns - after;
		clock->high_ns = ns - before;
		clock->at_ns = (uint64_t)before;
	}
}

static void look_at_clocks(struct page_view *view)
{
	struct page_clock *clock = view->clock;
	const struct vclock_base *base;
	size_t i;

	for (i = 0; i < CLOCK_NAMES; i++) {
		if (!clock_is_on_page(clock_names[i].id))
			continue;
		clock->name = &clock_names[i];
		base = &view->line->base[clock->name->id];
		clock->base.tv_sec = base->sec;
		clock->base.tv_nsec = (int64_t)(base->fns >> view->page.shift);
		if (view->may_count) {
			clock->has_now = vclock_read_timespec(&view->page,
							      (uint32_t)clock->name->id,
							      &clock->now) == 0;
			bracket(view, clock);
		}
		clock++;
	}
}

/* Both directions: a page may be published for later. */
static void look_at_age(struct page_view *view, uint64_t cyc)
{
	uint64_t age = cyc - view->slot->published_cyc;
	uint64_t per_ms = view->page.counter_hz / 1000;

	if (view->page.generation == 0 || (int64_t)age < 0 || per_ms == 0)
		return;
	view->has_age = true;
	view->age_ns = age / per_ms * 1000000 + age % per_ms * 1000000 / per_ms;
}

static void look_at_lines(struct page_view *view)
{
	uint64_t cyc = view->may_count ? vclock_counter_ordered() : 0;
	uint32_t delta;

	view->slot = &view->page.slot[view->page.generation & 1];
	view->line = NULL;
	if (view->may_count) {
		view->line = vclock_slot_line(view->slot, cyc, 1, &delta);
		look_at_age(view, cyc);
	}
	if (view->line == NULL)
		view->line = &view->slot->line[0];
	/* mult < 2^32: the product is below 2^62. */
	if (view->line->mult[1] != 0)
		view->raw_ppb = ((int64_t)view->line->mult[0] - (int64_t)view->line->mult[1]) *
				INT64_C(1000000000) / (int64_t)view->line->mult[1];
	look_at_clocks(view);
}

/* The clock that is farthest off: the library does not say which. */
static char *words_of_distance(const struct page_view *view)
{
	const struct page_clock *clock, *worst = NULL;
	int64_t distance, worst_ns = 0;

	for (clock = view->clock; clock < view->clock + CLOCK_NAMES && clock->name; clock++) {
		distance = clock->low_ns > -clock->high_ns ? clock->low_ns : -clock->high_ns;
		if (!clock->has_kernel || distance <= worst_ns)
			continue;
		worst = clock;
		worst_ns = distance;
	}
	if (worst == NULL)
		return cli_format("%s", page_words_error(-EDOM));
	return cli_format("%s: %s by %lld ns, and it says %u", page_words_error(-EDOM),
			  worst->name->name, (long long)worst_ns, view->slot->error_ns);
}

static void judge(struct page_view *view)
{
	if (view->verdict != NULL || view->bytes < 0)
		return;
	view->is_wrong = page_words_is_wrong(view->error);
	if (view->error == -EDOM)
		view->verdict = words_of_distance(view);
	else if (view->error == -ETIME && view->slot->retired != VCLOCK_RETIRED_NOT)
		view->verdict = cli_format("ended: %s", vclock_retired_string(view->slot->retired));
	else
		view->verdict = cli_format(
			"%s",
			view->error != 0 ? page_words_refusal(&view->page, view->error) : "kept");
}

void page_view_take(const char *path, struct page_view *ret_view)
{
	memset(ret_view, 0, sizeof(*ret_view));
	ret_view->path = path;
	ret_view->error = vclock_open(path);
	ret_view->bytes = page_words_read(path, &ret_view->page);
	if (ret_view->bytes < 0) {
		ret_view->verdict = cli_format("%s", page_words_error((int)ret_view->bytes));
		ret_view->is_wrong = page_words_is_wrong((int)ret_view->bytes);
		return;
	}
	ret_view->verdict = page_words_fault(&ret_view->page, ret_view->bytes);
	ret_view->is_sane = ret_view->verdict == NULL;
	ret_view->is_wrong = !ret_view->is_sane;
	ret_view->has_fields = ret_view->bytes == (ssize_t)VCLOCK_PAGE_SIZE &&
			       ret_view->page.magic == VCLOCK_PAGE_MAGIC &&
			       ret_view->page.version == VCLOCK_PAGE_VERSION;
	if (!ret_view->has_fields)
		return;
	ret_view->boot = page_words_boot(&ret_view->page);
	ret_view->timens = compare_timens(&ret_view->page);
	ret_view->may_count = ret_view->page.counter_kind == VCLOCK_COUNTER_KIND &&
			      measure_counter_is_readable();
	if (ret_view->is_sane)
		look_at_lines(ret_view);
	judge(ret_view);
}

static const struct page_clock *monotonic(const struct page_view *view)
{
	const struct page_clock *clock;

	for (clock = view->clock; clock < view->clock + CLOCK_NAMES && clock->name; clock++)
		if (clock->name->id == VCLOCK_MONOTONIC && clock->has_kernel)
			return clock;
	return NULL;
}

void page_view_rate(const struct page_view *earlier, struct page_view *view)
{
	const struct page_clock *from = monotonic(earlier), *to = monotonic(view);
	double ns, low, high;

	if (from == NULL || to == NULL || to->at_ns <= from->at_ns)
		return;
	ns = (double)(to->at_ns - from->at_ns);
	low = (double)(to->low_ns - from->high_ns) / ns * 1e9;
	high = (double)(to->high_ns - from->low_ns) / ns * 1e9;
	view->has_rate = true;
	view->rate_ppb = (low + high) / 2;
	view->rate_within_ppb = (high - low) / 2;
}

void page_view_drop(struct page_view *view)
{
	free(view->verdict);
	view->verdict = NULL;
}
