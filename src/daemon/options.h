/* SPDX-License-Identifier: MIT */
/*
 * options.h - the command line of vclockd.
 */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define OPTIONS_DEFAULT_PAGE "/run/vclock/page"

struct daemon_options {
	const char *page;  /* path of the page file */
	const char *sysfs; /* where sysfs is mounted; NULL: /sys */
	uint32_t interval_ns;
	int realtime_priority;	 /* SCHED_FIFO; 0: none */
	bool is_priority_wanted; /* given on the command line: refused priority is a failure then */
	bool trusts_counter;
	bool is_foreground;
	bool is_sandboxed;
};

/*
 * Returns -1 to go on, else the exit status: 0 after --help or --version, 2 or 4 after one line on
 * stderr. Without is_foreground the paths are absolute.
 */
int options_parse(int argc, char **argv, struct daemon_options *ret_options);

#endif /* OPTIONS_H */
