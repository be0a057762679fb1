/* SPDX-License-Identifier: MIT */
/*
 * bench_text.c - `vclock bench` for people, and for benchstat.
 */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/output.h"
#include "cli/table.h"

/* benchstat wants several values a benchmark, to tell how much they vary. */
#define GO_PARTS 10

static void cell_ns(struct table *table, double ns)
{
	if (ns < 0)
		table_cell(table, "-");
	else
		table_cell(table, ns < 100 ? "%.2f" : "%.0f", ns);
}

static void cell_whole_ns(struct table *table, double ns)
{
	if (ns < 0)
		table_cell(table, "%s", "");
	else
		table_cell(table, "%.0f", ns);
}

/* What costs less than the loop around it, such as a load, has no meaningful quotient. */
static void cell_times(struct table *table, double before, double after)
{
	if (before < 0)
		table_cell(table, "-");
	else if (after < before / 1000)
		table_cell(table, "> 1000");
	else
		table_cell(table, "%.2f", before / after);
}

static void cell_note(struct table *table, const struct bench_row *row)
{
	if (row->result.rounds == 0)
		table_cell(table, "no figures: the timer went back in all %u batches",
			   row->result.negative);
	else if (row->result.is_gone)
		table_cell(table, "OPTIMISED AWAY, no loop was run; %s", row->note);
	else if (row->result.negative != 0)
		table_cell(table, "%u batches in which the timer went back left out; %s",
			   row->result.negative, row->note);
	else
		table_cell(table, "%s", row->note);
}

static void print_rows(const struct bench *bench)
{
	struct table *table = table_new();
	const struct bench_row *row;
	const struct measure_result *result;
	size_t i;

	table_column(table, "WHAT", TABLE_LEFT);
	table_column(table, "HOW", TABLE_LEFT);
	table_column(table, "MIN ns", TABLE_RIGHT);
	table_column(table, "MEDIAN", TABLE_RIGHT);
	table_column(table, "P99", TABLE_RIGHT);
	table_column(table, "CYCLES", TABLE_RIGHT);
	table_column(table, "ROUNDS", TABLE_RIGHT);
	table_column(table, "NOTE", TABLE_WRAP);
	for (i = 0; i < bench->rows.count; i++) {
		row = &bench->rows.row[i];
		result = &row->result;
		table_row(table);
		table_cell(table, "%s", row->group);
		table_cell(table, "%s", row->way);
		/* No "-0.00". */
		table_cell(table, "%.2f", fabs(result->min_ns) < 0.005 ? 0 : result->min_ns);
		table_cell(table, "%.2f", result->median_ns);
		table_cell(table, "%.2f", result->p99_ns);
		if (bench->ticks_are_cycles)
			table_cell(table, "%.1f",
				   fabs(result->min_cyc) < 0.05 ? 0 : result->min_cyc);
		else
			table_cell(table, "-");
		table_cell(table, "%zu", result->rounds);
		cell_note(table, row);
	}
	table_print(table);
}

static void print_gains(const struct bench *bench)
{
	struct bench_gain gains[BENCH_GAINS_MAX];
	size_t i, count = bench_gains(bench, gains);
	struct table *table;
	double after;

	if (count == 0)
		return;
	output("\nBefore and after, ns a call (minimum); RES is what clock_getres says, STEP the "
	       "smallest step seen:\n");
	table = table_new();
	table_column(table, "CLOCK", TABLE_LEFT);
	table_column(table, "LIBC NOW", TABLE_RIGHT);
	table_column(table, "SYSCALL", TABLE_RIGHT);
	table_column(table, bench->library.path != NULL ? "VCLOCK .so" : "VCLOCK lib", TABLE_RIGHT);
	table_column(table, "VCLOCK inline", TABLE_RIGHT);
	table_column(table, "LIBC/VCLOCK", TABLE_RIGHT);
	table_column(table, "SYSCALL/VCLOCK", TABLE_RIGHT);
	table_column(table, "RES", TABLE_RIGHT);
	table_column(table, "STEP", TABLE_RIGHT);
	for (i = 0; i < count; i++) {
		after = gains[i].inline_ns >= 0 ? gains[i].inline_ns : gains[i].library_ns;
		table_row(table);
		table_cell(table, "%s", gains[i].what);
		cell_ns(table, gains[i].libc_ns);
		cell_ns(table, gains[i].syscall_ns);
		cell_ns(table, gains[i].library_ns);
		cell_ns(table, gains[i].inline_ns);
		cell_times(table, gains[i].libc_ns, after);
		cell_times(table, gains[i].syscall_ns, after);
		cell_whole_ns(table, gains[i].res_ns);
		cell_whole_ns(table, gains[i].step_ns);
	}
	table_print(table);
}

