/* SPDX-License-Identifier: MIT */
/*
 * front.c - `vclock`: picks the command, which is the tools' program's, but for `run`.
 *
 * `vclock run` starts as cheaply as a program can start, so this program is static and has none of
 * what the others need: libraries, their tables, a constructor that tries every clock.
 */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "cli/own_files.h"
#include "front/run.h"

static int front_help(int argc, char **argv);

struct command {
	const char *name;
	const char *help;
	int (*run)(int argc, char **argv); /* NULL: the tools' */
};

static const struct command commands[] = {
#define TOOL_ROW(name, help) {#name, help, NULL},
	TOOL_COMMANDS(TOOL_ROW)
#undef TOOL_ROW
		{"run", "a program, unmodified, with the page's clocks", front_run},
	{"help", "this list, or the help of one command", front_help},
};

#define COMMANDS_COUNT (sizeof(commands) / sizeof(commands[0]))

static void print_commands(void (*print)(const char *fmt, ...))
{
	size_t i;

	print("Usage: vclock COMMAND [OPTION...]\n"
	      "       vclock --help | --version\n\n"
	      "The clocks of Linux without a system call: look, measure, prove.\n\n");
	for (i = 0; i < COMMANDS_COUNT; i++)
		print("  %-8s %s\n", commands[i].name, commands[i].help);
	print("\n`vclock COMMAND --help` describes one command. Exit status: 0 good, 1 something "
	      "was\n"
	      "found wrong, 2 wrong usage or unreadable file, 3 not possible here, 4 failure.\n");
}

static void print_to_stderr(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
}

/* This process becomes the tools' program, which lies beside this one in the tree that both were
 * built in. argv[0] is the command, and argv[-1] this program's name, which stays. */
static int execute_tools(char **argv)
{
	static const char *const places[] = {"../lib/vclock/vclock-tools", "vclock-tools", NULL};
	char path[PATH_MAX];

	if (!own_file(places, path, sizeof(path)))
		snprintf(path, sizeof(path), "%s/vclock-tools", own_parts());
	execv(path, argv - 1);
	return cli_error(CLI_USAGE, "%s: %s: %s", argv[0], path, strerror(errno));
}

static int run_command(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < COMMANDS_COUNT; i++)
		if (strcmp(argv[0], commands[i].name) == 0)
			return commands[i].run != NULL ? commands[i].run(argc, argv)
						       : execute_tools(argv);
	return cli_error(CLI_USAGE, "unknown command: %s; see `vclock --help`", argv[0]);
}

static int front_help(int argc, char **argv)
{
	char help[] = "--help";
	char *command[] = {argv[-1], argv[argc > 1], help, NULL};

	if (argc > 2)
		return cli_error(CLI_USAGE, "help: %s: one command at a time", argv[2]);
	if (argc == 2 && strcmp(argv[1], "help") != 0 && argv[1][0] != '-')
		return run_command(2, command + 1);
	if (argc == 2 && argv[1][0] == '-' && strcmp(argv[1], "--help") != 0 &&
	    strcmp(argv[1], "-h") != 0)
		return cli_error(CLI_USAGE, "help: %s: unknown option; see `vclock --help`",
				 argv[1]);
	print_commands(output);
	return CLI_GOOD;
}

static int run_main(int argc, char **argv)
{
	if (argc < 2) {
		print_commands(print_to_stderr);
		return CLI_USAGE;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		output("vclock %s\n", VCLOCK_VERSION);
		return CLI_GOOD;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		print_commands(output);
		return CLI_GOOD;
	}
	if (argv[1][0] == '-')
		return cli_error(CLI_USAGE, "%s: unknown option; see `vclock --help`", argv[1]);
	return run_command(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	output_begin();
	return output_finish(run_main(argc, argv));
}
