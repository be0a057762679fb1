/* SPDX-License-Identifier: MIT */
/*
 * The image passes every conformance suite: values in brackets, order across CPUs, resolutions,
 * error codes against the raw system call, forks. With the kernel's vDSO behind it.
 */
#include "support_check.h"
#include "support_image.h"
#include "tap.h"

int main(void)
{
	struct check_subject subject;
	struct support_rows rows;
	struct image_map map;

	image_map(&map, image_start_page(), 1);
	image_count_fallbacks(&map);
	image_subject(&subject, &map);
	support_run_all(&subject, tap_is_long() ? 60000000000u : 4000000000u, &rows);
	tap_ok(support_passes(&rows), "all suites: %u rows, %u failed, %u unsteady", rows.count,
	       rows.failed, rows.unsteady);
	return tap_done();
}
