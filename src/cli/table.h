/* SPDX-License-Identifier: MIT */
/*
 * table.h - tables for people: libsmartcols on the native build, plain aligned text elsewhere.
 *
 *	struct table *table = table_new();
 *	table_column(table, "CLOCK", TABLE_LEFT);
 *	table_column(table, "ns", TABLE_RIGHT);
 *	table_row(table);
 *	table_cell(table, "%s", name);
 *	table_cell(table, "%.1f", ns);
 *	table_print(table);
 *
 * Running out of memory ends the program; see cli_alloc().
 */
#ifndef TABLE_H
#define TABLE_H

enum table_align {
	TABLE_LEFT,
	TABLE_RIGHT,
	TABLE_WRAP /* left, and broken over lines where the terminal is too narrow */
};

struct table;

struct table *table_new(void);
/* All columns come before the first row. The name must outlive the table. */
void table_column(struct table *table, const char *name, enum table_align align);
/* Starts a row; its cells follow in the order of the columns, missing ones are blank. */
void table_row(struct table *table);
void table_cell(struct table *table, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Prints to stdout and frees the table. */
void table_print(struct table *table);

#endif /* TABLE_H */
