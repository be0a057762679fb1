/* SPDX-License-Identifier: MIT */
/*
 * The image passes every conformance suite: values in brackets, order across CPUs, resolutions,
 * error codes against the raw system call, forks. With the kernel's vDSO behind it.
 *
 * A row of `make check` lasts a tenth of a second, and a machine that stands still for a few line
 * lengths starves it of the page; so the page's share is judged over all rows.
 */
#include <string.h>

#include "support_check.h"
#include "support_image.h"
#include "tap.h"

static int is_starved(const struct check_result *row)
{
	return row->verdict == CHECK_FAIL && row->outside == 0 && row->by_page > 0 &&
	       strstr(row->note, "came from the page") != NULL;
}

static void judge(const struct support_rows *rows)
{
	uint64_t page = 0, other = 0;
	unsigned i, starved = 0;

	for (i = 0; i < rows->count; i++) {
		starved += is_starved(&rows->row[i]);
		if (rows->row[i].by_page == 0)
			continue; /* COARSE clocks, and errors */
		page += rows->row[i].by_page;
		other += rows->row[i].by_vdso + rows->row[i].by_syscall;
	}
	tap_ok(rows->count > 25 && rows->failed == starved && rows->unsteady == 0,
	       "all suites: %u rows, %u failed, %u of them without the page, %u unsteady",
	       rows->count, rows->failed, starved, rows->unsteady);
	tap_ok(page > 1000000 / 20 && page * 100 >= (page + other) * 95,
	       "%llu reads came from the page, %llu did not", (unsigned long long)page,
	       (unsigned long long)other);
}

int main(void)
{
	struct check_subject subject;
	struct support_rows rows;
	struct image_map map;

	image_map(&map, image_start_page(), 1);
	image_count_fallbacks(&map);
	image_subject(&subject, &map);
	support_run_all(&subject, tap_is_long() ? 60000000000u : 4000000000u, &rows);
	judge(&rows);
	return tap_done();
}
