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
	uint32_t interval_ns; /* 0: 10 ms */
	uint32_t ahead_ns;    /* 0: 10 ms, i.e. a whole interval */
	uint32_t flags;	      /* VCLOCK_PAGE_* */
	uint32_t counter_kind;
	uint32_t writer_pid;
	uint32_t coarse_ns;
	uint64_t timens_ino;
	uint8_t boot_id[16];
	bool counter_is_clocksource; /* else lines are at most 20 ms long */
};

struct publisher {
	struct reference *reference;
	struct vclock_page *page; /* writable */
	struct publisher_config config;
	struct keeper keeper;
	struct vclock_timekeeper timekeeper; /* as last stated to the page */
	uint64_t planned_cyc;		     /* when this step was planned for; 0: no plan yet */
	uint64_t steps;
	bool page_is_ready; /* vclock_page_init() has run, or a page was taken over */
};

/* page: VCLOCK_PAGE_SIZE writable bytes; zero, or a page of an earlier publisher to take over. */
void publisher_init(struct publisher *publisher, struct reference *reference,
		    struct vclock_page *page, const struct publisher_config *config);

/*
 * One step. *ret_sleep_ns: how long to wait before the next one. Returns 0 also when nothing could
 * be published this time (readers fall back meanwhile); -ERANGE when the rate has left the range
 * that a page may follow, -EBADMSG when the counter went back or jumped, -errno of the reference
 * when it failed: the caller then retires the page with the matching reason, or gives up.
 */
int publisher_step(struct publisher *publisher, uint64_t *ret_sleep_ns);

/* Retires the page, if it was ever made ready. */
void publisher_retire(struct publisher *publisher, enum vclock_retired reason);

#endif /* PUBLISHER_H */
