/* SPDX-License-Identifier: MIT */
/* message.c - see message.h. Must never look behind the end of a text, wherever it was cut. */
#include "message/message.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The length of the character that text starts with, and which one it is; 0: not one of UTF-8. No
 * overlong form, no half of a UTF-16 pair, nothing above U+10FFFF.
 */
static size_t character(const unsigned char *text, uint32_t *ret_character)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t length, i;
	uint32_t c = text[0];

	*ret_character = c;
	if (c < 0x80)
		return 1;
	length = c >= 0xf8 ? 0 : c >= 0xf0 ? 4 : c >= 0xe0 ? 3 : c >= 0xc2 ? 2 : 0;
	if (length == 0)
		return 0;
	c &= 0x7fu >> length;
	for (i = 1; i < length; i++) {
		if ((text[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (text[i] & 0x3f);
	}
	*ret_character = c;
	return c < least[length] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : length;
}

/* C0, DEL and C1. */
static int is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0);
}

char *message_shown(enum message_rule rule, const char *text)
{
	const unsigned char *from = (const unsigned char *)text;
	char *out = malloc(4 * strlen(text) + 1), *to = out;
	size_t length, i;
	uint32_t c;

	if (out == NULL)
		return NULL;
	for (; *from != '\0'; from += length) {
		length = character(from, &c);
		if (length != 0 && (rule == MESSAGE_UTF8 || !is_control(c))) {
			memcpy(to, from, length);
			to += length;
			continue;
		}
		length += length == 0;
		for (i = 0; i < length; i++)
			to += from[i] == '\n' ? sprintf(to, "\\n")
					      : sprintf(to, "\\x%02x", (unsigned)from[i]);
	}
	*to = '\0';
	return out;
}

void message_vprint(int fd, const char *who, const char *fmt, va_list ap)
{
	static const char no_memory[] = "out of memory\n";
	char *text = NULL, *shown = NULL, *line = NULL;
	int n = -1;

	if (vasprintf(&text, fmt, ap) < 0)
		text = NULL;
	if (text != NULL)
		shown = message_shown(MESSAGE_LINE, text);
	if (shown != NULL)
		n = asprintf(&line, "%s: %s\n", who, shown);
	if (n >= 0)
		(void)!write(fd, line, (size_t)n);
	else
		(void)!write(fd, no_memory, sizeof(no_memory) - 1);
	if (n >= 0)
		free(line);
	free(shown);
	free(text);
}

void message_print(int fd, const char *who, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_vprint(fd, who, fmt, ap);
	va_end(ap);
}
