/* SPDX-License-Identifier: MIT */
/*
 * setup.c - the constructor: all that would cost time, or a system call, in a later call.
 *
 * Runs before main, or in dlopen, with whatever denied that a sandbox denies: each step that fails
 * costs its own part and nothing else. Must never print, wait or fail.
 */
#include "lib/setup.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>

#include "lib/guard.h"
#include "lib/kernel.h"

/* Here, so that whoever links a clock function from the archive gets the constructor with it. */
struct lib_program lib_program;

#ifndef AT_SYSINFO
#define AT_SYSINFO 32
#endif

bool setup_parse_route(const char *value, enum vclock_route *ret_route)
{
	static const char names[][8] = {
		[VCLOCK_ROUTE_SYSCALL] = "syscall",
		[VCLOCK_ROUTE_VDSO] = "vdso",
		[VCLOCK_ROUTE_PAGE] = "page",
	};
	unsigned i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(value, names[i]) == 0) {
			*ret_route = (enum vclock_route)i;
			return true;
		}
	}
	return false;
}

const char *setup_getenv(const char *name, bool is_secure)
{
	const char *value = is_secure ? NULL : getenv(name);

	return value != NULL && value[0] != '\0' ? value : NULL;
}

static void read_route(void)
{
	const char *value = setup_getenv("VCLOCK_ROUTE", lib_program.is_secure);

	lib_program.route_limit = VCLOCK_ROUTE_PAGE;
	if (value == NULL)
		return;
	if (!setup_parse_route(value, &lib_program.route_limit))
		lib_program.route_unknown = true;
	else
		lib_program.route_is_page = lib_program.route_limit == VCLOCK_ROUTE_PAGE;
}

static void read_reopen(void)
{
	const char *value = setup_getenv("VCLOCK_REOPEN", lib_program.is_secure);

	lib_program.reopen_is_off = value != NULL && strcmp(value, "0") == 0;
}

/* A program may have forbidden itself the counter before it executed this one; every read of it,
 * the kernel's vDSO's too, would be a SIGSEGV. */
static bool counter_is_forbidden(void)
{
	int state = PR_TSC_ENABLE;

	if (!raw_counter_exists())
		return true;
	return prctl(PR_GET_TSC, &state, 0, 0, 0) == 0 && state == PR_TSC_SIGSEGV;
}

static enum vclock_reason reason_without_page(void)
{
	if (lib_program.route_limit != VCLOCK_ROUTE_PAGE)
		return VCLOCK_REASON_LIMITED;
	return lib_program.counter_forbidden ? VCLOCK_REASON_COUNTER_FORBIDDEN
					     : VCLOCK_REASON_NO_PAGE;
}

/* Before the constructors of the program itself: they may ask for the time. */
__attribute__((constructor(101))) static void setup(void)
{
	struct guard guard = guard_enter();

	lib_program.is_secure = getauxval(AT_SECURE) != 0;
	read_route();
	read_reopen();
	raw_set_up(getauxval(AT_SYSINFO));
	process_set_up();
	lib_program.counter_forbidden = counter_is_forbidden();
	lib_program.no_page_reason = reason_without_page();
	kernel_set_up(getauxval(AT_SYSINFO_EHDR), !lib_program.counter_forbidden,
		      lib_program.route_limit != VCLOCK_ROUTE_SYSCALL);
	lib_program.is_set_up = true;
	process_check();
	if (lib_program.route_limit == VCLOCK_ROUTE_PAGE)
		lib_program.page_error = vclock_open(NULL);
	guard_leave(&guard);
}
