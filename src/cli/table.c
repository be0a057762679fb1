/* SPDX-License-Identifier: MIT */
/*
 * table.c - see table.h. The only file that knows libsmartcols.
 */
#include "cli/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/output.h"

#define COLUMNS_MAX 16

static char *cell_text(const char *fmt, va_list ap)
{
	char *text;

	if (vasprintf(&text, fmt, ap) < 0)
		exit(cli_error(CLI_FAILURE, "out of memory"));
	return text;
}

#if VCLOCK_HAS_LIBS

#include <libsmartcols/libsmartcols.h>

struct table {
	struct libscols_table *scols;
	struct libscols_line *line;
	size_t columns, cells;
};

static void *must(void *object)
{
	if (object == NULL)
		exit(cli_error(CLI_FAILURE, "out of memory"));
	return object;
}

struct table *table_new(void)
{
	struct table *table = cli_alloc(sizeof(*table));

	table->scols = must(scols_new_table());
	return table;
}

void table_column(struct table *table, const char *name, enum table_align align)
{
	int flags = align == TABLE_RIGHT ? SCOLS_FL_RIGHT : align == TABLE_WRAP ? SCOLS_FL_WRAP : 0;

	must(scols_table_new_column(table->scols, name, 0, flags));
	table->columns++;
}

void table_row(struct table *table)
{
	table->line = must(scols_table_new_line(table->scols, NULL));
	table->cells = 0;
}

void table_cell(struct table *table, const char *fmt, ...)
{
	va_list ap;
	char *text;

	va_start(ap, fmt);
	text = cell_text(fmt, ap);
	va_end(ap);
	if (table->cells < table->columns)
		scols_line_refer_data(table->line, table->cells++, text);
}

void table_print(struct table *table)
{
	scols_print_table(table->scols);
	scols_unref_table(table->scols);
	free(table);
}

#else /* plain text */

struct table_line {
	struct table_line *next;
	char *cell[COLUMNS_MAX];
};

struct table {
	const char *name[COLUMNS_MAX];
	enum table_align align[COLUMNS_MAX];
	size_t width[COLUMNS_MAX];
	size_t columns, cells;
	struct table_line *first, *last;
};

struct table *table_new(void)
{
	return cli_alloc(sizeof(struct table));
}

void table_column(struct table *table, const char *name, enum table_align align)
{
	if (table->columns == COLUMNS_MAX)
		return;
	table->name[table->columns] = name;
	table->align[table->columns] = align;
	table->width[table->columns] = strlen(name);
	table->columns++;
}

void table_row(struct table *table)
{
	struct table_line *line = cli_alloc(sizeof(*line));

	if (table->last != NULL)
		table->last->next = line;
	else
		table->first = line;
	table->last = line;
	table->cells = 0;
}

void table_cell(struct table *table, const char *fmt, ...)
{
	va_list ap;
	char *text;
	size_t i = table->cells;

	va_start(ap, fmt);
	text = cell_text(fmt, ap);
	va_end(ap);
	if (i >= table->columns) {
		free(text);
		return;
	}
	table->last->cell[i] = text;
	if (strlen(text) > table->width[i])
		table->width[i] = strlen(text);
	table->cells++;
}

static void print_line(const struct table *table, const char *const *cell)
{
	size_t i;
	int width;

	for (i = 0; i < table->columns; i++) {
		width = (int)table->width[i];
		if (table->align[i] != TABLE_RIGHT)
			width = i + 1 == table->columns ? 0 : -width;
		output("%s%*s", i != 0 ? " " : "", width, cell[i] != NULL ? cell[i] : "");
	}
	output("\n");
}

void table_print(struct table *table)
{
	struct table_line *line;
	size_t i;

	print_line(table, table->name);
	while ((line = table->first) != NULL) {
		print_line(table, (const char *const *)line->cell);
		table->first = line->next;
		for (i = 0; i < COLUMNS_MAX; i++)
			free(line->cell[i]);
		free(line);
	}
	free(table);
}

#endif
