/* SPDX-License-Identifier: MIT */
/*
 * lacks.c - what a machine does not have, so that there is no scenario of it:
 *     lacks [clocksource] [S3]
 * clocksource: no second one that could be switched to; S3: no sleep in which the counter may stop.
 * A kernel that comes to have one fails here: its scenario is due then.
 */
#include "tap.h"

#include <stdbool.h>
#include <string.h>

static const char *read_line(const char *path)
{
	static char line[256];
	FILE *file = fopen(path, "r");

	line[0] = '\0';
	if (file != NULL && fgets(line, sizeof(line), file) != NULL)
		line[strcspn(line, "\n")] = '\0';
	if (file != NULL)
		fclose(file);
	return line;
}

/* Names stand between blanks. */
static bool has_one_name(const char *line)
{
	size_t length = strcspn(line, " ");

	return length > 0 && line[length + strspn(line + length, " ")] == '\0';
}

int main(int argc, char **argv)
{
	static const char clocksources[] =
		"/sys/devices/system/clocksource/clocksource0/available_clocksource";
	const char *line;
	bool lacks;
	int i;

	for (i = 1; i < argc; i++) {
		bool is_clocksource = strcmp(argv[i], "clocksource") == 0;

		if (!is_clocksource && strcmp(argv[i], "S3") != 0)
			return 2;
		line = read_line(is_clocksource ? clocksources : "/sys/power/mem_sleep");
		lacks = is_clocksource ? has_one_name(line)
				       : line[0] != '\0' && strstr(line, "deep") == NULL;
		if (tap_ok(lacks, "%s: there is \"%s\"", argv[i], line))
			tap_diag("figures lacks=%s", argv[i]);
	}
	return tap_done();
}
