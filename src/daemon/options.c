/* SPDX-License-Identifier: MIT */
/* options.c - see options.h. */
#include "daemon/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/sandbox.h"
#include "message/message.h"
#include "message/number.h"

#define INTERVAL_MS_MAX 20
#define PRIORITY_MAX 99
#define PRIORITY_DEFAULT 10
#define EXIT_USAGE 2
#define EXIT_FAILURE_ 4

static const char help[] =
	"usage: vclockd [OPTION...]\n"
	"Keeps one time page for every process of this machine.\n"
	"\n"
	"  --page PATH        the page (default " OPTIONS_DEFAULT_PAGE ")\n"
	"  --interval MS      between two updates, 1 to 20 (default 10)\n"
	"  --priority N       real-time priority, 1 to 99; 0: none (default: 10 where allowed)\n"
	"  --trust-counter    publish even where the kernel does not trust the CPU's counter\n"
	"  --foreground       do not go into the background; for service managers\n"
	"  --no-sandbox       go without the system call filter\n"
	"  --sysfs DIR        where sysfs is mounted (default /sys)\n"
	"  --help, --version\n"
	"\n"
	"SIGTERM and SIGINT end the page and the daemon. Exit status: 0 ended by a signal, 2 "
	"usage,\n"
	"3 not possible here (counter not trusted, boot unknown, or another daemon keeps the "
	"page),\n"
	"4 failure.\n";

enum {
	OPT_PAGE = 256, /* above every character, so that no short option is meant */
	OPT_INTERVAL,
	OPT_PRIORITY,
	OPT_TRUST,
	OPT_FOREGROUND,
	OPT_NO_SANDBOX,
	OPT_SYSFS,
	OPT_HELP,
	OPT_VERSION
};

static const struct option long_options[] = {
	{"page", required_argument, NULL, OPT_PAGE},
	{"interval", required_argument, NULL, OPT_INTERVAL},
	{"priority", required_argument, NULL, OPT_PRIORITY},
	{"trust-counter", no_argument, NULL, OPT_TRUST},
	{"foreground", no_argument, NULL, OPT_FOREGROUND},
	{"no-sandbox", no_argument, NULL, OPT_NO_SANDBOX},
	{"sysfs", required_argument, NULL, OPT_SYSFS},
	{"help", no_argument, NULL, OPT_HELP},
	{"version", no_argument, NULL, OPT_VERSION},
	{NULL, 0, NULL, 0},
};

/* stdout may be full or closed. That the reader of a pipe has gone is no message. */
static int print(const char *text)
{
	if (fputs(text, stdout) >= 0 && fflush(stdout) == 0)
		return 0;
	if (errno != EPIPE)
		message_print(STDERR_FILENO, "vclockd", "stdout: %s", strerror(errno));
	return EXIT_FAILURE_;
}

/*
 * A path as it was meant: in the background the daemon stands in another folder. False: where this
 * one is cannot be told, which has been said.
 */
static bool make_absolute(const char **path)
{
	char *folder, *whole = NULL;

	if (*path == NULL || **path == '/')
		return true;
	folder = getcwd(NULL, 0);
	if (folder != NULL && asprintf(&whole, "%s/%s", folder, *path) < 0)
		whole = NULL;
	free(folder);
	if (whole == NULL) {
		message_print(STDERR_FILENO, "vclockd", "%s: %s", *path, strerror(errno));
		return false;
	}
	*path = whole;
	return true;
}

/* What getopt_long could not take: optopt is an option's value, or a character, or 0. */
static int refuse(int reason, char **argv)
{
	const struct option *option = long_options;

	while (option->name != NULL && (optopt == 0 || option->val != optopt))
		option++;
	if (option->name != NULL)
		message_print(STDERR_FILENO, "vclockd", "--%s: %s", option->name,
			      reason == ':' ? "needs an argument" : "takes no argument");
	else if (optopt != 0)
		message_print(STDERR_FILENO, "vclockd", "-%c: unknown option; see `vclockd --help`",
			      optopt);
	else
		message_print(STDERR_FILENO, "vclockd", "%s: unknown option; see `vclockd --help`",
			      argv[optind - 1]);
	return EXIT_USAGE;
}

/* One option; -1 to go on. */
static int take(int option, char **argv, struct daemon_options *options)
{
	uint64_t value = 0;

	switch (option) {
	case OPT_PAGE:
		options->page = optarg;
		return -1;
	case OPT_SYSFS:
		options->sysfs = optarg;
		return -1;
	case OPT_INTERVAL:
		if (!number_take("vclockd", "--interval", optarg, 1, INTERVAL_MS_MAX, &value))
			return EXIT_USAGE;
		options->interval_ns = (uint32_t)value * 1000000;
		return -1;
	case OPT_PRIORITY:
		if (!number_take("vclockd", "--priority", optarg, 0, PRIORITY_MAX, &value))
			return EXIT_USAGE;
		options->realtime_priority = (int)value;
		options->is_priority_wanted = value != 0;
		return -1;
	case OPT_TRUST:
		options->trusts_counter = true;
		return -1;
	case OPT_FOREGROUND:
		options->is_foreground = true;
		return -1;
	case OPT_NO_SANDBOX:
		options->is_sandboxed = false;
		return -1;
	case OPT_HELP:
		return print(help);
	case OPT_VERSION:
		return print("vclockd " VCLOCK_VERSION "\n");
	default:
		return refuse(option, argv);
	}
}

int options_parse(int argc, char **argv, struct daemon_options *ret_options)
{
	struct daemon_options options = {
		.page = OPTIONS_DEFAULT_PAGE,
		.interval_ns = 10000000,
		.realtime_priority = PRIORITY_DEFAULT,
		.is_sandboxed = sandbox_is_built_in(),
	};
	int option, r = -1;

	opterr = 0;
	while (r < 0 && (option = getopt_long(argc, argv, ":", long_options, NULL)) != -1)
		r = take(option, argv, &options);
	if (r < 0 && optind < argc) {
		message_print(STDERR_FILENO, "vclockd", "%s: unexpected argument", argv[optind]);
		return EXIT_USAGE;
	}
	if (r < 0 && options.page[0] == '\0') {
		message_print(STDERR_FILENO, "vclockd", "--page: the path is empty");
		return EXIT_USAGE;
	}
	if (r < 0 && !options.is_foreground &&
	    (!make_absolute(&options.page) || !make_absolute(&options.sysfs)))
		return EXIT_FAILURE_;
	*ret_options = options;
	return r;
}
