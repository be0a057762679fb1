/* SPDX-License-Identifier: MIT */
/*
 * main.c - `vclock-tools`: the commands that `vclock` does not have itself. It is executed by
 * `vclock` (src/front) with the arguments of that.
 */
#include <string.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output.h"

static int run_command(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} commands[] = {
#define COMMAND_ROW(name, help) {#name, cmd_##name},
		TOOL_COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
	};
	size_t i;

	for (i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	return cli_error(CLI_USAGE, "vclock-tools: a part of vclock, which starts it");
}

int main(int argc, char **argv)
{
	output_begin();
	return output_finish(run_command(argc, argv));
}
