/* SPDX-License-Identifier: MIT */
/*
 * cli.h - what every subcommand shares: exit codes, messages, options, numbers.
 *
 * A message is one line on stderr, `vclock: what: object: reason`, written once. A command returns
 * its exit code and never calls exit() itself; main() looks after stdout.
 */
#ifndef CLI_H
#define CLI_H

#include <stddef.h>
#include <stdint.h>

enum cli_exit {
	CLI_GOOD = 0,
	CLI_WRONG = 1,	    /* a check failed, or an image or a page was found wrong */
	CLI_USAGE = 2,	    /* wrong arguments, or a missing or unreadable file */
	CLI_IMPOSSIBLE = 3, /* not possible on this machine or in this build */
	CLI_FAILURE = 4,    /* anything else, a full disk under stdout included */
};

/* Prints `vclock: ` and the message as one line on stderr, whatever is in it. */
void cli_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The same; returns status. */
int cli_error(enum cli_exit status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Memory for the tool's own small tables: never NULL, ends the program with CLI_FAILURE instead. */
void *cli_alloc(size_t size);
char *cli_format(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* A path, or other text from outside, as it is printed: see message_shown(). */
char *cli_shown(const char *text);

struct cli_option {
	const char *name;     /* without dashes; NULL ends the list */
	const char *argument; /* what to call its argument in the help; NULL: it takes none */
	const char *help;     /* may have several lines */
};

/* What a command is, for its --help. `--help` itself is not in the list. */
struct cli_usage {
	const char *command;
	const char *operands; /* as in the synopsis, "[CLOCK...]"; "" when it takes none */
	const char *summary;  /* one or two sentences */
	const struct cli_option *options;
	const char *notes;   /* printed after the options; may be NULL */
	int ends_at_operand; /* what follows the first operand is not ours to read */
};

enum { CLI_OPTIONS_END = -1, CLI_OPTIONS_STOP = -2 };

/*
 * The next option: its index in usage->options, and its argument in *ret_value. CLI_OPTIONS_END:
 * operands start at argv[optind]. CLI_OPTIONS_STOP: return *ret_status at once (after --help, or
 * after a message about a wrong option). Call it until it ends; one command line in a process.
 * A usage whose operands are "" has them refused here too.
 */
int cli_next_option(const struct cli_usage *usage, int argc, char **argv, const char **ret_value,
		    int *ret_status);

/*
 * Reads a number from min to max, see number.h. what is the option or operand for the message. 0,
 * or CLI_USAGE after a message.
 */
int cli_number(const char *what, const char *text, uint64_t min, uint64_t max, uint64_t *ret_value);

#endif /* CLI_H */
