/* SPDX-License-Identifier: MIT */
/* support_check.c - see support_check.h. */
#include "support_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/*
 * On a machine that gives us no CPU for 20 ms at times, a short run can leave the page too often
 * for the 95 % that are demanded of each row, and a burst of some ms need not meet the page at all.
 * A run with such rows is made again, a little later, and only what it says of these rows is taken,
 * unless something else is wrong.
 */
#define TRIES 8
static const struct timespec pause_of_a_try = {0, 100000000};

static void print_row(const struct check_result *r)
{
	printf("# %s %s %s: %s, %llu reads (page %llu, vdso %llu, syscall %llu), outside %llu, "
	       "worst %lld ns, excused %llu, wide %llu, steady %u/%u, error %u ns",
	       r->suite, r->subject, r->clock, check_verdict_string(r->verdict),
	       (unsigned long long)r->reads, (unsigned long long)r->by_page,
	       (unsigned long long)r->by_vdso, (unsigned long long)r->by_syscall,
	       (unsigned long long)r->outside, (long long)r->worst_ns,
	       (unsigned long long)r->excused, (unsigned long long)r->wide, r->steady, r->blocks,
	       r->error_ns);
	if (r->has_margins)
		printf(", margins %lld (ppm %lld) below, %lld (ppm %lld) above",
		       (long long)r->below.min_ns, (long long)r->below.ppm_ns,
		       (long long)r->above.min_ns, (long long)r->above.ppm_ns);
	printf("%s%s\n", r->note[0] != '\0' ? "; " : "", r->note);
	fflush(stdout);
}

static void count_row(struct support_rows *rows, const struct check_result *result)
{
	rows->failed += result->verdict == CHECK_FAIL;
	rows->unsteady += result->verdict == CHECK_UNSTEADY;
	rows->impossible += result->verdict == CHECK_IMPOSSIBLE;
	if (result->verdict != CHECK_IMPOSSIBLE &&
	    (rows->count == 0 || result->reads < rows->least_reads))
		rows->least_reads = result->reads;
	if (rows->count < sizeof(rows->row) / sizeof(rows->row[0]))
		rows->row[rows->count++] = *result;
}

void support_keep_row(void *arg, const struct check_result *result)
{
	print_row(result);
	count_row(arg, result);
}

static struct check_run make_run(uint64_t time_ns, struct support_rows *rows)
{
	struct check_run run = {
		.time_ns = time_ns,
		.seed = (uint32_t)getpid() | 1,
		.report = support_keep_row,
		.report_arg = rows,
	};

	memset(rows, 0, sizeof(*rows));
	printf("# seed %u\n", run.seed);
	check_steady_look(&run.steady);
	return run;
}

/* Whether all that is wrong is the share of the page, and so by a publisher that came late. */
static int is_starved(const struct check_result *row)
{
	return row->verdict == CHECK_FAIL && row->outside == 0 &&
	       strstr(row->note, " came from the page") != NULL;
}

static unsigned starved(const struct support_rows *rows)
{
	unsigned i, count = 0;

	for (i = 0; i < rows->count; i++)
		count += is_starved(&rows->row[i]) != 0;
	return count;
}

/* Takes the rows of another try: those that were starved, and those that say that all is wrong. */
static void take_try(struct support_rows *rows, const struct support_rows *again)
{
	static struct support_rows old;
	unsigned i;

	old = *rows;
	memset(rows, 0, sizeof(*rows));
	for (i = 0; i < again->count; i++) {
		int is_kept = i < old.count && !is_starved(&old.row[i]) &&
			      (again->row[i].verdict == CHECK_PASS || is_starved(&again->row[i]));

		count_row(rows, is_kept ? &old.row[i] : &again->row[i]);
	}
}

void support_run_once(const char *suite, const struct check_subject *subject, uint64_t time_ns,
		      uint64_t reads, uint32_t clocks, struct support_rows *ret_rows)
{
	struct check_run run = make_run(time_ns, ret_rows);

	run.reads = reads;
	run.clocks = clocks;
	check_suite_find(suite)->run(&run, subject);
}

void support_run(const char *suite, const struct check_subject *subject, uint64_t time_ns,
		 uint64_t reads, uint32_t clocks, struct support_rows *ret_rows)
{
	static struct support_rows again;
	struct support_rows *rows = ret_rows;
	int tries = 0;

	do {
		support_run_once(suite, subject, time_ns, reads, clocks, rows);
		if (rows != ret_rows)
			take_try(ret_rows, rows);
		rows = &again;
		if (starved(ret_rows) == 0 || starved(ret_rows) != ret_rows->failed)
			break;
		nanosleep(&pause_of_a_try, NULL);
	} while (++tries < TRIES);
}

void support_run_all(const struct check_subject *subject, uint64_t time_ns,
		     struct support_rows *ret_rows)
{
	static struct support_rows rows;
	unsigned i, k;

	memset(ret_rows, 0, sizeof(*ret_rows));
	for (i = 0; i < check_suites_count; i++) {
		support_run(check_suites[i].name, subject,
			    check_suite_time(&check_suites[i], time_ns), 0, 0, &rows);
		for (k = 0; k < rows.count; k++)
			count_row(ret_rows, &rows.row[k]);
	}
}

int support_passes(const struct support_rows *rows)
{
	return rows->count > rows->impossible && rows->failed == 0 && rows->unsteady == 0;
}

int support_start_publisher(uint32_t interval_ns)
{
	struct vclock_publisher_options options = {
		.size = sizeof(options),
		.interval_ns = interval_ns,
		.trust_counter = 1,
		.wait_ms = 3000,
		.realtime_priority = 10,
	};
	int r = vclock_publisher_start(&options);

	if (r == -EPERM) {
		options.realtime_priority = 0;
		r = vclock_publisher_start(&options);
	}
	return r;
}

int support_start_page(uint32_t interval_ns)
{
	const struct timespec settle = {0, 300000000};
	int r = support_start_publisher(interval_ns);

	if (r == 0)
		nanosleep(&settle, NULL);
	return r;
}
