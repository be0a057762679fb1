/* SPDX-License-Identifier: MIT */
/*
 * clocks.c - see clocks.h.
 */
#include "cli/clocks.h"

#include <stdint.h>
#include <strings.h>

#include "message/number.h"
#include "vclock/page.h"

/* The two of <time.h> that page.h has no name for. */
#define PROCESS_CPUTIME 2
#define THREAD_CPUTIME 3

const struct clock_name clock_names[CLOCK_NAMES] = {
	{VCLOCK_REALTIME, "REALTIME", "realtime"},
	{VCLOCK_MONOTONIC, "MONOTONIC", "monotonic"},
	{VCLOCK_MONOTONIC_RAW, "MONOTONIC_RAW", "monotonic_raw"},
	{VCLOCK_BOOTTIME, "BOOTTIME", "boottime"},
	{VCLOCK_TAI, "TAI", "tai"},
	{VCLOCK_REALTIME_ALARM, "REALTIME_ALARM", "realtime_alarm"},
	{VCLOCK_BOOTTIME_ALARM, "BOOTTIME_ALARM", "boottime_alarm"},
	{VCLOCK_REALTIME_COARSE, "REALTIME_COARSE", "realtime_coarse"},
	{VCLOCK_MONOTONIC_COARSE, "MONOTONIC_COARSE", "monotonic_coarse"},
	{PROCESS_CPUTIME, "PROCESS_CPUTIME_ID", "process_cputime_id"},
	{THREAD_CPUTIME, "THREAD_CPUTIME_ID", "thread_cputime_id"},
};

const struct clock_name *clock_find(const char *text)
{
	bool is_id;
	uint64_t id;
	size_t i;

	is_id = number_parse(text, 0, INT32_MAX, &id);
	if (strncasecmp(text, "CLOCK_", 6) == 0)
		text += 6;
	if (strcasecmp(text, "raw") == 0)
		text = "monotonic_raw";
	for (i = 0; i < CLOCK_NAMES; i++) {
		if (is_id ? clock_names[i].id == (int32_t)id
			  : strcasecmp(clock_names[i].word, text) == 0)
			return &clock_names[i];
	}
	return NULL;
}

bool clock_is_on_page(int32_t id)
{
	return id >= 0 && (uint32_t)id < VCLOCK_BASES &&
	       (VCLOCK_BIT((uint32_t)id) & VCLOCK_PAGE_CLOCKS) != 0;
}
