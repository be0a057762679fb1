/* SPDX-License-Identifier: MIT */
/*
 * strings.c - routes and reasons in plain words. One sentence part each, no full stop.
 */
#include "vclock.h"

const char *vclock_route_string(enum vclock_route route)
{
	switch (route) {
	case VCLOCK_ROUTE_SYSCALL:
		return "syscall";
	case VCLOCK_ROUTE_VDSO:
		return "vdso";
	case VCLOCK_ROUTE_PAGE:
		return "page";
	}
	return "unknown";
}

const char *vclock_reason_string(enum vclock_reason reason)
{
	switch (reason) {
	case VCLOCK_REASON_NONE:
		return "answered by the page";
	case VCLOCK_REASON_NO_PAGE:
		return "there is no page";
	case VCLOCK_REASON_NOT_COVERED:
		return "the page's writer is late or gone, or the counter jumped";
	case VCLOCK_REASON_RETIRED:
		return "the page's writer ended it";
	case VCLOCK_REASON_NOT_ON_PAGE:
		return "not a clock of the page";
	case VCLOCK_REASON_TIME_NAMESPACE:
		return "this process's clocks are not the page's: another time namespace";
	case VCLOCK_REASON_COUNTER_FORBIDDEN:
		return "this process may not read the counter, or the CPU has none";
	case VCLOCK_REASON_LIMITED:
		return "VCLOCK_ROUTE does not allow the page";
	case VCLOCK_REASON_TOO_EARLY:
		return "the library was not set up yet";
	case VCLOCK_REASONS:
		break;
	}
	return "unknown";
}

const char *vclock_retired_string(enum vclock_retired retired)
{
	switch (retired) {
	case VCLOCK_RETIRED_NOT:
		return "kept";
	case VCLOCK_RETIRED_STOPPED:
		return "the publisher was stopped";
	case VCLOCK_RETIRED_CLOCKSOURCE:
		return "the kernel changed its clocksource";
	case VCLOCK_RETIRED_RATE:
		return "the kernel's rate left what a page may follow";
	case VCLOCK_RETIRED_BACKWARD:
		return "the counter went back, or jumped";
	case VCLOCK_RETIRED_SKEW:
		return "the counters of two CPUs disagree";
	case VCLOCK_RETIRED_REFERENCE:
		return "the kernel's clocks could not be read";
	case VCLOCK_RETIRED_REPLACED:
		return "another page took its place";
	case VCLOCK_RETIRED_EXPOSED:
		return "others could have written its file";
	}
	return "unknown";
}
