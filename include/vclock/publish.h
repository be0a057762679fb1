/* SPDX-License-Identifier: MIT */
/*
 * publish.h - keep a page from a timekeeper of your own: a sandbox, a VMM, a simulator.
 *
 * The twin of the kernel's update_vsyscall(): the caller states his clocks as a line, and the page
 * follows it. These functions are the only code that ever stores into a page. They start no thread,
 * allocate nothing, make no system call and use no libc beyond memcpy and memset.
 *
 * One writer at a time for each page; the caller sees to that. Readers need no lock and never wait.
 * A writer may die at any instruction; the next one goes on from what stands on the page.
 */
#ifndef VCLOCK_PUBLISH_H
#define VCLOCK_PUBLISH_H

#include "compiler.h"
#include "page.h"

VCLOCK_BEGIN_DECLS

/* What of a page never changes, for vclock_page_init(). Zero is a valid choice where it says so. */
struct vclock_page_config {
	uint64_t counter_hz;   /* nominal rate of the counter, 1,000 .. 100,000,000,000 */
	uint32_t counter_kind; /* enum vclock_counter_kind */
	uint32_t flags;	       /* VCLOCK_PAGE_* */
	uint32_t interval_ns;  /* planned time between updates = length of a line: 1 ms .. 40 ms */
	uint32_t ahead_ns;   /* lines are published this long before they start: 0 .. interval_ns */
	uint32_t coarse_ns;  /* resolution of the COARSE clocks; 0: unknown */
	uint32_t writer_pid; /* 0: unknown */
	uint64_t timens_ino; /* 0: unknown */
	uint8_t boot_id[16]; /* zero: unknown */
};

/*
 * The caller's clocks as a line, in the kernel's terms. Valid at counter value cycle_last, and
 * until it is replaced for every counter value up to 2^31 past it: REALTIME  = xtime_sec +
 * (xtime_nsec + (cyc - cycle_last) * mult) / 2^shift ns MONOTONIC = REALTIME + wall_to_monotonic
 * BOOTTIME = MONOTONIC + monotonic_to_boot TAI       = REALTIME + tai_offset_sec          RAW
 * likewise from raw_sec, raw_nsec, raw_mult
 */
struct vclock_timekeeper {
	uint64_t cycle_last;
	uint32_t mult;	/* ns per cycle << shift; not 0 */
	uint32_t shift; /* <= VCLOCK_SHIFT_MAX; need not be the page's */
	int64_t xtime_sec;
	uint64_t xtime_nsec;			  /* << shift; below 10^9 << shift */
	struct vclock_timespec wall_to_monotonic; /* 0 <= tv_nsec < 10^9 */
	struct vclock_timespec monotonic_to_boot;
	int64_t raw_sec;
	uint64_t raw_nsec; /* << shift; below 10^9 << shift */
	uint32_t raw_mult; /* not 0 */
	int32_t tai_offset_sec;
	/*
	 * Change it whenever REALTIME, TAI or BOOTTIME stepped: wall_to_monotonic, tai_offset_sec
	 * and monotonic_to_boot are looked at only then. A step is stated, never inferred.
	 */
	uint32_t clock_was_set_seq;
	/*
	 * How far this line may be from the caller's clock; below 10^9. The page states it, and on
	 * top of it how far its own lines are from this one.
	 */
	uint32_t error_ns;
	uint32_t
		lateness_ns; /* how late updates came lately; goes on the page for readers to see */
	/*
	 * How long after cycle_last an update may still be made from this line, for a caller whose
	 * line is a measurement; 0: 1 s. A writer that is held up for longer gets -ETIME.
	 */
	uint32_t valid_ns;
	/*
	 * The counter that readers of this page read, ordered; NULL: this CPU's. Looked at just
	 * before an update is made visible.
	 */
	uint64_t (*read_counter)(void *arg);
	void *read_counter_arg;
};

/*
 * Makes *page (VCLOCK_PAGE_SIZE bytes, aligned to 64) a valid page that covers nothing yet.
 * Nobody may be reading it. shift is chosen so that a rate twice as fast as nominal still fits
 * mult. Returns 0; -EINVAL when the configuration is out of range.
 */
int vclock_page_init(struct vclock_page *page, const struct vclock_page_config *config);

/*
 * Takes over a page whose writer is dead: what stands on it stays, readers notice nothing, and the
 * next update goes on above it. State a new clock_was_set_seq with that. counter_hz is that of the
 * page; interval_ns, ahead_ns, flags and writer_pid become those of the configuration. Returns 0;
 * -EINVAL when the configuration is out of range, or the page is not one that this writer can go on
 * with: never initialised, of another version, counter kind, rate, boot or time namespace.
 */
int vclock_page_adopt(struct vclock_page *page, const struct vclock_page_config *config);

/*
 * Brings the page up to the caller's line. Call it once per interval, or soon after a line began,
 * and at any time when clock_was_set_seq changed.
 *
 * While a line runs, its end stays where it is: the next line starts there with that line's value
 * and is steered to be on the caller's line at its own end. The first line, and the first after a
 * gap, starts some 100 us from now at or above the upper edge of the caller's line (error_ns, and
 * 1100 ppm of the time since cycle_last) and above the value at the old end, and runs at the
 * caller's rate; the next one comes down to the caller's line.
 *
 * Returns
 *   0          published: a new line, or the same lines with new bases after a step
 *   -EALREADY  nothing to do: the live slot's second line has not begun, and no step was stated
 *   -ETIME     too late: the running line ended while this ran, or the timekeeper is older than
 *              its valid_ns. Nothing was published; call again at once with a fresh timekeeper
 *   -ERANGE    the caller's line cannot be reached without MONOTONIC going back, or running less
 *              than an eighth or more than twice as fast as stated: let the line end and call again
 *   -EINVAL    the timekeeper is out of range, or states a line more than 2^31 cycles old
 *   -EPERM     the page was retired: vclock_page_init() first, on a page that nobody reads,
 *              or vclock_page_revive()
 */
int vclock_page_update(struct vclock_page *page, const struct vclock_timekeeper *timekeeper);

/* The timezone that gettimeofday reports. Publishes at once; the lines stay as they are. */
int vclock_page_update_tz(struct vclock_page *page, int32_t minuteswest, int32_t dsttime);

/*
 * Ends the page, with the reason that readers and `vclock info` show. An orderly end (STOPPED,
 * REPLACED) lets the running line go on for 100 us, so that MONOTONIC does not step back on the way
 * to the kernel's clock; every other reason means that the counter is not to be believed, and ends
 * it at once. read_counter as in struct vclock_timekeeper.
 */
void vclock_page_retire(struct vclock_page *page, enum vclock_retired reason,
			uint64_t (*read_counter)(void *arg), void *read_counter_arg);

/* Lets a retired page be updated again, for a publisher that takes it over. */
void vclock_page_revive(struct vclock_page *page);

VCLOCK_END_DECLS

#endif /* VCLOCK_PUBLISH_H */
