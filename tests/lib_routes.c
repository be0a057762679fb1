/* SPDX-License-Identifier: MIT */
/*
 * VCLOCK_ROUTE limits the routes, an unknown value is ignored and shows, and each route's time is
 * the kernel's. Calls of the vDSO's and the system call's own route are no fallbacks.
 */
#include <string.h>

#include "support_lib.h"
#include "tap.h"

static const uint32_t clocks[] = {
	VCLOCK_REALTIME, VCLOCK_MONOTONIC,	 VCLOCK_MONOTONIC_RAW,	  VCLOCK_BOOTTIME,
	VCLOCK_TAI,	 VCLOCK_REALTIME_COARSE, VCLOCK_MONOTONIC_COARSE, 2};
#define CLOCKS (sizeof(clocks) / sizeof(clocks[0]))

static int by_ns(int32_t clk, struct vclock_timespec *ret_ts)
{
	uint64_t ns;

	switch ((uint32_t)clk) {
	case VCLOCK_REALTIME:
		ns = vclock_realtime_ns();
		break;
	case VCLOCK_MONOTONIC:
		ns = vclock_monotonic_ns();
		break;
	case VCLOCK_MONOTONIC_RAW:
		ns = vclock_raw_ns();
		break;
	case VCLOCK_BOOTTIME:
		ns = vclock_boottime_ns();
		break;
	case VCLOCK_TAI:
		ns = vclock_tai_ns();
		break;
	default:
		return vclock_gettime64(clk, ret_ts);
	}
	ret_ts->tv_sec = (int64_t)(ns / 1000000000);
	ret_ts->tv_nsec = (int64_t)(ns % 1000000000);
	return 0;
}

static int by_now(int32_t clk, struct vclock_timespec *ret_ts)
{
	struct vclock_timespec real, mono;
	int r = vclock_now64(&real, &mono);

	*ret_ts = clk == VCLOCK_REALTIME ? real : mono;
	return r;
}

/* The number of questions that were answered wrongly. */
static int judge(enum vclock_route route, enum vclock_reason reason, int counts)
{
	struct vclock_status status;
	unsigned wrong = 0, i;

	for (i = 0; i < CLOCKS; i++) {
		wrong += support_outside((int32_t)clocks[i], 200, 0, vclock_gettime64, NULL);
		wrong += support_outside((int32_t)clocks[i], 200, 0, by_ns, NULL);
	}
	wrong += support_outside(CLOCK_REALTIME, 200, 0, by_now, NULL);
	wrong += support_outside(CLOCK_MONOTONIC, 200, 0, by_now, NULL);
	status = support_status();
	if (status.has_vdso == 0)
		route = VCLOCK_ROUTE_SYSCALL;
	for (i = 0; i < 5; i++)
		wrong += status.clock[clocks[i]].route != route ||
			 status.clock[clocks[i]].reason != reason;
	wrong += status.clock[2].route != VCLOCK_ROUTE_SYSCALL;
	wrong += counts ? status.fallbacks < 2000 : status.fallbacks != 0;
	wrong += status.fallbacks != status.fallbacks_by_reason[VCLOCK_REASON_NO_PAGE];
	return wrong > 100 ? 100 : (int)wrong;
}

static int run(const char *what)
{
	struct vclock_status status = support_status();

	if (strcmp(what, "vdso") == 0)
		return status.route_limit != VCLOCK_ROUTE_VDSO ||
		       judge(VCLOCK_ROUTE_VDSO, VCLOCK_REASON_LIMITED, 0);
	if (strcmp(what, "syscall") == 0)
		return status.route_limit != VCLOCK_ROUTE_SYSCALL ||
		       judge(VCLOCK_ROUTE_SYSCALL, VCLOCK_REASON_LIMITED, 0);
	if (strcmp(what, "page") == 0)
		return status.route_limit != VCLOCK_ROUTE_PAGE ||
		       judge(VCLOCK_ROUTE_VDSO, VCLOCK_REASON_NO_PAGE, 1);
	if (strcmp(what, "unknown") == 0)
		return status.route_unknown != 1 ||
		       judge(VCLOCK_ROUTE_VDSO, VCLOCK_REASON_NO_PAGE, 0);
	return status.route_unknown != 0 || judge(VCLOCK_ROUTE_VDSO, VCLOCK_REASON_NO_PAGE, 0);
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv);

	if (what != NULL)
		support_exit(run(what));
	/* The machine may have a page; this test is about what comes without one. */
	setenv("VCLOCK_PAGE", "/nonexistent/page", 1);
	unsetenv("VCLOCK_ROUTE");
	tap_ok(support_again("none", NULL) == 0, "without a limit and a page: the vDSO");
	tap_ok(support_again("none", "VCLOCK_ROUTE=") == 0, "an empty limit is none");
	tap_ok(support_again("vdso", "VCLOCK_ROUTE=vdso") == 0, "VCLOCK_ROUTE=vdso");
	tap_ok(support_again("syscall", "VCLOCK_ROUTE=syscall") == 0, "VCLOCK_ROUTE=syscall");
	tap_ok(support_again("page", "VCLOCK_ROUTE=page") == 0,
	       "VCLOCK_ROUTE=page without a page: fallbacks, counted as no-page");
	tap_ok(support_again("unknown", "VCLOCK_ROUTE=vDSO") == 0, "an unknown limit shows");
	tap_ok(support_again("syscall", "VCLOCK_ROUTE=vdso") != 0,
	       "the judge tells one route from another");
	return tap_done();
}
