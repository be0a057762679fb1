/* SPDX-License-Identifier: MIT */
/*
 * status.c - what the library would do now, and what it did. Reads only.
 */
#include <string.h>

#include "lib/guard.h"
#include "lib/kernel.h"
#include "vclock/counter.h"
#include "vclock/read.h"

/* The page's own counter -> ns, for an age: shown to people, so the nominal rate will do. Counted
 * in microseconds, that 2^64 is out of reach for a page of any age. */
static uint64_t age_ns(const struct vclock_page *page, const struct vclock_slot *slot)
{
	uint64_t cyc = vclock_counter_ordered() - VCLOCK_LOAD64(&slot->published_cyc);
	uint64_t per_ms = VCLOCK_LOAD64(&page->counter_hz) / 1000;

	if (per_ms == 0 || (int64_t)cyc < 0)
		return 0;
	return cyc / per_ms * 1000000 + cyc % per_ms * 1000000 / per_ms;
}

static void fill_page(struct vclock_status *status)
{
	const struct vclock_page *page = vclock_page();
	const struct vclock_slot *slot;

	status->page_error = lib_program.page_error;
	status->page_source = lib_program.page_source;
	if (lib_program.page_source == VCLOCK_PAGE_NONE)
		return;
	if (lib_program.page_source == VCLOCK_PAGE_OWN && lib_process.owns_publisher == 0)
		status->page_source = VCLOCK_PAGE_INHERITED;
	memcpy(status->page_path, lib_program.page_path, sizeof(status->page_path));
	status->page_generation = VCLOCK_LOAD32(&page->generation);
	slot = &page->slot[status->page_generation & 1];
	status->page_retired = VCLOCK_LOAD32(&slot->retired);
	status->page_error_ns = VCLOCK_LOAD32(&slot->error_ns);
	status->page_lateness_ns = VCLOCK_LOAD64(&slot->lateness_ns);
	status->page_writer_pid = VCLOCK_LOAD32(&page->writer_pid);
	status->page_interval_ns = VCLOCK_LOAD32(&page->interval_ns);
	status->page_flags = VCLOCK_LOAD32(&page->flags);
	if (status->page_generation != 0)
		status->page_age_ns = age_ns(page, slot);
}

/* Without a vDSO the COARSE clocks are made of the page's fine ones. */
static bool is_coarse_from_page(uint32_t clk)
{
	uint32_t fine = clk == VCLOCK_REALTIME_COARSE ? VCLOCK_REALTIME : VCLOCK_MONOTONIC;
	struct vclock_timespec ts;

	return (LIB_COARSE_CLOCKS & VCLOCK_BIT(clk)) != 0 && !kernel_answers(clk) &&
	       (lib_process.page_clocks & VCLOCK_BIT(fine)) != 0 &&
	       VCLOCK_LOAD32(&LIB_PAGE->coarse_ns) != 0 &&
	       vclock_read_timespec(LIB_PAGE, fine, &ts) == 0;
}

/* By trying, as a call would. */
static void fill_clock(struct vclock_status *status, uint32_t clk)
{
	struct vclock_timespec ts;

	status->clock[clk].reason = VCLOCK_REASON_NONE;
	status->clock[clk].route = VCLOCK_ROUTE_PAGE;
	if ((lib_process.page_clocks & VCLOCK_BIT(clk)) != 0 &&
	    vclock_read_timespec(LIB_PAGE, clk, &ts) == 0)
		return;
	if (is_coarse_from_page(clk))
		return;
	status->clock[clk].route = kernel_answers(clk) ? VCLOCK_ROUTE_VDSO : VCLOCK_ROUTE_SYSCALL;
	status->clock[clk].reason = (uint8_t)process_reason(clk);
}

static void fill_counts(struct vclock_status *status)
{
	uint64_t count;
	int shard, reason;

	for (reason = 1; reason < VCLOCK_REASONS; reason++) {
		count = 0;
		for (shard = 0; shard < LIB_SHARDS; shard++)
			count += __atomic_load_n(&lib_process.shard[shard].count[reason - 1],
						 __ATOMIC_RELAXED);
		if (reason == VCLOCK_REASON_TOO_EARLY)
			count += __atomic_load_n(&lib_program.early_calls, __ATOMIC_RELAXED);
		status->fallbacks_by_reason[reason] = count;
		status->fallbacks += count;
	}
}

int vclock_status(struct vclock_status *ret_status)
{
	struct vclock_status status = {.size = sizeof(status)};
	uint32_t clk;

	if (ret_status->size > sizeof(status))
		return -E2BIG;
	/* The first version of this struct is the smallest that there is. */
	if (ret_status->size < sizeof(status))
		return -EINVAL;
	process_check();
	for (clk = 0; clk < VCLOCK_BASES; clk++)
		fill_clock(&status, clk);
	status.route_limit = lib_program.route_limit;
	status.route_unknown = lib_program.route_unknown;
	status.has_vdso = lib_kernel.has_vdso;
	status.getpid_is_cached = lib_program.wipes && lib_process.no_pid == 0;
	fill_counts(&status);
	fill_page(&status);
	*ret_status = status;
	return 0;
}
