/* SPDX-License-Identifier: MIT */
/* support_stack.c - see support_stack.h. */
#include "support_stack.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>

#include "arch/painted_call.h"

#define SIZE 65536
#define PAINT 0xa5

static unsigned char stack[SIZE] __attribute__((aligned(64)));

unsigned support_stack_used(const void *fn, long a, long b)
{
	unsigned char *const top = stack + SIZE - 64;
	const unsigned char *at = stack;
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	memset(stack, PAINT, sizeof(stack));
	painted_call(fn, a, b, 0, top);
	sigprocmask(SIG_SETMASK, &old, NULL);
	while (at < top && *at == PAINT)
		at++;
	return (unsigned)(top - at);
}
