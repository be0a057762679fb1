/* SPDX-License-Identifier: MIT */
/*
 * Every read of the page lies between two reads of the kernel's clock around it, for each clock and
 * each way to read it (C07), with gettimeofday cut to us (C09), and at the end of the run as at its
 * start: no drift (M07, M09). In the long run 10^8 reads a clock.
 */
#include "support_check.h"
#include "tap.h"

static void run(const struct check_subject *subject, uint64_t time_ns, uint64_t reads)
{
	uint64_t least = reads != 0 ? reads : 2000;
	struct support_rows rows;

	support_run("bracket", subject, time_ns, reads, 0, &rows);
	tap_ok(support_passes(&rows), "%s: every read in its bracket", subject->name);
	tap_ok(rows.least_reads >= least, "%s: %llu reads of each clock", subject->name,
	       (unsigned long long)rows.least_reads);
}

int main(void)
{
	uint64_t time_ns = tap_is_long() ? 800000000000u : 700000000u;
	uint64_t reads = tap_is_long() ? 100000000u : 0;
	struct check_subject subject;

	tap_ok(support_start_page(0) == 0, "a publisher starts");
	check_subject_inline_ns(&subject, vclock_page());
	run(&subject, time_ns, reads);
	check_subject_library(&subject);
	run(&subject, time_ns, reads);
	check_subject_inline(&subject, vclock_page());
	run(&subject, time_ns, reads / 10);
	check_subject_library_ns(&subject);
	run(&subject, time_ns, reads / 10);
	vclock_publisher_stop();
	return tap_done();
}
