/* SPDX-License-Identifier: MIT */
/* support_stack.c - see support_stack.h. */
#include "support_stack.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>

#define SIZE 65536
#define PAINT 0xa5

static unsigned char stack[SIZE] __attribute__((aligned(64)));

/* Returns where the stack pointer stood before the call. */
#if defined(__x86_64__)
static const unsigned char *call_on(unsigned char *top, const void *fn, long a, long b)
{
	__asm__ __volatile__("mov %%rsp, %%rbx\n\t"
			     "mov %[top], %%rsp\n\t"
			     "call *%[fn]\n\t"
			     "mov %%rbx, %%rsp"
			     : "+D"(a), "+S"(b)
			     : [top] "r"(top), [fn] "a"(fn)
			     : "rbx", "rcx", "rdx", "r8", "r9", "r10", "r11", "memory", "cc");
	return top;
}
#elif defined(__i386__)
static const unsigned char *call_on(unsigned char *top, const void *fn, long a, long b)
{
	/* Two words of arguments, and the alignment of 16 that the ABI wants below them. */
	top -= 8;
	__asm__ __volatile__("mov %%esp, %%esi\n\t"
			     "mov %[top], %%esp\n\t"
			     "push %%edx\n\t"
			     "push %%ecx\n\t"
			     "call *%%eax\n\t"
			     "mov %%esi, %%esp"
			     : "+c"(a), "+d"(b), "+a"(fn)
			     : [top] "D"(top)
			     : "esi", "memory", "cc");
	return top - 8;
}
#endif

unsigned support_stack_used(const void *fn, long a, long b)
{
	const unsigned char *before, *at = stack;
	sigset_t all, old;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	memset(stack, PAINT, sizeof(stack));
	before = call_on(stack + SIZE - 64, fn, a, b);
	sigprocmask(SIG_SETMASK, &old, NULL);
	while (at < before && *at == PAINT)
		at++;
	return (unsigned)(before - at);
}
