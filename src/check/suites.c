/* SPDX-License-Identifier: MIT */
/*
 * suites.c - the table of suites. A new suite is one row here and one file.
 */
#include "check/suites.h"

#include <string.h>

const struct check_suite check_suites[] = {
	{"bracket", "every value lies between two reads of the kernel's clock", 8, true,
	 suite_bracket},
	{"causality", "no thread sees a time below one that another published before", 4, true,
	 suite_causality},
	{"monotonicity", "no clock goes back in a thread, mixed with the kernel's reads too", 4,
	 true, suite_monotonicity},
	{"coarse", "COARSE clocks and time() against the kernel's own", 2, true, suite_coarse},
	{"skew", "the CPUs' times agree, measured pair by pair", 2, true, suite_skew},
	{"resolution", "the last digits are real nanoseconds", 0, true, suite_resolution},
	{"getres", "resolutions against the system call, for every id", 0, true, suite_getres},
	{"errors", "error codes against the system call, for every id", 0, true, suite_errors},
	{"fork", "clocks and getpid in forked children", 0, true, suite_fork},
};
const unsigned check_suites_count = sizeof(check_suites) / sizeof(check_suites[0]);

const struct check_suite *check_suite_find(const char *name)
{
	unsigned i;

	for (i = 0; i < check_suites_count; i++)
		if (strcmp(name, check_suites[i].name) == 0)
			return &check_suites[i];
	return NULL;
}

const char *check_verdict_string(enum check_verdict verdict)
{
	switch (verdict) {
	case CHECK_PASS:
		return "ok";
	case CHECK_FAIL:
		return "FAIL";
	case CHECK_UNSTEADY:
		return "unsteady";
	case CHECK_IMPOSSIBLE:
		return "not possible";
	}
	return "?";
}

uint64_t check_suite_time(const struct check_suite *suite, uint64_t total_ns)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < check_suites_count; i++)
		sum += check_suites[i].weight;
	return total_ns * suite->weight / sum;
}
