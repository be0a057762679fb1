/* SPDX-License-Identifier: MIT */
/*
 * clocks.h - the clocks by name and id.
 */
#ifndef CLOCKS_H
#define CLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct clock_name {
	int32_t id;
	const char *name; /* without CLOCK_, as in <time.h> */
	const char *word; /* in lower case: for operands, keys and benchmark names */
};

/* In the order in which tables show them; clock_names[CLOCK_NAMES - 1] is the last. */
#define CLOCK_NAMES 11
extern const struct clock_name clock_names[CLOCK_NAMES];

/* By name with or without CLOCK_, in any case, "raw" for MONOTONIC_RAW, or by number. NULL: none.*/
const struct clock_name *clock_find(const char *text);

/* Whether the page can have a base for it. */
bool clock_is_on_page(int32_t id);

#endif /* CLOCKS_H */
