/* SPDX-License-Identifier: MIT */
/*
 * cmd_info.c - `vclock info`: which clocks are slow here, why, and what to do about it.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/info.h"
#include "cli/json.h"

enum { OPTION_JSON, OPTION_PID, OPTION_SYSFS };

static const struct cli_option options[] = {
	[OPTION_JSON] = {"json", NULL, "one JSON object; docs/json.md describes it"},
	[OPTION_PID] = {"pid", "PID", "about another process instead"},
	[OPTION_SYSFS] = {"sysfs", "DIR",
			  "judge the clocksource files under DIR, as of another machine,\n"
			  "instead of this machine's in /sys"},
	{NULL, NULL, NULL},
};

static const struct cli_usage usage = {
	.command = "info",
	.operands = "",
	.summary = "Shows every clock of this machine, how it is answered, what it costs, and why.",
	.options = options,
	.notes = "$VCLOCK_PAGE names the page file to look at, else it is /run/vclock/page.\n"
		 "Exit status 1 when that file is not a page that may be used.",
};

struct request {
	bool json;
	uint64_t pid; /* 0: this process */
	const char *sysfs;
};

static int take_option(struct request *request, int option, const char *value)
{
	struct stat st;

	switch (option) {
	case OPTION_JSON:
		request->json = true;
		return json_refuse();
	case OPTION_PID:
		return cli_number("info: --pid", value, 1, INT_MAX, &request->pid);
	default:
		request->sysfs = value;
		if (stat(value, &st) == 0 && S_ISDIR(st.st_mode))
			return CLI_GOOD;
		return cli_error(CLI_USAGE, "info: --sysfs: %s: %s", value,
				 strerror(errno != 0 ? errno : ENOTDIR));
	}
}

static int show(const struct request *request)
{
	static struct info info;

	if (request->sysfs != NULL)
		info_gather_fixture(request->sysfs, &info);
	else
		info_gather(&info);
	if (request->json)
		info_print_json(&info);
	else
		info_print_text(&info);
	if (!info.file.is_wrong)
		return CLI_GOOD;
	return cli_error(CLI_WRONG, "info: %s: %s", info.file.path, info.file.verdict);
}

int cmd_info(int argc, char **argv)
{
	struct request request = {0};
	const char *value;
	int option, status;

	errno = 0;
	while ((option = cli_next_option(&usage, argc, argv, &value, &status)) >= 0) {
		status = take_option(&request, option, value);
		if (status != CLI_GOOD)
			return status;
	}
	if (option == CLI_OPTIONS_STOP)
		return status;
	if (request.pid != 0 && request.sysfs != NULL)
		return cli_error(CLI_USAGE, "info: --pid and --sysfs: one of them");
	if (request.pid != 0)
		return info_pid((pid_t)request.pid, request.json);
	return show(&request);
}