static void print_ratios(const struct bench *bench)
{
	struct bench_ratio ratios[BENCH_RATIOS_MAX];
	size_t i, count = bench_ratios(bench, ratios);
	struct table *table;

	if (count == 0)
		return;
	output("\nRatios of minima; %s\n",
	       ratios[0].gates ? "this machine is of the kind that the bounds were stated for."
			       : "the bounds were stated for one thread where the kernel's "
				 "clocksource is the counter: not so here, for comparison only.");
	table = table_new();
	table_column(table, "RATIO", TABLE_LEFT);
	table_column(table, "VALUE", TABLE_RIGHT);
	table_column(table, "BOUND", TABLE_RIGHT);
	table_column(table, "", TABLE_LEFT);
	for (i = 0; i < count; i++) {
		table_row(table);
		table_cell(table, "%s", ratios[i].name);
		table_cell(table, "%.3f", ratios[i].value);
		table_cell(table, "%s %.2f", ratios[i].is_floor ? ">=" : "<=", ratios[i].bound);
		table_cell(table, "%s%s", ratios[i].holds ? "holds" : "does not hold",
			   ratios[i].gates ? "" : " (does not gate here)");
	}
	table_print(table);
}

void bench_print_text(const struct bench *bench)
{
	char *message = cli_shown(bench->page_message);

	output("Timed with the %s, %u rounds, %u thread%s.", bench->timer, bench->rounds,
	       bench->threads, bench->threads == 1 ? "" : "s");
	if (bench->counter.hz != 0)
		output(" Counter %.3f MHz.", (double)bench->counter.hz / 1e6);
	output(" Clocksource %s.\n%s\n\n",
	       bench->counter.current[0] != '\0' ? bench->counter.current : "unknown", message);
	free(message);
	print_rows(bench);
	print_gains(bench);
	print_ratios(bench);
}

/* "monotonic_raw" -> "MonotonicRaw" */
static void print_go_name(const char *group)
{
	bool is_first = true;

	for (; *group != '\0'; group++) {
		if (*group != '_')
			output("%c", is_first ? toupper((unsigned char)*group) : *group);
		is_first = *group == '_';
	}
}

static double least(const double *values, size_t count)
{
	double value = values[0];
	size_t i;

	for (i = 1; i < count; i++) {
		if (values[i] < value)
			value = values[i];
	}
	return value;
}

/* The minimum of each tenth of the rounds. */
static void print_go_row(const struct bench *bench, const struct bench_row *row)
{
	size_t parts = row->result.rounds < GO_PARTS ? row->result.rounds : GO_PARTS;
	size_t i, begin, end;

	for (i = 0; i < parts; i++) {
		begin = row->result.rounds * i / parts;
		end = row->result.rounds * (i + 1) / parts;
		output("Benchmark");
		print_go_name(row->group);
		output("/%s", row->way);
		if (bench->threads > 1)
			output("-%u", bench->threads);
		output("\t%llu\t%.4f ns/op\n",
		       (unsigned long long)(end - begin) * row->result.calls,
		       least(row->result.ordered_ns + begin, end - begin));
	}
}

/* Rows that a compiler took away would be figures of nothing in a comparison. */
void bench_print_go(const struct bench *bench)
{
	struct utsname name;
	size_t i;

	if (uname(&name) == 0)
		output("goos: linux\ngoarch: %s\npkg: vclock\n", name.machine);
	for (i = 0; i < bench->rows.count; i++) {
		if (!bench->rows.row[i].result.is_gone)
			print_go_row(bench, &bench->rows.row[i]);
	}
}
