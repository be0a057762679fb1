/* SPDX-License-Identifier: MIT */
/*
 * page_json.c - `vclock page --json`.
 */
#include "cli/json.h"
#include "cli/page_view.h"

static void add_same(struct json *root, const char *key, enum page_same same)
{
	if (same == PAGE_UNKNOWN)
		json_add_string(root, key, NULL);
	else
		json_add_bool(root, key, same == PAGE_SAME);
}

static void add_constants(struct json *root, const struct page_view *view)
{
	static const char *const kinds[] = {"none", "tsc", "cntvct", "riscv", "caller"};
	const struct vclock_page *page = &view->page;

	json_add_uint(root, "writer_pid", page->writer_pid);
	json_add_uint(root, "interval_ns", page->interval_ns);
	json_add_uint(root, "ahead_ns", page->ahead_ns);
	json_add_string(root, "counter",
			page->counter_kind < sizeof(kinds) / sizeof(kinds[0])
				? kinds[page->counter_kind]
				: NULL);
	json_add_uint(root, "counter_hz", page->counter_hz);
	json_add_bool(root, "counter_readable", view->may_count);
	json_add_uint(root, "shift", page->shift);
	json_add_uint(root, "generation", page->generation);
	json_add_uint(root, "flags", page->flags);
	json_add_bool(root, "trust_overridden", (page->flags & VCLOCK_PAGE_TRUST_OVERRIDDEN) != 0);
	add_same(root, "same_boot", view->boot);
	add_same(root, "same_time_namespace", view->timens);
}

static struct json *time_object(bool has, const struct vclock_timespec *ts)
{
	struct json *object;

	if (!has)
		return NULL;
	object = json_new_object();
	json_add_int(object, "sec", ts->tv_sec);
	json_add_int(object, "nsec", ts->tv_nsec);
	return object;
}

static void add_time(struct json *object, const char *key, bool has,
		     const struct vclock_timespec *ts)
{
	if (has)
		json_add(object, key, time_object(has, ts));
	else
		json_add_string(object, key, NULL);
}

static struct json *clock_object(const struct page_clock *clock)
{
	struct json *object = json_new_object();

	json_add_string(object, "name", clock->name->name);
	json_add_int(object, "id", clock->name->id);
	add_time(object, "base", true, &clock->base);
	add_time(object, "now", clock->has_now, &clock->now);
	if (clock->has_kernel) {
		json_add_int(object, "offset_min_ns", clock->low_ns);
		json_add_int(object, "offset_max_ns", clock->high_ns);
	} else {
		json_add_string(object, "offset_min_ns", NULL);
		json_add_string(object, "offset_max_ns", NULL);
	}
	return object;
}

static void add_state(struct json *root, const struct page_view *view)
{
	const struct page_clock *clock;
	struct json *clocks = json_new_array();

	if (view->has_age)
		json_add_uint(root, "age_ns", view->age_ns);
	else
		json_add_string(root, "age_ns", NULL);
	json_add_uint(root, "lateness_ns", view->slot->lateness_ns);
	json_add_uint(root, "error_ns", view->slot->error_ns);
	json_add_string(root, "retired",
			view->slot->retired != VCLOCK_RETIRED_NOT
				? vclock_retired_string(view->slot->retired)
				: NULL);
	json_add_int(root, "tai_offset_sec", view->slot->tai_offset_sec);
	json_add_int(root, "raw_ppb", view->raw_ppb);
	if (view->has_rate) {
		json_add_number(root, "kernel_ppb", view->rate_ppb, 1);
		json_add_number(root, "kernel_within_ppb", view->rate_within_ppb, 1);
	} else {
		json_add_string(root, "kernel_ppb", NULL);
		json_add_string(root, "kernel_within_ppb", NULL);
	}
	for (clock = view->clock; clock < view->clock + CLOCK_NAMES && clock->name; clock++)
		json_add(clocks, NULL, clock_object(clock));
	json_add(root, "clocks", clocks);
}

void page_print_json(const struct page_view *view)
{
	struct json *root = json_new_object();

	json_add_string(root, "vclock", VCLOCK_VERSION);
	json_add_string(root, "command", "page");
	json_add_string(root, "path", view->path);
	json_add_bool(root, "usable", view->error == 0);
	json_add_bool(root, "wrong", view->is_wrong);
	json_add_string(root, "verdict", view->verdict);
	if (view->has_fields)
		add_constants(root, view);
	if (view->is_sane && view->has_fields && view->page.generation != 0)
		add_state(root, view);
	json_print(root);
}
