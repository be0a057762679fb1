/* SPDX-License-Identifier: MIT */
/*
 * subject_inline.c - the inlines of read.h as subjects: the page, and nobody else.
 */
#include "check/subjects.h"
#include "vclock/read.h"

static int covered(int r)
{
	return r == -VCLOCK_EAGAIN ? CHECK_UNCOVERED : r;
}

static int inline_gettime(const struct check_subject *self, int32_t clk,
			  struct vclock_timespec *ret_ts)
{
	return covered(vclock_read_timespec(self->page, (uint32_t)clk, ret_ts));
}

static int inline_ns_gettime(const struct check_subject *self, int32_t clk,
			     struct vclock_timespec *ret_ts)
{
	uint64_t ns;
	int r = covered(vclock_read_ns(self->page, (uint32_t)clk, &ns));

	return r == 0 ? subject_split_ns(ns, ret_ts) : r;
}

static int inline_now(const struct check_subject *self, struct vclock_timespec *ret_real,
		      struct vclock_timespec *ret_mono)
{
	return covered(vclock_read_now(self->page, ret_real, ret_mono));
}

static int inline_stamp(const struct check_subject *self, int32_t clk, uint64_t *ret_ns)
{
	return covered(
		vclock_read_stamp(self->page, vclock_counter_ordered(), (uint32_t)clk, ret_ns));
}

static void fill_inline(struct check_subject *subject, const char *name,
			const struct vclock_page *page)
{
	*subject = (struct check_subject){
		.name = name,
		.route = VCLOCK_ROUTE_PAGE,
		.fallback_route = VCLOCK_ROUTE_SYSCALL,
		.clocks = SUBJECT_CLOCKS,
		.is_fine = true,
		.page = page,
	};
}

void check_subject_inline(struct check_subject *ret_subject, const struct vclock_page *page)
{
	fill_inline(ret_subject, "inline", page);
	ret_subject->now_is_exact = true;
	ret_subject->gettime = inline_gettime;
	ret_subject->now = inline_now;
}

void check_subject_inline_ns(struct check_subject *ret_subject, const struct vclock_page *page)
{
	fill_inline(ret_subject, "inline-ns", page);
	ret_subject->gettime = inline_ns_gettime;
	ret_subject->stamp = inline_stamp;
}
