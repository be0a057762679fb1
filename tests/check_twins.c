/* SPDX-License-Identifier: MIT */
/*
 * Every suite catches a reader that is wrong in its way. Each twin is the kernel's own reader with
 * one fault put in on purpose; the same reader without it passes.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "check/oracle.h"
#include "check/team.h"
#include "support_check.h"
#include "tap.h"

#define MONO VCLOCK_BIT(VCLOCK_MONOTONIC)
#define REAL VCLOCK_BIT(VCLOCK_REALTIME)
#define RAW VCLOCK_BIT(VCLOCK_MONOTONIC_RAW)

static void shift(struct vclock_timespec *ts, int64_t ns)
{
	int64_t sum = oracle_ns(ts) + ns;

	ts->tv_sec = sum / 1000000000;
	ts->tv_nsec = sum % 1000000000;
}

/* The right answer, as fast as this machine gives it. */
static int right(int32_t clk, struct vclock_timespec *ret_ts)
{
	return oracle_vdso_gettime(clk, ret_ts);
}

static int right_gettime(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	(void)self;
	return right(clk, ts);
}

/*
 * Faults that a bracket must see have to be larger than it is: a read by system call, or under an
 * emulator, takes microseconds. measure_reads() makes them so; `cut` is a power of ten, 1 us at
 * least.
 */
static int64_t ahead, behind, cut = 1000;
static const int64_t us = 1000, tenth_us = 100;
#define TRIES 5

/* One read in a million, or in 50,000 where time is short. */
static uint32_t rarely = 50000;

/* arg points to the skew in ns. */
static int skewed(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	int r = right(clk, ts);

	if (r == 0)
		shift(ts, *(const int64_t *)self->arg);
	return r;
}

static int steps_back_rarely(const struct check_subject *self, int32_t clk,
			     struct vclock_timespec *ts)
{
	static uint32_t count; /* of all threads: each may be a short one */
	int r = right(clk, ts);

	if (r == 0 &&
	    __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED) % *(const uint32_t *)self->arg == 0)
		shift(ts, 2 * behind);
	return r;
}

/* t, t - 5, t, t - 5 ... by themselves: M21. */
static int five_back(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	static __thread uint32_t count;
	static __thread struct vclock_timespec first;
	int r = 0;

	(void)self;
	if (count++ % 2 == 0)
		r = right(clk, &first);
	*ts = first;
	if (count % 2 == 0)
		shift(ts, -5);
	return r;
}

static int rounds(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	int64_t unit = *(const int64_t *)self->arg;
	int r = right(clk, ts);

	ts->tv_nsec -= ts->tv_nsec % unit;
	return r;
}

/* One clock's value under another's id: C07. */
static int aliases(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	(void)self, (void)clk;
	return right(VCLOCK_MONOTONIC, ts);
}

static int not_carried(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	int r = right(clk, ts);

	(void)self;
	ts->tv_sec -= 1;
	ts->tv_nsec += 1000000000;
	return r;
}

static int never_covered(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	(void)self, (void)clk, (void)ts;
	return CHECK_UNCOVERED;
}

static int refuses(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	(void)self, (void)clk, (void)ts;
	return -ENOSYS;
}

/* The clock of one CPU is ahead. */
static int skewed_cpu(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	int cpus[TEAM_MAX];
	int r = right(clk, ts);

	team_cpus(cpus);
	if (sched_getcpu() == *(const int *)self->arg)
		shift(ts, 20000);
	return r;
}

/* C09: up to the next microsecond (or `cut`), and to 1,000,000. */
static int rounds_up_timeofday(const struct check_subject *self, struct vclock_timeval *tv)
{
	struct vclock_timespec ts;
	int r = right(VCLOCK_REALTIME, &ts);

	(void)self;
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = (ts.tv_nsec + cut - 1) / cut * (cut / 1000);
	return r;
}

static int two_moments(const struct check_subject *self, struct vclock_timespec *real,
		       struct vclock_timespec *mono)
{
	int r = right(VCLOCK_REALTIME, real);

