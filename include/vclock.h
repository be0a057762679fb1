/* SPDX-License-Identifier: MIT */
/*
 * vclock.h - the clocks of Linux without a system call, also where the kernel makes one.
 *
 * Link with -lvclock (pkg-config libvclock). The library never prints, exits, logs, installs signal
 * handlers, or starts threads unasked, and never touches errno.
 *
 * Errors: a function returns 0 or -errno, the kernel's own convention: drop-in for the C library's
 * calls in the clock ids, not in the error form. Errors are those of the raw system call. ret_
 * parameters are untouched on failure. A bad ret_ pointer faults for clocks that are answered
 * without a system call, as with the kernel's vDSO, and is -EFAULT for the others.
 *
 * Every function that reads a clock is thread-, async-signal- and fork-safe, and cancels nothing.
 * vclock_open and the vclock_publisher functions are thread-safe, and not for signal handlers.
 *
 * Falling back to the kernel's vDSO or to the system call is success; vclock_status() counts it
 * with its reason. Set-up happens in a constructor; a call that comes before it makes the system
 * call.
 *
 * Time: struct timespec, timeval and time_t never cross the library's boundary (a 32-bit program
 * may have 32- or 64-bit time): the functions named ...64 do, over fixed types, and the calls that
 * a program uses are inlines over them. Where a value does not fit a 32-bit type, -EOVERFLOW.
 */
#ifndef VCLOCK_H
#define VCLOCK_H

#include <errno.h>
#include <stdint.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

#include "vclock/compiler.h"
#include "vclock/page.h"

VCLOCK_BEGIN_DECLS

struct vclock_timezone {
	int32_t tz_minuteswest;
	int32_t tz_dsttime;
} __attribute__((__may_alias__));

/*
 * The library's functions.
 */

/*
 * Any clock id: those of the page, COARSE ones, CPU and dynamic clocks. -EINVAL and what else the
 * system call gives. COARSE clocks come from the kernel's vDSO, always; where there is none, from
 * the page, rounded down to their resolution: up to a tick ahead of the system call.
 */
int vclock_gettime64(int32_t clk, struct vclock_timespec *ret_ts);
int vclock_getres64(int32_t clk, struct vclock_timespec *ret_res); /* ret_res may be NULL */

/* One clock each, without a look at an id. */
int vclock_realtime64(struct vclock_timespec *ret_ts);
int vclock_monotonic64(struct vclock_timespec *ret_ts);
int vclock_raw64(struct vclock_timespec *ret_ts);
int vclock_boottime64(struct vclock_timespec *ret_ts);
int vclock_tai64(struct vclock_timespec *ret_ts);

/* REALTIME and MONOTONIC of the same moment: from one counter read on the page route; otherwise
 * from two calls of the kernel, REALTIME first. */
int vclock_now64(struct vclock_timespec *ret_real, struct vclock_timespec *ret_mono);

/* Either may be NULL. Microseconds are cut, not rounded. */
int vclock_gettimeofday64(struct vclock_timeval *ret_tv, struct vclock_timezone *ret_tz);

/* Whole seconds of REALTIME, as of the last tick where the kernel has a vDSO: up to a tick behind
 * vclock_gettime, as time() is. -errno where even the system call is refused. */
int64_t vclock_time64(int64_t *ret_time);

/* ns since the clock's epoch. 0 only where even the system call is refused (seccomp). */
uint64_t vclock_realtime_ns(void);
uint64_t vclock_monotonic_ns(void);
uint64_t vclock_raw_ns(void);
uint64_t vclock_boottime_ns(void);
uint64_t vclock_tai_ns(void);

/*
 * MONOTONIC by an unordered read of the counter: half the cost, and two threads can see time go
 * back between CPUs, by microseconds (measured: 7 of 100,000 handovers). For intervals within one
 * thread.
 */
uint64_t vclock_monotonic_unordered_ns(void);

/*
 * Stamp now, convert later. A stamp is the counter (or, where no page may be used, MONOTONIC with
 * bit 63 set), so that taking one costs a counter read only. vclock_stamp_ns gives the time of clk
 * at that stamp while the page still knows it: for 100 ms at least, at the default interval.
 * -ERANGE: the page no longer covers the stamp, or never did. -EINVAL: not a clock of the page. A
 * stamp means nothing in another machine or boot.
 */
uint64_t vclock_stamp(void);
int vclock_stamp_ns(uint64_t stamp, int32_t clk, uint64_t *ret_ns);

/* The CPU and NUMA node that this ran on; either may be NULL. */
int vclock_getcpu(unsigned *ret_cpu, unsigned *ret_node);

/*
 * The word behind vclock_getpid(): the process's id, or 0 when it is not known yet. The kernel
 * wipes it in every fork. The address is the same for the life of the process.
 */
