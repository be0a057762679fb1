/* SPDX-License-Identifier: MIT */
/*
 * publisher.h - reference + keeper + page.
 *
 * publisher_step() is the one function behind the in-process thread, the daemon, the launcher and
 * the simulation. It takes one sample, works out the next line and publishes it. It never sleeps,
 * and it knows time only through its reference.
 */
#ifndef PUBLISHER_H
#define PUBLISHER_H

#include <stdbool.h>
#include <stdint.h>

#include "keeper/keeper.h"
#include "reference/reference.h"
#include "vclock/publish.h"

struct publisher_config {
	/* As in struct vclock_page_config; interval_ns 0: 10 ms, ahead_ns 0: the interval, or as
	 * much as fits. The counter's rate is measured. */
	struct vclock_page_config page;
	/* The kernel's clocksource is the counter; else lines are at most 20 ms long, and the first
	 * jump of the counter is the end of the page. */
	bool counter_is_clocksource;
};

struct publisher {
	struct reference *reference;
	struct vclock_page *page; /* writable */
	struct publisher_config config;
	struct keeper_clock mono, raw;
	struct keeper_offset boot;
	struct reference_sample sample;	     /* the last one */
	struct vclock_timekeeper timekeeper; /* as last stated to the page */
	uint64_t sampled_cyc;		     /* when the last sample of MONOTONIC was taken */
	uint64_t planned_cyc;		     /* when this step was planned for; 0: no plan */
	uint64_t lateness_cyc;		     /* worst of the last second */
	uint64_t lateness_since_cyc;
	uint64_t timezone_cyc;	  /* when the time zone was last asked for */
	uint32_t change_ppb;	  /* size of the last change of rate */
	uint32_t last_change_ppb; /* what the last sample showed of it */
	uint32_t change_steps;	  /* steps for which the error still holds it */
	uint32_t jumps;
	uint32_t late_tries;	/* updates in a row that came too late */
	uint32_t confirmations; /* samples still to confirm what was learned from the page; 0: none
				 */
	uint32_t start_steps;	/* with a rate of some kind, before is_started */
	bool is_held;		/* the caller's: sample, but publish nothing */
	bool is_started;	/* the rate has been learned from a window of samples */
	bool page_is_ready;	/* vclock_page_init() has run, or a page was taken over */
};

/*
 * page: VCLOCK_PAGE_SIZE writable bytes: zero, or what an earlier publisher left there, which is
 * taken over where it is of this boot, counter and time namespace, and replaced where not. Touches
 * nothing before the rate is known. Returns 0, or -EINVAL: interval_ns and ahead_ns out of range
 * (1 ms at least; together 40 ms, 20 ms where the counter is not the clocksource).
 */
int publisher_init(struct publisher *publisher, struct reference *reference,
		   struct vclock_page *page, const struct publisher_config *config);

/*
 * One step. *ret_sleep_ns: how long to wait before the next one. Returns 0 also where nothing could
 * be published this time (readers fall back meanwhile). Otherwise the page should be retired, with
 * *ret_reason: the rate has left the range that a page may follow, the counter jumped, or the
 * reference cannot be read; returns -ERANGE, -EBADMSG or the reference's error then.
 */
int publisher_step(struct publisher *publisher, uint64_t *ret_sleep_ns,
		   enum vclock_retired *ret_reason);

/*
 * Whether a page that an earlier publisher left may be kept on: it is whole, and of this boot,
 * counter and time namespace. Otherwise its readers have to be given another file.
 */
bool publisher_may_adopt(const struct vclock_page *page, const struct publisher_config *config);

/* Whether this publisher has published, and its last line covers now or a time to come. */
bool publisher_is_answering(const struct publisher *publisher);

/* Ends the page, if it was ever made ready. */
void publisher_retire(struct publisher *publisher, enum vclock_retired reason);

#endif /* PUBLISHER_H */
