/* SPDX-License-Identifier: MIT */
/*
 * support_stack.h - calls a function on a stack of its own, and tells how much of it was used.
 */
#ifndef SUPPORT_STACK_H
#define SUPPORT_STACK_H

/* What a time call may use of its caller's stack, up to the jump into the kernel's code. */
#define SUPPORT_STACK_PROMISE 104

/* Whether functions have a sanitizer's frames, which are promised nothing. */
#if defined(__SANITIZE_ADDRESS__)
#define SUPPORT_STACK_IS_SANITIZED 1
#elif defined(__has_feature)
#define SUPPORT_STACK_IS_SANITIZED __has_feature(address_sanitizer)
#else
#define SUPPORT_STACK_IS_SANITIZED 0
#endif

/*
 * fn(a, b) on a painted stack: how many bytes below its arguments were written to, the return
 * address included. Signals are blocked meanwhile. Not for several threads at once.
 */
unsigned support_stack_used(const void *fn, long a, long b);

#endif /* SUPPORT_STACK_H */
