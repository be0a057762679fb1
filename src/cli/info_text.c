/* SPDX-License-Identifier: MIT */
/*
 * info_text.c - `vclock info` for people.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/info.h"
#include "cli/output.h"
#include "cli/page_words.h"
#include "cli/table.h"

#define LABEL_WIDTH 12
#define WIDTH 100

/* Prints one line of text; returns what is left of it. */
static const char *print_line(const char *text)
{
	size_t room = WIDTH - LABEL_WIDTH, length = strlen(text), at;

	if (length > room) {
		for (at = room; at > 0 && text[at] != ' '; at--)
			;
		length = at > 0 ? at : strcspn(text, " ");
	}
	output("%.*s\n", (int)length, text);
	text += length;
	return text + strspn(text, " ");
}

void info_print_field(const char *label, const char *fmt, ...)
{
	va_list ap;
	char *text, *shown;
	const char *rest;
	int r;

	va_start(ap, fmt);
	r = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (r < 0)
		exit(cli_error(CLI_FAILURE, "out of memory"));
	shown = cli_shown(text);
	free(text);
	for (rest = shown; *rest != '\0'; label = "") {
		output("%-*s", LABEL_WIDTH, label);
		rest = print_line(rest);
	}
	free(shown);
}

static const char *yes(bool is_so)
{
	return is_so ? "yes" : "no";
}

static const char *trust_words(uint32_t trust)
{
	switch (trust) {
	case VCLOCK_TRUST_FULL:
		return "trusted";
	case VCLOCK_TRUST_WATCHED:
		return "trusted until the first disagreement";
	case VCLOCK_TRUST_PROVE:
		return "trusted after 10 s of agreement";
	case VCLOCK_TRUST_WAIT:
		return "not yet trusted";
	default:
		return "not trusted";
	}
}

static void print_counter(const struct info *info)
{
	const struct vclock_counter_status *counter = &info->counter;

	info_print_field("Counter", "%s, %.3f MHz, readable: %s, invariant: %s",
			 page_words_counter(counter->kind), (double)counter->hz / 1e6,
			 yes(counter->is_readable), yes(counter->is_invariant));
	info_print_field("", "%s: %s", trust_words(counter->trust), counter->reason);
	info_print_field("Clocksource", "%s (listed: %s)",
			 counter->current[0] != '\0' ? counter->current : "unknown",
			 counter->available[0] != '\0' ? counter->available : "unknown");
	info_print_field("", "%s", info->cure.means);
	if (info->cure.cure[0] != '\0')
		info_print_field("Cure", "%s", info->cure.cure);
}

static void print_vdso(const struct info *info)
{
	char *list = info_vdso_list(&info->vdso);

	if (info->vdso.error == 0)
		info_print_field("vDSO", "%s at %p", vclock_elf_soname(&info->vdso.elf),
				 (const void *)info->vdso.elf.image);
	info_print_field(info->vdso.error == 0 ? "" : "vDSO", "%s", list);
	free(list);
}

static const char *page_owner(uint32_t source)
{
	switch (source) {
	case VCLOCK_PAGE_FILE:
		return "the machine's";
	case VCLOCK_PAGE_OWN:
		return "this process's own";
	default:
		return "an ancestor's";
	}
}

static void print_page(const struct info *info)
{
	const struct vclock_status *status = &info->status;

	if (status->page_source == VCLOCK_PAGE_NONE) {
		info_print_field("Page", "none. %s: %s", info->file.path, info->file.verdict);
		return;
	}
	info_print_field("Page", "%s, %s, written by process %u every %.3f ms, last %.3f ms ago",
			 page_owner(status->page_source),
			 status->page_path[0] != '\0' ? status->page_path : "private",
			 status->page_writer_pid, (double)status->page_interval_ns / 1e6,
			 (double)status->page_age_ns / 1e6);
	info_print_field("", "error at most %u ns, writer late by up to %.3f ms, generation %u%s",
			 status->page_error_ns, (double)status->page_lateness_ns / 1e6,
			 status->page_generation,
			 (status->page_flags & VCLOCK_PAGE_TRUST_OVERRIDDEN) != 0
				 ? ", published although the kernel does not trust the counter"
				 : "");
	if (status->page_retired != VCLOCK_RETIRED_NOT)
		info_print_field("", "ended: %s", vclock_retired_string(status->page_retired));
}

static void print_rest(const struct info *info)
{
	const struct vclock_status *status = &info->status;

	info_print_field("getpid", "%s",
			 status->getpid_is_cached
				 ? "remembered, in memory that the kernel wipes in every fork"
				 : "a system call: the kernel cannot wipe memory on fork "
				   "(MADV_WIPEONFORK)");
	if (status->route_limit != VCLOCK_ROUTE_PAGE)
		info_print_field("Limit", "VCLOCK_ROUTE=%s",
				 vclock_route_string(status->route_limit));
	if (status->route_unknown)
		info_print_field("Limit", "VCLOCK_ROUTE has an unknown value and is ignored");
}

static void print_clock(struct table *table, const struct info_clock *clock)
{
	table_row(table);
	table_cell(table, "%s", clock->name->name);
	table_cell(table, "%d", clock->name->id);
	table_cell(table, "%s", clock->error != 0 ? "-" : vclock_route_string(clock->route));
	table_cell(table, "%s", yes(clock->vdso));
	table_cell(table, clock->res_ns < 0 ? "-" : "%lld", (long long)clock->res_ns);
	table_cell(table, clock->error != 0 ? "-" : "%.1f", clock->ns);
	table_cell(table, "%s", clock->reason);
}

static void print_clocks(const struct info *info)
{
	struct table *table = table_new();
	size_t i;

	output("\nClocks; KERNEL: whether the kernel answers without a system call (found out by: "
	       "%s)\n",
	       info->probe.how);
	table_column(table, "CLOCK", TABLE_LEFT);
	table_column(table, "ID", TABLE_RIGHT);
	table_column(table, "ROUTE", TABLE_LEFT);
	table_column(table, "KERNEL", TABLE_LEFT);
	table_column(table, "RES ns", TABLE_RIGHT);
	table_column(table, "ns/CALL", TABLE_RIGHT);
	table_column(table, "REASON", TABLE_WRAP);
	for (i = 0; i < CLOCK_NAMES; i++)
		print_clock(table, &info->clock[i]);
	table_print(table);
}

static void print_calls(void)
{
	const struct info_calls *calls;
	struct table *table = table_new();

	output("\nSystem calls that the library may make\n");
	table_column(table, "FUNCTION", TABLE_LEFT);
	table_column(table, "SYSTEM CALLS", TABLE_WRAP);
	table_column(table, "WHEN", TABLE_WRAP);
	for (calls = info_calls; calls->function != NULL; calls++) {
		table_row(table);
		table_cell(table, "%s", calls->function);
		table_cell(table, "%s", calls->calls[0] != '\0' ? calls->calls : "none");
		table_cell(table, "%s", calls->when);
	}
	table_print(table);
}

void info_print_text(const struct info *info)
{
	print_counter(info);
	if (!info->fixture) {
		print_vdso(info);
		print_page(info);
		print_rest(info);
	}
	info_print_field("Verdict", "%s", info->verdict);
	if (!info->fixture)
		print_clocks(info);
	print_calls();
}
