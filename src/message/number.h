/* SPDX-License-Identifier: MIT */
/*
 * number.h - the numbers that people write, by one rule for every tool.
 *
 * Decimal or 0x, without sign, blanks or leading zeros: what could be meant otherwise is refused.
 */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/* Whether text is a number from min to max. */
bool number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value);

/* The same; says on stderr, as who, that what may not be text. */
bool number_take(const char *who, const char *what, const char *text, uint64_t min, uint64_t max,
		 uint64_t *ret_value);

#endif /* NUMBER_H */