	(void)self;
	return r != 0 ? r : right(VCLOCK_MONOTONIC, mono);
}

static int late_stamp(const struct check_subject *self, int32_t clk, uint64_t *ret_ns)
{
	(void)self;
	*ret_ns = (uint64_t)(oracle_read(right, clk) + behind);
	return 0;
}

/* LTP's case: EINVAL written down where the kernel says something else, or the other way: C04. */
static int wrong_errno(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	int r = oracle_syscall_gettime(clk, ts);

	(void)self;
	return r == -EINVAL ? -ENODEV : r;
}

static int stores_on_failure(const struct check_subject *self, int32_t clk,
			     struct vclock_timespec *ts)
{
	int r = oracle_syscall_gettime(clk, ts);

	(void)self;
	if (r != 0)
		memset(ts, 0, sizeof(*ts));
	return r;
}

static int sets_errno(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	int r = oracle_syscall_gettime(clk, ts);

	(void)self;
	errno = -r;
	return r;
}

static int takes_any(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	int r = oracle_syscall_gettime(clk, ts);

	(void)self;
	return r == 0 ? 0 : oracle_syscall_gettime(VCLOCK_MONOTONIC, ts);
}

/* C05: the look at the pointer comes before the look at the id. */
static int null_is_good(const struct check_subject *self, int32_t clk, struct vclock_timespec *res)
{
	(void)self;
	return res == NULL ? 0 : oracle_syscall_getres(clk, res);
}

static int one_ns_for_all(const struct check_subject *self, int32_t clk,
			  struct vclock_timespec *res)
{
	int r = oracle_syscall_getres(clk, res);

	(void)self;
	if (r == 0 && res != NULL)
		res->tv_nsec = 1;
	return r;
}

/* The kernel vDSO's fault, in one who is not the kernel. */
static int answers_aux(const struct check_subject *self, int32_t clk, struct vclock_timespec *res)
{
	(void)self;
	if (clk < 16 || clk > 23)
		return oracle_syscall_getres(clk, res);
	if (res != NULL)
		*res = (struct vclock_timespec){0, 1};
	return 0;
}

static int32_t remembered_pid;

static int32_t stale_getpid(const struct check_subject *self)
{
	(void)self;
	if (remembered_pid == 0)
		remembered_pid = oracle_syscall_getpid();
	return remembered_pid;
}

static int late_in_children(const struct check_subject *self, int32_t clk,
			    struct vclock_timespec *ts)
{
	int r = right(clk, ts);

	if (oracle_syscall_getpid() != *(const int32_t *)self->arg)
		shift(ts, -1000000);
	return r;
}

static int dies_in_children(const struct check_subject *self, int32_t clk,
			    struct vclock_timespec *ts)
{
	if (oracle_syscall_getpid() != *(const int32_t *)self->arg)
		_exit(1);
	return right(clk, ts);
}

/* The fine clock in place of the tick's. */
static int fine_for_coarse(const struct check_subject *self, int32_t clk,
			   struct vclock_timespec *ts)
{
	(void)self;
	if (clk == VCLOCK_REALTIME_COARSE)
		clk = VCLOCK_REALTIME;
	if (clk == VCLOCK_MONOTONIC_COARSE)
		clk = VCLOCK_MONOTONIC;
	return right(clk, ts);
}

static int64_t next_second(const struct check_subject *self)
{
	struct vclock_timespec ts = {0, 0};

	(void)self;
	right(VCLOCK_REALTIME, &ts);
	return ts.tv_sec + 1;
}

/* As a page's clock whose writer is late every 100 us: for 30 us the value of its line's end.
 */
static int stands_still(const struct check_subject *self, int32_t clk, struct vclock_timespec *ts)
{
	int r = right(clk, ts);
	int64_t past = ts->tv_nsec % 100000;

	(void)self;
	if (r == 0 && past < 30000)
		shift(ts, -past);
	return r;
}

