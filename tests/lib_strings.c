/* SPDX-License-Identifier: MIT */
/*
 * Every route and reason has its own words, and what is out of range has some too.
 */
#include <string.h>

#include "support_lib.h"
#include "tap.h"

static const char *route(int i)
{
	return vclock_route_string((enum vclock_route)i);
}

static const char *reason(int i)
{
	return vclock_reason_string((enum vclock_reason)i);
}

static const char *retired(int i)
{
	return vclock_retired_string((enum vclock_retired)i);
}

static void judge(const char *(*words)(int), int count, const char *what)
{
	int i, j, wrong = 0;

	for (i = 0; i < count; i++)
		for (j = 0; j < i; j++)
			wrong += strcmp(words(i), words(j)) == 0;
	for (i = 0; i < count; i++)
		wrong += strcmp(words(i), words(count)) == 0 || words(i)[0] == '\0';
	wrong += strcmp(words(count), "unknown") != 0 || strcmp(words(-1), "unknown") != 0;
	tap_ok(wrong == 0, "%s: %d different ones", what, count);
}

int main(void)
{
	judge(route, 3, "routes");
	judge(reason, VCLOCK_REASONS, "reasons");
	judge(retired, VCLOCK_RETIRED_EXPOSED + 1, "why a page ended");
	return tap_done();
}
