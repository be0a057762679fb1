/* SPDX-License-Identifier: MIT */
/*
 * support_stack.h - calls a function on a stack of its own, and tells how much of it was used.
 */
#ifndef SUPPORT_STACK_H
#define SUPPORT_STACK_H

/*
 * fn(a, b) on a painted stack: how many bytes below its arguments were written to, the return
 * address included. Signals are blocked meanwhile. Not for several threads at once.
 */
unsigned support_stack_used(const void *fn, long a, long b);

#endif /* SUPPORT_STACK_H */