static int stands_still_timeofday(const struct check_subject *self, struct vclock_timeval *tv)
{
	struct vclock_timespec ts;
	int r = stands_still(self, VCLOCK_REALTIME, &ts);

	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return r;
}

static int32_t first_pid;
static int last_cpu;

struct twin {
	const char *suite, *fault;
	uint32_t clocks;
	const void *arg;
	int (*gettime)(const struct check_subject *, int32_t, struct vclock_timespec *);
	int (*getres)(const struct check_subject *, int32_t, struct vclock_timespec *);
	int (*gettimeofday)(const struct check_subject *, struct vclock_timeval *);
	int64_t (*time)(const struct check_subject *);
	int (*now)(const struct check_subject *, struct vclock_timespec *,
		   struct vclock_timespec *);
	int (*stamp)(const struct check_subject *, int32_t, uint64_t *);
	int32_t (*getpid)(const struct check_subject *);
};

static const struct twin twins[] = {
	{"bracket", "ahead", MONO, &ahead, .gettime = skewed},
	{"bracket", "behind", REAL, &behind, .gettime = skewed},
	{"bracket", "behind once in a great while", MONO, &rarely, .gettime = steps_back_rarely},
	{"bracket", "cut to us", MONO, &cut, .gettime = rounds},
	{"bracket", "REALTIME is MONOTONIC", REAL, NULL, .gettime = aliases},
	{"bracket", "nanoseconds not carried", MONO, NULL, .gettime = not_carried},
	{"bracket", "a page that never covers", MONO, NULL, .gettime = never_covered},
	{"bracket", "a reader that always fails", MONO, NULL, .gettime = refuses},
	{"bracket", "gettimeofday rounded up", REAL, NULL, .gettimeofday = rounds_up_timeofday},
	{"bracket", "now of two moments", REAL | MONO, NULL, .now = two_moments},
	{"bracket", "an old stamp", MONO, NULL, .stamp = late_stamp},
	{"causality", "one CPU's clock ahead", MONO, &last_cpu, .gettime = skewed_cpu},
	{"monotonicity", "back once in a great while", MONO, &rarely, .gettime = steps_back_rarely},
	{"monotonicity", "5 ns back", MONO, NULL, .gettime = five_back},
	{"skew", "one CPU's clock ahead", MONO, &last_cpu, .gettime = skewed_cpu},
	{"resolution", "cut to us", MONO, &us, .gettime = rounds},
	{"resolution", "cut to 100 ns", MONO, &tenth_us, .gettime = rounds},
	{"getres", "NULL before the id", 0, NULL, .getres = null_is_good},
	{"getres", "1 ns for all", 0, NULL, .getres = one_ns_for_all},
	{"getres", "ids 16..23 answered", 0, NULL, .getres = answers_aux},
	{"errors", "another errno", 0, NULL, .gettime = wrong_errno},
	{"errors", "stores when it fails", 0, NULL, .gettime = stores_on_failure},
	{"errors", "sets errno", 0, NULL, .gettime = sets_errno},
	{"errors", "takes every id", 0, NULL, .gettime = takes_any},
	{"fork", "getpid of the parent", MONO, NULL, .getpid = stale_getpid},
	{"fork", "1 ms late in children", MONO, &first_pid, .gettime = late_in_children},
	{"fork", "dies in children", MONO, &first_pid, .gettime = dies_in_children},
	{"coarse", "the fine clock", 0, NULL, .gettime = fine_for_coarse},
	{"coarse", "time() of the next second", 0, NULL, .time = next_second},
};

static void measure_reads(void)
{
	int64_t begin = oracle_read(right, VCLOCK_MONOTONIC), read_ns;
	int i;

	for (i = 0; i < 1000; i++)
		read_ns = (oracle_read(right, VCLOCK_MONOTONIC) - begin) / 1000;
	ahead = 8 * read_ns;
	behind = -ahead;
	while (cut < 4 * read_ns)
		cut *= 10;
}

