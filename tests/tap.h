/* SPDX-License-Identifier: MIT */
/*
 * tap.h - the TAP that every test program prints.
 *
 * A test calls tap_ok() and its kin, and returns tap_done() from main. tap_done() prints the plan;
 * a test that dies before it has no plan, which the runner counts as a failure. Not for threads:
 * collect figures there and judge them in the main thread.
 */
#ifndef TAP_H
#define TAP_H

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static int tap_count, tap_failed;

__attribute__((format(printf, 2, 3), unused)) static int tap_ok(int cond, const char *fmt, ...)
{
	va_list ap;

	printf("%sok %d - ", cond ? "" : "not ", ++tap_count);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
	if (!cond)
		tap_failed++;
	return cond;
}

/* reason must stand in tests/skips.list, else the runner fails the test. */
__attribute__((unused)) static void tap_skip(const char *what, const char *reason)
{
	printf("ok %d - %s # SKIP %s\n", ++tap_count, what, reason);
	fflush(stdout);
}

__attribute__((format(printf, 1, 2), unused)) static void tap_diag(const char *fmt, ...)
{
	va_list ap;

	printf("# ");
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
	fflush(stdout);
}

/* TAP's own last line, and the exit status. */
__attribute__((unused)) static int tap_done(void)
{
	printf("1..%d\n", tap_count);
	fflush(stdout);
	return tap_failed != 0;
}

/* Whether the run is `make check-long`. */
__attribute__((unused)) static int tap_is_long(void)
{
	const char *value = getenv("VCLOCK_TEST_LONG");

	return value != NULL && *value != '\0' && *value != '0';
}

#endif /* TAP_H */
