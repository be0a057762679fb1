/* SPDX-License-Identifier: MIT */
/*
 * cmd_page.c - `vclock page`: what is on a page, in words. Reads the file, writes nothing.
 */
#include <getopt.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/page_view.h"
#include "cli/page_words.h"

/* Two looks this far apart tell the rate to the width of a bracket over it, some 500 ppb. */
#define RATE_MS 100
#define WATCH_MS 1000
/* Cursor home, and clear what is below. */
#define REDRAW "\033[H\033[J"

enum { OPTION_JSON, OPTION_WATCH, OPTION_CHECK };

static const struct cli_option options[] = {
	[OPTION_JSON] = {"json", NULL, "one JSON object; docs/json.md describes it"},
	[OPTION_WATCH] = {"watch", NULL, "once a second, until interrupted"},
	[OPTION_CHECK] = {"check", NULL,
			  "exit status 1, and a message, unless a reader here would use it"},
	{NULL, NULL, NULL},
};

static const struct cli_usage usage = {
	.command = "page",
	.operands = "[PATH]",
	.summary = "Shows what is on a time page: its writer, its age, its clocks, and how far "
		   "they are\nfrom the kernel's.",
	.options = options,
	.notes = "Without PATH the page is $VCLOCK_PAGE, else /run/vclock/page.\n"
		 "Exit status 1 when the file is not a page that may ever be used, 2 when it "
		 "cannot be read.",
};

struct request {
	bool json, watch, check;
	const char *path;
};

static int take_option(struct request *request, int option)
{
	switch (option) {
	case OPTION_JSON:
		request->json = true;
		return json_refuse();
	case OPTION_WATCH:
		request->watch = true;
		return CLI_GOOD;
	default:
		request->check = true;
		return CLI_GOOD;
	}
}

/* False: whoever read stdout has gone, which is no error. */
static bool pause_ms(int ms)
{
	struct pollfd pollfd = {.fd = STDOUT_FILENO};

	return poll(&pollfd, 1, ms) == 0;
}

static int status_of(const struct page_view *view, bool is_check)
{
	if (view->bytes < 0 && !view->is_wrong)
		return cli_error(CLI_USAGE, "page: %s: %s", view->path, view->verdict);
	if (view->is_wrong || (is_check && view->error != 0))
		return cli_error(CLI_WRONG, "page: %s: %s", view->path, view->verdict);
	return CLI_GOOD;
}

static int show(const struct request *request)
{
	static struct page_view first, view;
	int status;

	page_view_take(request->path, &view);
	if (view.error == 0 && !request->check) {
		first = view;
		first.verdict = NULL;
		page_view_drop(&view);
		pause_ms(RATE_MS);
		page_view_take(request->path, &view);
		page_view_rate(&first, &view);
	}
	if (request->json)
		page_print_json(&view);
	else if (view.bytes >= 0 || view.is_wrong)
		page_print_text(&view);
	status = status_of(&view, request->check);
	page_view_drop(&view);
	return status;
}

/* A page that is not there, or wrong, may be there a second later: it is looked at all the same. */
static int watch(const struct request *request)
{
	static struct page_view view[2];
	bool is_terminal = isatty(STDOUT_FILENO);
	int i = 0;

	do {
		page_view_take(request->path, &view[i]);
		page_view_rate(&view[!i], &view[i]);
		if (is_terminal)
			output("%s", REDRAW);
		page_print_text(&view[i]);
		if (!is_terminal)
			output("\n");
		page_view_drop(&view[i]);
		i = !i;
	} while (output_flush() && pause_ms(WATCH_MS));
	return CLI_GOOD;
}

int cmd_page(int argc, char **argv)
{
	struct request request = {.path = page_words_path()};
	const char *value;
	int option, status;

	while ((option = cli_next_option(&usage, argc, argv, &value, &status)) >= 0) {
		status = take_option(&request, option);
		if (status != CLI_GOOD)
			return status;
	}
	if (option == CLI_OPTIONS_STOP)
		return status;
	if (request.watch && (request.json || request.check))
		return cli_error(CLI_USAGE, "page: --watch: not with --json or --check");
	if (argc - optind > 1)
		return cli_error(CLI_USAGE, "page: %s: one page at a time", argv[optind + 1]);
	if (argc - optind == 1)
		request.path = argv[optind];
	return request.watch ? watch(&request) : show(&request);
}