static void make_subject(const struct twin *twin, struct check_subject *subject)
{
	bool is_covered_rule = twin->gettime == never_covered;

	*subject = (struct check_subject){
		.name = "twin",
		.route = is_covered_rule ? VCLOCK_ROUTE_PAGE : VCLOCK_ROUTE_VDSO,
		.fallback_route = VCLOCK_ROUTE_SYSCALL,
		.clocks = twin->clocks,
		.takes_any_id = true,
		.keeps_errno = true,
		.now_is_exact = twin->now != NULL,
		.arg = (void *)(uintptr_t)twin->arg,
		.gettime = twin->gettime,
		.getres = twin->getres,
		.gettimeofday = twin->gettimeofday,
		.time = twin->time,
		.now = twin->now,
		.stamp = twin->stamp,
		.getpid = twin->getpid,
	};
	if (twin->getpid != NULL)
		subject->gettime = right_gettime;
}

/* The kernel's vDSO as oracle, so that its brackets are tight: a twin of the page's reader. */
static void run_twin(const struct twin *twin)
{
	uint64_t reads = twin->arg == &rarely ? 3 * (uint64_t)rarely / 2 : 2000;
	struct check_subject subject;
	struct support_rows rows;
	int tries = 0;

	/* Where such clocks exist, or an emulator has the kernel's fault, this is right. */
	if (twin->getres == answers_aux && oracle_syscall_getres(16, NULL) == 0)
		return;
	make_subject(twin, &subject);
	if (strcmp(twin->suite, "bracket") == 0)
		subject.route = VCLOCK_ROUTE_PAGE;
	/* A skew shows while both CPUs run at once; a busy host gives a machine that seldom. */
	do {
		support_run_once(twin->suite, &subject, 10000000000u, reads, 0, &rows);
	} while (twin->gettime == skewed_cpu && rows.failed + rows.impossible == 0 &&
		 ++tries < TRIES);
	if (rows.impossible > 0)
		tap_skip(twin->suite, rows.row[0].note);
	else
		tap_ok(rows.failed > 0, "%s catches: %s", twin->suite, twin->fault);
}

static void run_right_one(void)
{
	struct check_subject subject;
	struct support_rows rows;

	make_subject(&(struct twin){.clocks = MONO | REAL | RAW, .gettime = right_gettime},
		     &subject);
	support_run_all(&subject, 500000000, &rows);
	tap_ok(support_passes(&rows), "the same reader without a fault passes");
}

/* What is in a page's right, for as long as the page states. */
static void run_one_that_stands_still(void)
{
	static const char *const suites[] = {"bracket", "fork"};
	static struct vclock_page page;
	struct check_subject subject;
	struct support_rows rows;
	unsigned i;

	page.counter_hz = 1000000000;
	page.slot[0].clamp_cyc = 40000;
	for (i = 0; i < 2; i++) {
		make_subject(&(struct twin){.clocks = MONO | REAL | RAW,
					    .gettime = stands_still,
					    .gettimeofday = stands_still_timeofday},
			     &subject);
		subject.route = VCLOCK_ROUTE_PAGE;
		subject.page = &page;
		support_run_once(suites[i], &subject, 500000000, 0, 0, &rows);
		tap_ok(support_passes(&rows), "%s: a page may stand still at its end", suites[i]);
		page.slot[0].clamp_cyc = 1000;
		support_run_once(suites[i], &subject, 500000000, 0, 0, &rows);
		tap_ok(rows.failed > 0, "%s: ... but not longer than it states", suites[i]);
		page.slot[0].clamp_cyc = 40000;
	}
}

int main(void)
{
	int cpus[TEAM_MAX];
	unsigned count = team_cpus(cpus), i;

	last_cpu = cpus[count - 1];
	first_pid = oracle_syscall_getpid();
	if (tap_is_long())
		rarely = 1000000;
	measure_reads();

	run_right_one();
	run_one_that_stands_still();
	for (i = 0; i < sizeof(twins) / sizeof(twins[0]); i++)
		run_twin(&twins[i]);
	return tap_done();
}
