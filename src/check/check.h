/* SPDX-License-Identifier: MIT */
/*
 * check.h - the conformance suites that `vclock verify` and the tests share, over any route.
 *
 * A suite takes a subject, a struct of functions that read clocks, and judges it against the
 * kernel. The same suite so runs over the page, the library, the kernel's vDSO, the system call,
 * and over subjects that tests break on purpose. Nothing here prints, exits or sets a clock.
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "vclock.h"

/* A subject's "the page does not cover the counter, and I ask nobody else": no value, no error. */
#define CHECK_UNCOVERED 1

/*
 * What is judged. Functions return 0, -errno or, where the subject is the page alone,
 * CHECK_UNCOVERED. A function that is NULL is not judged. All are called from several threads at
 * once and from forked children.
 */
struct check_subject {
	const char *name;
	enum vclock_route route;	  /* what is meant to answer */
	enum vclock_route fallback_route; /* what answers where that one does not */
	uint32_t clocks; /* VCLOCK_BIT of each id that gettime is judged for by value */
	/* gettime and getres take any id, and their errors are those of the system call. */
	bool takes_any_id;
	bool keeps_errno;      /* must not touch errno */
	bool is_kernels_vdso;  /* wrong for the resolution of ids 16..23; known, and noted only */
	bool is_untold_vdso;   /* may be the kernel's, which cannot be told: no verdict of those */
	bool now_is_exact;     /* both values of now are of one moment, to the ns */
	bool is_fine;	       /* reads the counter: real ns whatever the kernel's clocksource */
	uint32_t coarse_ticks; /* how far a COARSE value may be ahead of the kernel's, in ticks */
	void *arg;

	int (*gettime)(const struct check_subject *self, int32_t clk,
		       struct vclock_timespec *ret_ts);
	int (*getres)(const struct check_subject *self, int32_t clk,
		      struct vclock_timespec *ret_res);
	int (*gettimeofday)(const struct check_subject *self, struct vclock_timeval *ret_tv);
	int64_t (*time)(const struct check_subject *self);
	int (*now)(const struct check_subject *self, struct vclock_timespec *ret_real,
		   struct vclock_timespec *ret_mono);
	int (*stamp)(const struct check_subject *self, int32_t clk, uint64_t *ret_ns);
	int32_t (*getpid)(const struct check_subject *self);
	/* In a new process, before its first read there. */
	void (*after_fork)(const struct check_subject *self);
	/* How many calls this process's fallback_route has answered so far. NULL: none, or each
	 * call says so itself by CHECK_UNCOVERED. */
	uint64_t (*fallbacks)(const struct check_subject *self);
	/* The page behind it, which states its error and tells of late writers. NULL: none, and
	 * nothing is excused. */
	const struct vclock_page *page;
};

/* Ready subjects. Each fills *ret_subject; the library's take their route from vclock_status(). */
void check_subject_syscall(struct check_subject *ret_subject);
int check_subject_vdso(struct check_subject *ret_subject);     /* -ENOENT: the kernel gives none */
void check_subject_library(struct check_subject *ret_subject); /* any id, timespec */
void check_subject_library_ns(struct check_subject *ret_subject); /* one function a clock, u64 */
/* The inlines of read.h over a page, which must stay mapped: as timespec, and as u64 ns. */
void check_subject_inline(struct check_subject *ret_subject, const struct vclock_page *page);
void check_subject_inline_ns(struct check_subject *ret_subject, const struct vclock_page *page);

enum check_verdict {
	CHECK_PASS = 0,
	CHECK_FAIL = 1,
	CHECK_UNSTEADY = 2,  /* the kernel's rate changed too often to say */
	CHECK_IMPOSSIBLE = 3 /* not on this machine; `note` says why */
};
const char *check_verdict_string(enum check_verdict verdict);

/* Distances to the two ends of the bracket, in ns; what lies outside counts as negative. */
struct check_margin {
	int64_t min_ns;
	int64_t ppm_ns; /* one read in a million is nearer; limited to CHECK_MARGIN_NS */
};
#define CHECK_MARGIN_NS 255

/* One row: a suite over one clock of one subject. */
struct check_result {
	const char *suite;
	const char *subject;
	char clock[24];
	enum check_verdict verdict;
	uint64_t reads; /* or observations, or comparisons: what the suite counts */
	uint64_t by_page, by_vdso, by_syscall;
	uint64_t outside; /* violations */
	int64_t worst_ns; /* of the violations: below (< 0) or above (> 0) what was allowed */
	uint64_t wide; /* brackets of more than 1 us: preempted or interrupted, and still judged */
	uint32_t blocks;   /* stretches of a second at most ... */
	uint32_t steady;   /* ... in which the kernel's rate did not change */
	uint32_t error_ns; /* the page's stated error, the largest that anything was judged by */
	uint64_t excused;  /* outside, within the stated error, and in its right: see tally.h */
	bool has_margins;
	struct check_margin below, above; /* value - first read, second read - value */
	char note[160];
};

/* When the kernel's rate and its wall clock were last seen to change. See steady.c. */
struct check_steady {
	bool has_looked;
	int error; /* 0, or why adjtimex cannot be read: then every rate counts as steady */
	long freq, tick;
	int64_t real_minus_mono_ns;
	uint64_t rate_changed_ns; /* MONOTONIC; 0: never seen */
	uint64_t wall_changed_ns;
};
void check_steady_look(struct check_steady *steady);

/* A run of suites. Zero is a good start; each suite ends at `reads` or `time_ns`, what comes first.
 */
struct check_run {
	uint64_t time_ns; /* for one suite over one subject */
	uint64_t reads;	  /* wanted of each clock; 0: as many as the time allows */
	uint32_t clocks;  /* VCLOCK_BIT of the ids wanted; 0: all */
	uint32_t seed;
	unsigned threads; /* of the suites that use several; 0: as many as there are CPUs, 2..8 */
	bool syscall_oracle; /* compare with the system call, not with the kernel's vDSO */
	struct check_steady steady;
	void (*report)(void *arg, const struct check_result *result);
	void *report_arg;
};

struct check_suite {
	const char *name;
	const char *what;   /* one line for people */
	unsigned weight;    /* share of a run's time; 0: takes a fixed, short time */
	bool is_for_kernel; /* says something about the kernel's own routes too */
	void (*run)(struct check_run *run, const struct check_subject *subject);
};
extern const struct check_suite check_suites[];
extern const unsigned check_suites_count;
const struct check_suite *check_suite_find(const char *name); /* NULL: no such suite */

/* Time of a suite whose share is weight / (sum of all weights) of total_ns. */
uint64_t check_suite_time(const struct check_suite *suite, uint64_t total_ns);

#endif /* CHECK_H */
