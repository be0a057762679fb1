/* SPDX-License-Identifier: MIT */
/* number.c - see number.h. */
#include "message/number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "message/message.h"

bool number_parse(const char *text, uint64_t min, uint64_t max, uint64_t *ret_value)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	/* strtoull takes blanks and signs; octal would surprise. */
	if (!isdigit((unsigned char)text[0]) ||
	    (text[0] == '0' && isdigit((unsigned char)text[1])) || *end != '\0' || errno != 0 ||
	    value < min || value > max)
		return false;
	*ret_value = value;
	return true;
}

bool number_take(const char *who, const char *what, const char *text, uint64_t min, uint64_t max,
		 uint64_t *ret_value)
{
	if (number_parse(text, min, max, ret_value))
		return true;
	message_print(STDERR_FILENO, who, "%s: %s: not a number from %llu to %llu", what, text,
		      (unsigned long long)min, (unsigned long long)max);
	return false;
}
