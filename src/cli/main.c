/* SPDX-License-Identifier: MIT */
/*
 * main.c - `vclock`: picks the command.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/output.h"

struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
};

static const struct command commands[] = {
#define COMMAND_ROW(name, help) {#name, cmd_##name, help},
	COMMANDS(COMMAND_ROW)
#undef COMMAND_ROW
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

static int run(int argc, char **argv)
{
	size_t i;

	for (i = 0; i < COMMANDS_COUNT; i++) {
		if (strcmp(argv[0], commands[i].name) == 0)
			return commands[i].run(argc, argv);
	}
	return cli_error(CLI_USAGE, "unknown command: %s; see `vclock --help`", argv[0]);
}

int cmd_help(int argc, char **argv)
{
	char help[] = "--help";
	char *command[] = {argv[argc > 1], help, NULL};

	if (argc > 2)
		return cli_error(CLI_USAGE, "help: %s: one command at a time", argv[2]);
	if (argc == 2 && strcmp(argv[1], "help") != 0 && argv[1][0] != '-')
		return run(2, command);
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
	return run(argc - 1, argv + 1);
}

/*
 * A descriptor that the caller closed would be given to the next file that is opened here, and
 * stdout's text would go into it. Read-only, so that a write to it still fails. A program that
 * `vclock run` becomes finds it closed again.
 */
static void fill_closed_descriptors(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

int main(int argc, char **argv)
{
	fill_closed_descriptors();
	return output_finish(run_main(argc, argv));
}
