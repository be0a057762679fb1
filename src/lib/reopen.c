/* SPDX-License-Identifier: MIT */
/*
 * reopen.c - follows a page whose file was replaced: deleted, or of another format for a while.
 *
 * A writer that dies or restarts keeps its file, and then there is nothing to do but one look at
 * the path in a second, by a call that had to ask the kernel anyway. What is found passes all the
 * checks of vclock_open(). Time calls promise to need little of their caller's stack: the look has
 * one of its own. Must never wait: neither for a lock, which this thread may hold itself under a
 * signal handler, nor for another thread.
 */
#include "lib/reopen.h"

#include <string.h>

#include "lib/open.h"
#include "vclock/counter.h"

/* Copies of a page, and what sanitizers make of that. Pages that nobody touches cost nothing. */
#define STACK_SIZE 65536
#define KERNEL_SIG_SETMASK 2 /* signal sets are of 64 bits there */

/* Time since the last look is counted in this many cycles: 32 bits of it wrap after weeks, and an
 * early look then does no harm. */
#define UNIT_SHIFT 20

static unsigned char stack[STACK_SIZE] __attribute__((aligned(64)));
static uint64_t caller_signals; /* lib_process.lock guards both */

void reopen_allow(const char *path)
{
	uint64_t hz = VCLOCK_LOAD64(&LIB_PAGE->counter_hz);

	lib_program.reopen_units = 0;
	if (lib_program.reopen_is_off || path == NULL ||
	    strnlen(path, sizeof(lib_program.page_path)) == sizeof(lib_program.page_path))
		return;
	lib_program.reopen_units = (uint32_t)(hz >> UNIT_SHIFT) + 1;
}

/* Whether it is this call that looks. A new process may look at once. */
static bool is_due(void)
{
	uint32_t now = (uint32_t)(vclock_counter_unordered() >> UNIT_SHIFT);
	uint32_t last = __atomic_load_n(&lib_process.looked, __ATOMIC_RELAXED);

	return now - last >= lib_program.reopen_units &&
	       __atomic_compare_exchange_n(&lib_process.looked, &last, now, false, __ATOMIC_RELAXED,
					   __ATOMIC_RELAXED);
}

/* A handler would run on the little stack here, and could ask for the time. */
static __attribute__((noinline)) void set_signals(const uint64_t *set, uint64_t *ret_old)
{
	(void)raw_syscall5(SYS_rt_sigprocmask, KERNEL_SIG_SETMASK, (long)set, (long)ret_old,
			   sizeof(*set), 0);
}

LIB_MISS void reopen_look(void)
{
	static const uint64_t all = UINT64_MAX;

	if (!is_due() || !process_try_lock())
		return;
	if (lib_program.page_source == VCLOCK_PAGE_FILE) {
		set_signals(&all, &caller_signals);
		raw_on_stack(stack + STACK_SIZE, open_again);
		set_signals(&caller_signals, NULL);
	}
	process_unlock();
}