const volatile uint32_t *vclock_pid_word(void) __attribute__((const));
/* The system call, remembered in the word where that is safe. */
int32_t vclock_getpid_slow(void);

/*
 * The page that the inlines of <vclock/read.h> take. Never NULL and one address for the life of the
 * process: a new page is mapped over it, and before there is one, all is zero and nothing is
 * covered. In a new process the first call compares the page with the kernel's clocks once, and
 * takes the page away where they disagree (another time namespace). Inline readers that keep the
 * pointer over a fork into another time namespace must call this again.
 */
const struct vclock_page *vclock_page(void);

/*
 * Uses the page in the file path. NULL: $VCLOCK_PAGE (ignored when AT_SECURE), else
 * /run/vclock/page. The constructor does this once with NULL. On failure the old route stays.
 * When that page ends, and its file is replaced by another (a deleted page, another version), the
 * library follows: a call that falls back looks at the path again, at most once a second, unless
 * VCLOCK_REOPEN=0 is in the environment. `vclock info` lists the system calls of such a look.
 *   -ENOENT, -EACCES, -ELOOP (a symbolic link) and what else open() gives
 *   -EPERM      not owned by root or this user, or writable by another
 *   -EINVAL     not a page: not a regular file, magic, size, or a field out of range
 *   -EPROTO     another version of the page format
 *   -ESTALE     of another boot
 *   -EXDEV      of another time namespace
 *   -ENODATA    no line published yet
 *   -ETIME      ended or retired
 *   -EREMOTE    of a counter that this CPU, or this process, cannot read
 *   -EDOM       farther from the kernel's clocks than its own stated error
 *   -EAGAIN     it was updated again and again while it was looked at
 *   -EOPNOTSUPP this kernel cannot wipe memory in a fork (MADV_WIPEONFORK)
 */
int vclock_open(const char *path);

struct vclock_publisher_options {
	uint32_t size; /* sizeof(struct vclock_publisher_options) */
	/* Between updates, 1 ms and more; 0: 10 ms. Together with ahead_ns at most 40 ms, and 20 ms
	 * where the counter is not the kernel's clocksource. */
	uint32_t interval_ns;
	uint32_t ahead_ns; /* lines are published so long before they start; 0: interval_ns, or what
			    * is left of the limit */
	uint32_t
		trust_counter; /* not 0: publish also where the kernel does not trust the counter */
	uint32_t wait_ms;      /* wait this long for the first line; 0: do not wait */
	uint32_t realtime_priority; /* SCHED_FIFO priority of the thread; 0: leave it */
	const char *path; /* also show the page to other processes in this file; NULL: private */
};

/*
 * Starts this process's own publisher: one thread that keeps a page of shared memory. NULL: all
 * defaults. A machine page that is in use stays in use, and nothing is started (returns 0).
 * A forked child goes on reading the page while this process lives, and cannot stop it. The thread
 * takes no signals: a program that leaves main by pthread_exit() stops it first. A page in a file
 * ends when the file's owner or mode is changed so that others could write it.
 *   -EALREADY   this process has one already
 *   -EOPNOTSUPP the kernel does not trust the counter (see vclock_counter_status), or cannot wipe
 *               memory in a fork; or this process shares its parent's memory (vfork, CLONE_VM), as
 *               far as the kernel lets it find out (kcmp)
 *   -EBUSY      another process writes the page in path
 *   -EEXIST, -EISDIR  in path is something that is no page, or in path.lock or path.new what is no
 *               regular file
 *   -EFBIG      RLIMIT_FSIZE is below the size of a page
 *   -ETIME      no line within wait_ms; the publisher goes on trying
 *   -E2BIG, -EINVAL bad options;  -ENOMEM, -EAGAIN, -EMFILE ... from the system
 */
int vclock_publisher_start(const struct vclock_publisher_options *options);
/*
 * Retires the page and ends the thread. Nothing happens where this process did not start one: also
 * in a child that shares its parent's memory (vfork, CLONE_VM), whose parent's goes on.
 */
void vclock_publisher_stop(void);

enum vclock_route { VCLOCK_ROUTE_SYSCALL = 0, VCLOCK_ROUTE_VDSO = 1, VCLOCK_ROUTE_PAGE = 2 };

/* Why a clock is not, or a call was not, answered by the page. */
enum vclock_reason {
	VCLOCK_REASON_NONE = 0,		     /* it is */
	VCLOCK_REASON_NO_PAGE = 1,	     /* there is none */
	VCLOCK_REASON_NOT_COVERED = 2,	     /* the writer is late or gone, or the counter jumped */
	VCLOCK_REASON_RETIRED = 3,	     /* the writer ended the page and says why */
	VCLOCK_REASON_NOT_ON_PAGE = 4,	     /* COARSE, CPU, dynamic clocks */
	VCLOCK_REASON_TIME_NAMESPACE = 5,    /* this process's clocks are not the page's */
	VCLOCK_REASON_COUNTER_FORBIDDEN = 6, /* prctl(PR_SET_TSC) in this process, or no counter */
	VCLOCK_REASON_LIMITED = 7,	     /* VCLOCK_ROUTE */
	VCLOCK_REASON_TOO_EARLY = 8,	     /* the library's constructor has not run yet */
	VCLOCK_REASONS = 9
};

