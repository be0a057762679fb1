/* SPDX-License-Identifier: MIT */
/*
 * maps.c - see maps.h.
 */
#include "attach/maps.h"

#include <errno.h>
#include <string.h>

struct cursor {
	const char *at, *end;
};

/* Lower-case digits; false when there is none, or the number is beyond 64 bits. */
static bool take_number(struct cursor *c, unsigned int base, uint64_t *ret_value)
{
	const char *first = c->at;
	uint64_t value = 0;

	for (; c->at < c->end; c->at++) {
		unsigned int digit;

		if (*c->at >= '0' && *c->at <= '9')
			digit = (unsigned int)(*c->at - '0');
		else if (*c->at >= 'a' && *c->at <= 'f')
			digit = (unsigned int)(*c->at - 'a') + 10;
		else
			break;
		if (digit >= base)
			break;
		if (value > (UINT64_MAX - digit) / base)
			return false;
		value = value * base + digit;
	}
	*ret_value = value;
	return c->at > first;
}

static bool take(struct cursor *c, char wanted)
{
	if (c->at >= c->end || *c->at != wanted)
		return false;
	c->at++;
	return true;
}

/* One permission: its letter, or '-'. The last letter is 's' or 'p'. */
static bool take_flag(struct cursor *c, char yes, char no, bool *ret_flag)
{
	if (c->at >= c->end || (*c->at != yes && *c->at != no))
		return false;
	*ret_flag = *c->at++ == yes;
	return true;
}

static bool take_device(struct cursor *c, struct maps_line *line)
{
	uint64_t major, minor;

	if (!take_number(c, 16, &major) || !take(c, ':') || !take_number(c, 16, &minor) ||
	    major > UINT32_MAX || minor > UINT32_MAX)
		return false;
	line->major = (uint32_t)major;
	line->minor = (uint32_t)minor;
	return true;
}

static bool take_columns(struct cursor *c, struct maps_line *line)
{
	return take_number(c, 16, &line->start) && take(c, '-') && take_number(c, 16, &line->end) &&
	       take(c, ' ') && take_flag(c, 'r', '-', &line->is_readable) &&
	       take_flag(c, 'w', '-', &line->is_writable) &&
	       take_flag(c, 'x', '-', &line->is_executable) &&
	       take_flag(c, 's', 'p', &line->is_shared) && take(c, ' ') &&
	       take_number(c, 16, &line->offset) && take(c, ' ') && take_device(c, line) &&
	       take(c, ' ') && take_number(c, 10, &line->inode);
}

int maps_parse(const char *text, size_t length, struct maps_line *ret_line)
{
	const char *newline = memchr(text, '\n', length);
	struct cursor c = {text, newline ? newline : text + length};
	struct maps_line line;

	if (!take_columns(&c, &line) || line.start >= line.end)
		return -EINVAL;
	if (c.at < c.end && *c.at != ' ')
		return -EINVAL;
	while (c.at < c.end && *c.at == ' ')
		c.at++;
	line.name = c.at;
	line.name_length = (size_t)(c.end - c.at);
	*ret_line = line;
	return 0;
}

bool maps_is_vdso(const struct maps_line *line)
{
	return line->name_length == 6 && memcmp(line->name, "[vdso]", 6) == 0 && line->inode == 0 &&
	       line->major == 0 && line->minor == 0;
}
