/* SPDX-License-Identifier: MIT */
/*
 * counter_step.h - a thread single-steps itself, so that a test can tell it what its counter says.
 *
 * From a SIGTRAP on, with counter_step_stays_on() in its handler, each instruction ends in another
 * one; until the handler takes it back.
 */
#ifndef COUNTER_STEP_H
#define COUNTER_STEP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <ucontext.h>

#if defined(__x86_64__) || defined(__i386__)
#define COUNTER_STEP_IS_POSSIBLE 1
#if defined(__x86_64__)
#define COUNTER_STEP_PC REG_RIP
#define COUNTER_STEP_LOW REG_RAX
#define COUNTER_STEP_HIGH REG_RDX
#else
#define COUNTER_STEP_PC REG_EIP
#define COUNTER_STEP_LOW REG_EAX
#define COUNTER_STEP_HIGH REG_EDX
#endif

static inline void counter_step_stays_on(ucontext_t *context, bool on)
{
	const greg_t trap = 0x100;
	greg_t *flags = &context->uc_mcontext.gregs[REG_EFL];

	*flags = on ? *flags | trap : *flags & ~trap;
}

/* Whether the next instruction reads the counter. */
static inline bool counter_step_is_next(const ucontext_t *context)
{
	return memcmp((const void *)(uintptr_t)context->uc_mcontext.gregs[COUNTER_STEP_PC],
		      "\x0f\x31", 2) == 0;
}

/* After that instruction: what it read. */
static inline void counter_step_set(ucontext_t *context, uint64_t cyc)
{
	context->uc_mcontext.gregs[COUNTER_STEP_LOW] = (greg_t)(uint32_t)cyc;
	context->uc_mcontext.gregs[COUNTER_STEP_HIGH] = (greg_t)(uint32_t)(cyc >> 32);
}

#else
#define COUNTER_STEP_IS_POSSIBLE 0

static inline void counter_step_stays_on(ucontext_t *context, bool on)
{
	(void)context;
	(void)on;
}

static inline bool counter_step_is_next(const ucontext_t *context)
{
	(void)context;
	return false;
}

static inline void counter_step_set(ucontext_t *context, uint64_t cyc)
{
	(void)context;
	(void)cyc;
}
#endif

#endif /* COUNTER_STEP_H */
