/* SPDX-License-Identifier: MIT */
/*
 * message.h - what the tools say, in one line each, whatever is in the names that they say it of.
 *
 * A path, an argument or a line of /proc may hold any byte: a newline would make two messages of
 * one, an escape would speak to the terminal, and half a character makes text that no parser takes.
 */
#ifndef MESSAGE_H
#define MESSAGE_H

#include <stdarg.h>

enum message_rule {
	MESSAGE_LINE, /* printable in one line: for a terminal, a log, a table */
	MESSAGE_UTF8, /* valid UTF-8, control characters as they are: for who escapes those */
};

/*
 * A copy of text in which each byte that is not part of valid UTF-8, and by MESSAGE_LINE each
 * control character's, stands as `\xHH`; a newline as `\n`. NULL: out of memory; free() it.
 */
char *message_shown(enum message_rule rule, const char *text);

/* Writes `who: ` and the message as one line to fd, in one write. */
void message_print(int fd, const char *who, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void message_vprint(int fd, const char *who, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

#endif /* MESSAGE_H */
