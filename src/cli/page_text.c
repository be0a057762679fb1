/* SPDX-License-Identifier: MIT */
/*
 * page_text.c - `vclock page` for people.
 */
#include <inttypes.h>
#include <stdio.h>

#include "cli/info.h"
#include "cli/output.h"
#include "cli/page_view.h"
#include "cli/page_words.h"
#include "cli/table.h"

static const char *same_words(enum page_same same)
{
	static const char *const words[] = {"unknown", "the same", "another"};

	return words[same];
}

static void print_constants(const struct page_view *view)
{
	const struct vclock_page *page = &view->page;

	info_print_field("Writer", "process %u, an update every %.3f ms, lines %.3f ms ahead",
			 page->writer_pid, page->interval_ns / 1e6, page->ahead_ns / 1e6);
	info_print_field("Counter", "%s, %.3f MHz, shift %u%s",
			 page_words_counter(page->counter_kind), (double)page->counter_hz / 1e6,
			 page->shift,
			 view->may_count ? "" : "; this process cannot read it, or may not");
	info_print_field("Belongs to", "boot: %s; time namespace: %s", same_words(view->boot),
			 same_words(view->timens));
	info_print_field("Flags", "%s",
			 (page->flags & VCLOCK_PAGE_TRUST_OVERRIDDEN) != 0
				 ? "published although the kernel does not trust the counter"
				 : "none");
	info_print_field("Generation", "%u", page->generation);
}

static void print_state(const struct page_view *view)
{
	const struct vclock_slot *slot = view->slot;

	if (view->has_age)
		info_print_field("Age", "%.3f ms since the last update; late by up to %.3f ms",
				 (double)view->age_ns / 1e6, (double)slot->lateness_ns / 1e6);
	info_print_field("Error", "at most %u ns from the kernel's clocks, it says",
			 slot->error_ns);
	info_print_field("Rate", "MONOTONIC %+lld ppb against MONOTONIC_RAW",
			 (long long)view->raw_ppb);
	if (view->has_rate)
		info_print_field("", "%+.0f ppb against the kernel's MONOTONIC, to within %.0f",
				 view->rate_ppb, view->rate_within_ppb);
	info_print_field("TAI", "%+d s from REALTIME", slot->tai_offset_sec);
}

static void print_time(struct table *table, bool has, const struct vclock_timespec *ts)
{
	if (has)
		table_cell(table, "%" PRId64 ".%09" PRId64, ts->tv_sec, ts->tv_nsec);
	else
		table_cell(table, "-");
}

static void print_clock(struct table *table, const struct page_clock *clock)
{
	table_row(table);
	table_cell(table, "%s", clock->name->name);
	print_time(table, true, &clock->base);
	print_time(table, clock->has_now, &clock->now);
	if (!clock->has_kernel)
		return;
	table_cell(table, "%+" PRId64, clock->low_ns + (clock->high_ns - clock->low_ns) / 2);
	table_cell(table, "%" PRId64, (clock->high_ns - clock->low_ns + 1) / 2);
}

static void print_clocks(const struct page_view *view)
{
	struct table *table = table_new();
	const struct page_clock *clock;

	output("\nClocks; BASE: where the line starts; OFF: from the kernel's clock, to within the "
	       "next column\n");
	table_column(table, "CLOCK", TABLE_LEFT);
	table_column(table, "BASE s", TABLE_RIGHT);
	table_column(table, "NOW s", TABLE_RIGHT);
	table_column(table, "OFF ns", TABLE_RIGHT);
	table_column(table, "+- ns", TABLE_RIGHT);
	for (clock = view->clock; clock < view->clock + CLOCK_NAMES && clock->name; clock++)
		print_clock(table, clock);
	table_print(table);
}

void page_print_text(const struct page_view *view)
{
	info_print_field("Page", "%s: %s", view->path, view->verdict);
	if (!view->has_fields)
		return;
	print_constants(view);
	if (!view->is_sane || view->page.generation == 0)
		return;
	print_state(view);
	print_clocks(view);
}
