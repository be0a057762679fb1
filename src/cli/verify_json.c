/* SPDX-License-Identifier: MIT */
/*
 * verify_json.c - a run of `vclock verify` as one JSON object. Keys are described in docs/json.md.
 */
#include "cli/json.h"
#include "cli/verify.h"

static const char *const route_words[] = {"syscall", "vdso", "page"};
static const char *const verdict_words[] = {"ok", "fail", "unsteady", "not-possible"};

static void add_margin(struct json *row, const char *key, const struct check_margin *margin)
{
	struct json *object = json_new_object();

	json_add_int(object, "min_ns", margin->min_ns);
	json_add_int(object, "one_in_a_million_ns", margin->ppm_ns);
	json_add(row, key, object);
}

static struct json *make_row(const struct check_result *result, enum vclock_route route)
{
	struct json *row = json_new_object();

	json_add_string(row, "suite", result->suite);
	json_add_string(row, "clock", result->clock);
	json_add_string(row, "reader", result->subject);
	json_add_string(row, "route", route_words[route]);
	json_add_string(row, "verdict", verdict_words[result->verdict]);
	json_add_uint(row, "reads", result->reads);
	json_add_uint(row, "by_page", result->by_page);
	json_add_uint(row, "by_vdso", result->by_vdso);
	json_add_uint(row, "by_syscall", result->by_syscall);
	json_add_uint(row, "outside", result->outside);
	json_add_int(row, "worst_ns", result->worst_ns);
	json_add_uint(row, "excused", result->excused);
	json_add_uint(row, "wide", result->wide);
	json_add_uint(row, "blocks", result->blocks);
	json_add_uint(row, "steady_blocks", result->steady);
	json_add_uint(row, "error_ns", result->error_ns);
	if (result->has_margins) {
		add_margin(row, "above_lower_edge", &result->below);
		add_margin(row, "below_upper_edge", &result->above);
	}
	json_add_string(row, "note", result->note[0] != '\0' ? result->note : NULL);
	return row;
}

static struct json *make_page(const struct verify *verify)
{
	struct json *page = json_new_object();

	json_add_bool(page, "in_use", verify->has_page);
	json_add_string(page, "path", verify->page_path[0] != '\0' ? verify->page_path : NULL);
	json_add_bool(page, "trust_overridden", verify->trust_overridden);
	json_add_string(page, "reason",
			verify->page_reason[0] != '\0' ? verify->page_reason : NULL);
	return page;
}

void verify_print_json(const struct verify *verify)
{
	struct json *root = json_new_object(), *rows = json_new_array();
	unsigned i;

	for (i = 0; i < verify->rows; i++)
		json_add(rows, NULL, make_row(&verify->row[i], verify->row_route[i]));
	json_add_string(root, "vclock", VCLOCK_VERSION);
	json_add_string(root, "command", "verify");
	json_add_uint(root, "seconds", verify->seconds);
	json_add_string(root, "route_wanted",
			verify->route == VERIFY_ALL_ROUTES ? NULL : route_words[verify->route]);
	json_add_string(root, "library_route", route_words[verify->subject[0].route]);
	json_add(root, "page", make_page(verify));
	json_add_bool(root, "rate_is_visible", verify->run.steady.error == 0);
	json_add_uint(root, "ok", verify->count[CHECK_PASS]);
	json_add_uint(root, "failed", verify->count[CHECK_FAIL]);
	json_add_uint(root, "unsteady", verify->count[CHECK_UNSTEADY]);
	json_add_uint(root, "not_possible", verify->count[CHECK_IMPOSSIBLE]);
	json_add(root, "results", rows);
	json_print(root);
}
