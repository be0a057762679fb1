/* SPDX-License-Identifier: MIT */
/*
 * A read is judged by the error that the page stated when it was read, also when the judge comes so
 * late that the page states another: a reader may lose its CPU in between.
 */
#include <string.h>

#include "check/oracle.h"
#include "support_check.h"
#include "tap.h"

/* The subject is above the kernel's clock by this much, and by more with each read. */
#define ABOVE_NS 100000u
#define MORE_NS 10u
#define TIME_NS 600000000u

/* Just begun, so that the stated error excuses. */
static struct vclock_page page;
static unsigned threads;
static unsigned reads; /* of one thread after another */

/* Reads are told from those of the judge, who has another place for what he reads. */
static __thread unsigned is_idle;
static __thread const struct vclock_timespec *place;

static int above_the_kernel(const struct check_subject *self, int32_t clk,
			    struct vclock_timespec *ret_ts)
{
	int64_t ns;

	(void)self;
	if (place == NULL) {
		place = ret_ts;
		is_idle = __atomic_fetch_add(&threads, 1, __ATOMIC_RELAXED) % 2;
	}
	if (is_idle) /* the page states one thread's error at a time */
		return CHECK_UNCOVERED;
	reads += place == ret_ts;
	ns = oracle_read(oracle_vdso_gettime, clk) + ABOVE_NS + (int64_t)MORE_NS * reads;
	ret_ts->tv_sec = ns / 1000000000;
	ret_ts->tv_nsec = ns % 1000000000;
	VCLOCK_STORE32(&page.slot[0].error_ns, place == ret_ts ? ABOVE_NS + MORE_NS * reads : 0);
	return 0;
}

int main(void)
{
	struct check_subject subject = {
		.name = "above",
		.route = VCLOCK_ROUTE_PAGE,
		.fallback_route = VCLOCK_ROUTE_SYSCALL,
		.clocks = VCLOCK_BIT(VCLOCK_MONOTONIC),
		.page = &page,
		.gettime = above_the_kernel,
	};
	struct support_rows rows;

	page.generation = 2;
	support_run_once("monotonicity", &subject, TIME_NS, 0, VCLOCK_BIT(VCLOCK_MONOTONIC), &rows);
	tap_ok(rows.count == 2 && rows.row[1].excused > 0 && rows.row[1].outside == 0,
	       "%llu reads of the kernel were lower by what was stated, and %llu by more",
	       (unsigned long long)rows.row[1].excused, (unsigned long long)rows.row[1].outside);
	return tap_done();
}
