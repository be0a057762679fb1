/* SPDX-License-Identifier: MIT */
/*
 * cli.c - messages, options and numbers. Never prints, but for --help.
 */
#include "cli/cli.h"

#include <ctype.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/output.h"
#include "message/message.h"
#include "message/number.h"

/* getopt_long's value of option i: above every character, so that no short option is meant. */
#define OPTION_VALUE(i) (256 + (i))
#define OPTIONS_MAX 16

void cli_say(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_vprint(STDERR_FILENO, "vclock", fmt, ap);
	va_end(ap);
}

int cli_error(enum cli_exit status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_vprint(STDERR_FILENO, "vclock", fmt, ap);
	va_end(ap);
	return status;
}

void *cli_alloc(size_t size)
{
	void *memory = calloc(1, size);

	if (memory == NULL)
		exit(cli_error(CLI_FAILURE, "out of memory"));
	return memory;
}

char *cli_format(const char *fmt, ...)
{
	char *text;
	va_list ap;
	int r;

	va_start(ap, fmt);
	r = vasprintf(&text, fmt, ap);
	va_end(ap);
	if (r < 0)
		exit(cli_error(CLI_FAILURE, "out of memory"));
	return text;
}

char *cli_shown(const char *text)
{
	char *shown = message_shown(MESSAGE_LINE, text);

	if (shown == NULL)
		exit(cli_error(CLI_FAILURE, "out of memory"));
	return shown;
}

static void print_option(const struct cli_option *option)
{
	const char *line = option->help, *end;
	char left[64];

	snprintf(left, sizeof(left), "--%s%s%s", option->name, option->argument ? " " : "",
		 option->argument ? option->argument : "");
	for (; *line != '\0'; line = *end != '\0' ? end + 1 : end) {
		end = strchrnul(line, '\n');
		output("  %-22s  %.*s\n", left, (int)(end - line), line);
		left[0] = '\0';
	}
}

static void print_help(const struct cli_usage *usage)
{
	static const struct cli_option help = {"help", NULL, "print this"};
	const struct cli_option *option;

	output("Usage: vclock %s [OPTION...]%s%s\n\n%s\n\n", usage->command,
	       *usage->operands != '\0' ? " " : "", usage->operands, usage->summary);
	for (option = usage->options; option->name != NULL; option++)
		print_option(option);
	print_option(&help);
	if (usage->notes != NULL)
		output("\n%s\n", usage->notes);
}

static int wrong_option(const struct cli_usage *usage, const char *text, const char *reason)
{
	return cli_error(CLI_USAGE, "%s: %s: %s; see `vclock %s --help`", usage->command, text,
			 reason, usage->command);
}

/* What getopt_long could not take: optopt is an option's value, or a character, or 0. */
static int refuse(const struct cli_usage *usage, int c, char **argv)
{
	char text[64];

	if (optopt >= OPTION_VALUE(0)) {
		snprintf(text, sizeof(text), "--%s",
			 optopt == OPTION_VALUE(OPTIONS_MAX)
				 ? "help"
				 : usage->options[optopt - OPTION_VALUE(0)].name);
		return wrong_option(usage, text,
				    c == ':' ? "needs an argument" : "takes no argument");
	}
	if (optopt != 0 && isprint(optopt)) {
		snprintf(text, sizeof(text), "-%c", optopt);
		return wrong_option(usage, text, "unknown option");
	}
	return wrong_option(usage, argv[optind - 1], "unknown option");
}

static int options_end(const struct cli_usage *usage, int argc, char **argv, int *ret_status)
{
	if (*usage->operands != '\0' || optind >= argc)
		return CLI_OPTIONS_END;
	*ret_status = wrong_option(usage, argv[optind], "takes no operand");
	return CLI_OPTIONS_STOP;
}

int cli_next_option(const struct cli_usage *usage, int argc, char **argv, const char **ret_value,
		    int *ret_status)
{
	struct option longs[OPTIONS_MAX + 2] = {{0}};
	int c, i;

	for (i = 0; i < OPTIONS_MAX && usage->options[i].name != NULL; i++) {
		longs[i].name = usage->options[i].name;
		longs[i].has_arg = usage->options[i].argument ? required_argument : no_argument;
		longs[i].val = OPTION_VALUE(i);
	}
	longs[i].name = "help";
	longs[i].val = OPTION_VALUE(OPTIONS_MAX);
	opterr = 0;
	c = getopt_long(argc, argv, usage->ends_at_operand ? "+:h" : ":h", longs, NULL);
	if (c == -1)
		return options_end(usage, argc, argv, ret_status);
	if (c == 'h' || c == OPTION_VALUE(OPTIONS_MAX)) {
		print_help(usage);
		*ret_status = CLI_GOOD;
		return CLI_OPTIONS_STOP;
	}
	if (c < OPTION_VALUE(0)) {
		*ret_status = refuse(usage, c, argv);
		return CLI_OPTIONS_STOP;
	}
	*ret_value = optarg;
	return c - OPTION_VALUE(0);
}

int cli_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	return number_take("vclock", what, text, min, max, ret_value) ? CLI_GOOD : CLI_USAGE;
}
