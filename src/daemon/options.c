/* SPDX-License-Identifier: MIT */
/* options.c - see options.h. */
#include "daemon/options.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "daemon/sandbox.h"

#define INTERVAL_MS_MAX 20
#define PRIORITY_MAX 99
#define PRIORITY_DEFAULT 10
#define EXIT_USAGE 2

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
	"3 not possible here (counter not trusted, or another daemon keeps the page), 4 failure.\n";

static bool parse_number(const char *name, const char *text, long min, long max, long *ret_value)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno == 0 && end != text && *end == '\0' && value >= min && value <= max) {
		*ret_value = value;
		return true;
	}
	fprintf(stderr, "vclockd: %s: %s: not a number from %ld to %ld\n", name, text, min, max);
	return false;
}

enum {
	OPT_PAGE = 1,
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

/* stdout may be full or closed. */
static int print(const char *text)
{
	return fputs(text, stdout) < 0 || fflush(stdout) != 0 ? 4 : 0;
}

/* A path as it was meant: in the background the daemon stands in another folder. */
static const char *absolute(const char *path)
{
	char folder[PATH_MAX], *whole;

	if (path[0] == '/' || path[0] == '\0' || getcwd(folder, sizeof(folder)) == NULL)
		return path;
	return asprintf(&whole, "%s/%s", folder, path) >= 0 ? whole : path;
}

/* One option; -1 to go on. */
static int take(int option, struct daemon_options *options)
{
	long value = 0;

	switch (option) {
	case OPT_PAGE:
		options->page = absolute(optarg);
		return -1;
	case OPT_SYSFS:
		options->sysfs = absolute(optarg);
		return -1;
	case OPT_INTERVAL:
		if (!parse_number("--interval", optarg, 1, INTERVAL_MS_MAX, &value))
			return EXIT_USAGE;
		options->interval_ns = (uint32_t)value * 1000000;
		return -1;
	case OPT_PRIORITY:
		if (!parse_number("--priority", optarg, 0, PRIORITY_MAX, &value))
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
	default: /* getopt_long has said what is wrong */
		return EXIT_USAGE;
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
	static char name[] = "vclockd";
	int option, r = -1;

	if (argc > 0)
		argv[0] = name; /* for the messages of getopt_long */

	while (r < 0 && (option = getopt_long(argc, argv, "", long_options, NULL)) != -1)
		r = take(option, &options);
	if (r < 0 && optind < argc) {
		fprintf(stderr, "vclockd: %s: unexpected argument\n", argv[optind]);
		return EXIT_USAGE;
	}
	if (r < 0 && options.page[0] == '\0') {
		fprintf(stderr, "vclockd: --page: the path is empty\n");
		return EXIT_USAGE;
	}
	*ret_options = options;
	return r;
}
