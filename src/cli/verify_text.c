/* SPDX-License-Identifier: MIT */
/*
 * verify_text.c - a run of `vclock verify` for people: one row for each suite and clock, all
 * subjects together, and a line for whatever is not in order.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/verify.h"

/* A row of the table: what subjects found together. */
struct sum {
	uint64_t reads, by_page, by_vdso, by_syscall, outside;
	int64_t worst_ns;
	enum check_verdict verdict;
};

/* What matters more stands for the row. */
static int severity(enum check_verdict verdict)
{
	static const int order[] = {
		[CHECK_IMPOSSIBLE] = 0, [CHECK_PASS] = 1, [CHECK_UNSTEADY] = 2, [CHECK_FAIL] = 3};

	return order[verdict];
}

static int64_t magnitude(int64_t value)
{
	return value < 0 ? -value : value;
}

static void sum_add(struct sum *sum, const struct check_result *row)
{
	sum->reads += row->reads;
	sum->by_page += row->by_page;
	sum->by_vdso += row->by_vdso;
	sum->by_syscall += row->by_syscall;
	sum->outside += row->outside;
	if (magnitude(row->worst_ns) > magnitude(sum->worst_ns))
		sum->worst_ns = row->worst_ns;
	if (severity(row->verdict) > severity(sum->verdict))
		sum->verdict = row->verdict;
}

static bool same_line(const struct check_result *a, const struct check_result *b)
{
	return strcmp(a->suite, b->suite) == 0 && strcmp(a->clock, b->clock) == 0;
}

/* Whether an earlier row has shown this line already. */
static bool is_shown(const struct verify *verify, unsigned index)
{
	unsigned i;

	for (i = 0; i < index; i++)
		if (same_line(&verify->row[i], &verify->row[index]))
			return true;
	return false;
}

static void print_line(struct table *table, const struct verify *verify, unsigned index)
{
	const struct check_result *row = &verify->row[index];
	struct sum sum = {.verdict = CHECK_IMPOSSIBLE};
	unsigned i;

	for (i = index; i < verify->rows; i++)
		if (same_line(row, &verify->row[i]))
			sum_add(&sum, &verify->row[i]);
	table_row(table);
	table_cell(table, "%s", row->suite);
	table_cell(table, "%s", row->clock);
	table_cell(table, "%llu", (unsigned long long)sum.reads);
	table_cell(table, "%llu", (unsigned long long)sum.by_page);
	table_cell(table, "%llu", (unsigned long long)sum.by_vdso);
	table_cell(table, "%llu", (unsigned long long)sum.by_syscall);
	table_cell(table, "%llu", (unsigned long long)sum.outside);
	table_cell(table, "%lld", (long long)sum.worst_ns);
	table_cell(table, "%s", check_verdict_string(sum.verdict));
}

static void print_table(const struct verify *verify)
{
	struct table *table = table_new();
	unsigned i;

	table_column(table, "SUITE", TABLE_LEFT);
	table_column(table, "CLOCK", TABLE_LEFT);
	table_column(table, "READS", TABLE_RIGHT);
	table_column(table, "page", TABLE_RIGHT);
	table_column(table, "vdso", TABLE_RIGHT);
	table_column(table, "syscall", TABLE_RIGHT);
	table_column(table, "OUTSIDE", TABLE_RIGHT);
	table_column(table, "WORST ns", TABLE_RIGHT);
	table_column(table, "VERDICT", TABLE_LEFT);
	for (i = 0; i < verify->rows; i++)
		if (!is_shown(verify, i))
			print_line(table, verify, i);
	table_print(table);
}

static void print_head(const struct verify *verify)
{
	char *path = cli_shown(verify->page_path);
	unsigned i;

	if (verify->has_page)
		output("Page: %s%s.\n", path[0] != '\0' ? path : "a publisher of this process",
		       verify->trust_overridden ? ", although the kernel does not trust the counter"
						: "");
	else if (verify->route == VERIFY_ALL_ROUTES)
		output("Page: not in use here: %s.\n", verify->page_reason);
	free(path);
	output("Readers:");
	for (i = 0; i < verify->subjects; i++)
		output("%s %s", i > 0 ? "," : "", verify->subject[i].name);
	output("; the library answers by %s.\n\n", vclock_route_string(verify->subject[0].route));
}

/* Everything that did not pass, and what of the kernel's own is known to be wrong. */
static void print_notes(const struct verify *verify)
{
	const struct check_result *row;
	unsigned i;

	for (i = 0; i < verify->rows; i++) {
		row = &verify->row[i];
		if (row->verdict == CHECK_PASS && strncmp(row->note, "known", 5) != 0)
			continue;
		output("%s: %s %s, %s: ",
		       row->verdict == CHECK_PASS ? "note" : check_verdict_string(row->verdict),
		       row->suite, row->clock, row->subject);
		if (row->outside > 0)
			output("%llu of %llu outside, worst %lld ns; ",
			       (unsigned long long)row->outside, (unsigned long long)row->reads,
			       (long long)row->worst_ns);
		output("%s\n", row->note);
	}
}

static void print_foot(const struct verify *verify)
{
	uint64_t wide = 0, excused = 0;
	uint32_t error_ns = 0;
	unsigned i;

	for (i = 0; i < verify->rows; i++) {
		/* By system call all are. */
		if (strcmp(verify->row[i].suite, "bracket") == 0 &&
		    verify->row[i].wide * 2 < verify->row[i].reads)
			wide += verify->row[i].wide;
		excused += verify->row[i].excused;
		if (verify->row[i].error_ns > error_ns)
			error_ns = verify->row[i].error_ns;
	}
	if (wide > 0)
		output("%llu brackets were wider than 1 us: interrupted, and judged all the "
		       "same.\n",
		       (unsigned long long)wide);
	if (excused > 0)
		output("%llu reads were outside by no more than the page states at such times (up "
		       "to %u ns,\nor standing still while its writer was late).\n",
		       (unsigned long long)excused, error_ns);
	if (verify->run.steady.error != 0)
		output("adjtimex cannot be read here (%s): the kernel's rate is taken as steady.\n",
		       strerror(-verify->run.steady.error));
	output("%u checks: %u ok, %u failed, %u unsteady, %u not possible.\n", verify->rows,
	       verify->count[CHECK_PASS], verify->count[CHECK_FAIL], verify->count[CHECK_UNSTEADY],
	       verify->count[CHECK_IMPOSSIBLE]);
}

void verify_print_text(const struct verify *verify)
{
	print_head(verify);
	print_table(verify);
	output("\n");
	print_notes(verify);
	print_foot(verify);
}