const char *vclock_route_string(enum vclock_route route);    /* never NULL */
const char *vclock_reason_string(enum vclock_reason reason); /* plain words; never NULL */
const char *vclock_retired_string(enum vclock_retired retired);

enum vclock_page_source {
	VCLOCK_PAGE_NONE = 0,
	VCLOCK_PAGE_FILE = 1,	  /* a machine page */
	VCLOCK_PAGE_OWN = 2,	  /* this process's publisher */
	VCLOCK_PAGE_INHERITED = 3 /* an ancestor's publisher */
};

struct vclock_status {
	uint32_t size; /* sizeof(struct vclock_status), set by the caller */
	struct {
		uint8_t route;	/* enum vclock_route: how a call now would be answered */
		uint8_t reason; /* enum vclock_reason: why not by the page */
	} clock[VCLOCK_BASES];	/* by clock id; other ids: syscall */
	uint32_t route_limit;	/* enum vclock_route that VCLOCK_ROUTE limits to; PAGE: no limit */
	uint32_t route_unknown; /* 1: VCLOCK_ROUTE has a value that is not known, and was ignored */
	uint32_t has_vdso;	/* 1: the kernel's vDSO was found */
	uint32_t getpid_is_cached; /* 0: MADV_WIPEONFORK is missing, getpid is a system call */
	/* Calls that asked the page and were answered by the kernel, in this process. */
	uint64_t fallbacks;
	uint64_t fallbacks_by_reason[VCLOCK_REASONS];
	/* The page. Zero without one. */
	uint32_t page_source;	/* enum vclock_page_source */
	int32_t page_error;	/* what vclock_open(NULL) returned in the constructor, or 0;
				   -EDOM also where its clocks could be compared only
				   later, and one was off */
	uint32_t page_retired;	/* enum vclock_retired */
	uint32_t page_error_ns; /* stated distance to the kernel's clocks */
	uint32_t page_writer_pid;
	uint32_t page_interval_ns;
	uint32_t page_flags; /* VCLOCK_PAGE_* */
	uint32_t page_generation;
	uint64_t page_age_ns; /* since the last update */
	uint64_t page_lateness_ns;
	char page_path[108]; /* terminated; empty for a private page */
};

/* 0; -EINVAL when size is too small, -E2BIG when it is larger than this library knows. */
int vclock_status(struct vclock_status *ret_status);

/* Whether the kernel trusts the counter, after its list of clocksources. */
enum vclock_trust {
	VCLOCK_TRUST_NEVER = 0, /* not listed, or the list cannot be read */
	VCLOCK_TRUST_WAIT = 1,	/* tsc-early: ask again in some seconds */
	VCLOCK_TRUST_PROVE =
		2, /* listed, another paravirtual clock is current: after 10 s of agreement */
	VCLOCK_TRUST_WATCHED =
		3, /* listed, a slow clocksource is current: until the first disagreement */
	VCLOCK_TRUST_FULL = 4 /* it is the current clocksource */
};

struct vclock_counter_status {
	uint32_t size;	       /* set by the caller */
	uint32_t kind;	       /* enum vclock_counter_kind */
	uint32_t trust;	       /* enum vclock_trust */
	uint32_t is_readable;  /* 0: this process may not read it */
	uint64_t hz;	       /* measured over some 10 ms; 0: not readable */
	uint32_t is_invariant; /* CPUID says so; informs only */
	char current[32];      /* the kernel's clocksource; empty: unreadable */
	char available[160];
	char reason[160]; /* the verdict in plain words */
};

/* sysfs: where sysfs is mounted; NULL: /sys. Errors as for vclock_status. Sleeps some 10 ms. */
int vclock_counter_status(const char *sysfs, struct vclock_counter_status *ret_status);

/*
 * The calls that a program uses. Strict C99 has no struct timespec; those calls are there with a
 * _POSIX_C_SOURCE of 199309L or more, C11 or C++ (and in gnu99, where all of it is the default;
 * musl defines _BSD_SOURCE there).
 */

#if (defined(_POSIX_C_SOURCE) && _POSIX_C_SOURCE >= 199309L) || defined(_GNU_SOURCE) ||       \
	defined(_BSD_SOURCE) || (defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L) || \
	defined(__cplusplus)

#define VCLOCK_TIMESPEC_IS_64_                                        \
	(sizeof(struct timespec) == sizeof(struct vclock_timespec) && \
	 sizeof(((struct timespec *)0)->tv_sec) == 8)

