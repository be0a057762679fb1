/* SPDX-License-Identifier: MIT */
/*
 * support_counter.h - lists of clocksources for any machine: '@' stands for the counter's name.
 */
#ifndef SUPPORT_COUNTER_H
#define SUPPORT_COUNTER_H

#include <stddef.h>

#include "vclock/counter.h"
#include "vclock/page.h"

static inline const char *counter_name(void)
{
	static const char *const names[] = {
		[VCLOCK_COUNTER_TSC] = "tsc",
		[VCLOCK_COUNTER_CNTVCT] = "arch_sys_counter",
		[VCLOCK_COUNTER_RISCV] = "riscv_clocksource",
	};

	return names[VCLOCK_COUNTER_KIND];
}

/* text with the name in each '@'s place, cut at size bytes. NULL for NULL. */
static inline const char *counter_words(const char *text, char *ret_words, size_t size)
{
	const char *name;
	size_t length = 0;

	if (text == NULL)
		return NULL;
	for (; *text != '\0' && length + 1 < size; text++) {
		if (*text != '@')
			ret_words[length++] = *text;
		for (name = counter_name(); *text == '@' && *name != '\0' && length + 1 < size;)
			ret_words[length++] = *name++;
	}
	ret_words[length] = '\0';
	return ret_words;
}

#endif /* SUPPORT_COUNTER_H */
