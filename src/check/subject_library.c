/* SPDX-License-Identifier: MIT */
/*
 * subject_library.c - the library's functions as subjects, on whatever route it has now.
 */
#include <string.h>

#include "check/subjects.h"

static int library_gettime(const struct check_subject *self, int32_t clk,
			   struct vclock_timespec *ret_ts)
{
	(void)self;
	return vclock_gettime64(clk, ret_ts);
}

static int library_getres(const struct check_subject *self, int32_t clk,
			  struct vclock_timespec *ret_res)
{
	(void)self;
	return vclock_getres64(clk, ret_res);
}

static int library_gettimeofday(const struct check_subject *self, struct vclock_timeval *ret_tv)
{
	(void)self;
	return vclock_gettimeofday64(ret_tv, NULL);
}

static int64_t library_time(const struct check_subject *self)
{
	(void)self;
	return vclock_time64(NULL);
}

static int library_now(const struct check_subject *self, struct vclock_timespec *ret_real,
		       struct vclock_timespec *ret_mono)
{
	(void)self;
	return vclock_now64(ret_real, ret_mono);
}

static int library_stamp(const struct check_subject *self, int32_t clk, uint64_t *ret_ns)
{
	int r = vclock_stamp_ns(vclock_stamp(), clk, ret_ns);

	/* Taken while no line ran. */
	return r == -ERANGE && self->route == VCLOCK_ROUTE_PAGE ? CHECK_UNCOVERED : r;
}

static int32_t library_getpid(const struct check_subject *self)
{
	(void)self;
	return (int32_t)vclock_getpid();
}

static struct vclock_status library_status(void)
{
	struct vclock_status status;

	memset(&status, 0, sizeof(status));
	status.size = sizeof(status);
	vclock_status(&status);
	return status;
}

static uint64_t library_fallbacks(const struct check_subject *self)
{
	(void)self;
	return library_status().fallbacks;
}

/* As the library is now: on the page, or on what it was left with. */
static void take_route(struct check_subject *subject)
{
	struct vclock_status status = library_status();
	enum vclock_route kernel = VCLOCK_ROUTE_SYSCALL;

	if (status.has_vdso && status.route_limit >= VCLOCK_ROUTE_VDSO)
		kernel = VCLOCK_ROUTE_VDSO;
	/* Also at a moment when its writer is late. */
	subject->route = (enum vclock_route)status.clock[VCLOCK_MONOTONIC].route;
	if (status.clock[VCLOCK_MONOTONIC].reason == VCLOCK_REASON_NOT_COVERED)
		subject->route = VCLOCK_ROUTE_PAGE;

	subject->fallback_route = kernel;
	subject->is_fine = subject->route == VCLOCK_ROUTE_PAGE;
	if (subject->route != VCLOCK_ROUTE_PAGE)
		return;
	subject->fallbacks = library_fallbacks;
	subject->page = vclock_page();
	/* COARSE then comes from the page, which knows nothing of when ticks are. */
	if (!status.has_vdso)
		subject->coarse_ticks = 2;
}

void check_subject_library(struct check_subject *ret_subject)
{
	*ret_subject = (struct check_subject){
		.name = "library",
		.clocks = SUBJECT_CLOCKS,
		.takes_any_id = true,
		.keeps_errno = true,
		.gettime = library_gettime,
		.getres = library_getres,
		.gettimeofday = library_gettimeofday,
		.time = library_time,
		.now = library_now,
		.stamp = library_stamp,
		.getpid = library_getpid,
	};
	take_route(ret_subject);
}

static int library_ns_gettime(const struct check_subject *self, int32_t clk,
			      struct vclock_timespec *ret_ts)
{
	(void)self;
	switch ((uint32_t)clk) {
	case VCLOCK_REALTIME:
		return subject_split_ns(vclock_realtime_ns(), ret_ts);
	case VCLOCK_MONOTONIC:
		return subject_split_ns(vclock_monotonic_ns(), ret_ts);
	case VCLOCK_MONOTONIC_RAW:
		return subject_split_ns(vclock_raw_ns(), ret_ts);
	case VCLOCK_BOOTTIME:
		return subject_split_ns(vclock_boottime_ns(), ret_ts);
	case VCLOCK_TAI:
		return subject_split_ns(vclock_tai_ns(), ret_ts);
	default:
		return -EINVAL;
	}
}

void check_subject_library_ns(struct check_subject *ret_subject)
{
	*ret_subject = (struct check_subject){
		.name = "library-ns",
		.clocks = SUBJECT_CLOCKS,
		.gettime = library_ns_gettime,
	};
	take_route(ret_subject);
}