/* A constant id compiles to that clock's own function. */
static inline int vclock_gettime_any_(int32_t clk, struct vclock_timespec *ret_ts)
{
	if (__builtin_constant_p(clk)) {
		switch (clk) {
		case VCLOCK_REALTIME:
			return vclock_realtime64(ret_ts);
		case VCLOCK_MONOTONIC:
			return vclock_monotonic64(ret_ts);
		case VCLOCK_MONOTONIC_RAW:
			return vclock_raw64(ret_ts);
		case VCLOCK_BOOTTIME:
			return vclock_boottime64(ret_ts);
		case VCLOCK_TAI:
			return vclock_tai64(ret_ts);
		default:
			break;
		}
	}
	return vclock_gettime64(clk, ret_ts);
}

static inline int vclock_narrow_(const struct vclock_timespec *ts, struct timespec *ret_ts)
{
	struct timespec narrow;

	narrow.tv_sec = (time_t)ts->tv_sec;
	narrow.tv_nsec = (long)ts->tv_nsec;
	if (narrow.tv_sec != ts->tv_sec)
		return -EOVERFLOW;
	*ret_ts = narrow;
	return 0;
}

static inline int vclock_gettime(clockid_t clk, struct timespec *ret_ts)
{
	struct vclock_timespec ts;
	int r;

	/* Same layout: tv_nsec of a 64-bit timespec is 64 bits wide, or padded to it. */
	if (VCLOCK_TIMESPEC_IS_64_ || ret_ts == NULL)
		return vclock_gettime_any_(clk, (struct vclock_timespec *)(void *)ret_ts);
	r = vclock_gettime_any_(clk, &ts);
	return r != 0 ? r : vclock_narrow_(&ts, ret_ts);
}

static inline int vclock_getres(clockid_t clk, struct timespec *ret_res)
{
	struct vclock_timespec ts;
	int r;

	if (VCLOCK_TIMESPEC_IS_64_ || ret_res == NULL)
		return vclock_getres64(clk, (struct vclock_timespec *)(void *)ret_res);
	r = vclock_getres64(clk, &ts);
	return r != 0 ? r : vclock_narrow_(&ts, ret_res);
}

static inline int vclock_now(struct timespec *ret_real, struct timespec *ret_mono)
{
	struct vclock_timespec real, mono;
	struct timespec narrow;
	int r;

	if (VCLOCK_TIMESPEC_IS_64_)
		return vclock_now64((struct vclock_timespec *)(void *)ret_real,
				    (struct vclock_timespec *)(void *)ret_mono);
	r = vclock_now64(&real, &mono);
	if (r == 0)
		r = vclock_narrow_(&mono, &narrow);
	if (r == 0)
		r = vclock_narrow_(&real, ret_real);
	if (r == 0)
		*ret_mono = narrow;
	return r;
}

#endif /* struct timespec */

struct timezone; /* two ints; hidden from programs that ask for POSIX alone */

static inline int vclock_gettimeofday(struct timeval *ret_tv, struct timezone *ret_tz)
{
	struct vclock_timeval tv;
	struct vclock_timezone tz;
	int r;

	r = vclock_gettimeofday64(ret_tv != NULL ? &tv : NULL, ret_tz != NULL ? &tz : NULL);
	if (r != 0)
		return r;
	if (ret_tv != NULL && (time_t)tv.tv_sec != tv.tv_sec)
		return -EOVERFLOW;
	if (ret_tv != NULL) {
		ret_tv->tv_sec = (time_t)tv.tv_sec;
		ret_tv->tv_usec = (suseconds_t)tv.tv_usec;
	}
	if (ret_tz != NULL)
		*(struct vclock_timezone *)(void *)ret_tz = tz;
	return 0;
}

/* (time_t)-1 where the time does not fit, or where even the system call is refused. */
static inline time_t vclock_time(time_t *ret_time)
{
	int64_t now64 = vclock_time64(NULL);
	time_t now = (time_t)now64;

	if (now64 < 0 || now != now64)
		return (time_t)-1;
	if (ret_time != NULL)
		*ret_time = now;
	return now;
}

/*
 * The process's id by one load. Right after fork, raw clone and clone3, and in new PID namespaces.
 * A child that shares its parent's memory (vfork, CLONE_VM, posix_spawn's) shares the word: it
 * never stores its own id there, but where its parent has asked already, it is told its parent's
 * id. Call getpid() there.
 */
static inline pid_t vclock_getpid(void)
{
	uint32_t pid = *vclock_pid_word();

	return VCLOCK_LIKELY(pid != 0) ? (pid_t)pid : (pid_t)vclock_getpid_slow();
}

VCLOCK_END_DECLS

#endif /* VCLOCK_H */
