/* SPDX-License-Identifier: MIT */
/*
 * suite_ids.c - errors and getres: every clock id, right or wrong, against the raw system call.
 *
 * The system call is the oracle, never a fixed errno: which ids exist, and which error the others
 * give, changes with kernel and machine. The kernel's own vDSO answers getres of the ids 16..23
 * where the system call refuses; that is known, noted, and no failure of ours. Where it cannot be
 * told whose vDSO it is, a row with nothing else wrong has no verdict.
 */
#include "check/oracle.h"
#include "check/suites.h"
#include "check/tally.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define IDS_MAX 96
#define UNTOUCHED 0x5a5a5a5a5a5a
#define ERRNO_MARK 12345

struct ids {
	int32_t id[IDS_MAX];
	unsigned count;
	int null_fd, ptp_fd;
};

static void ids_add(struct ids *ids, int32_t id)
{
	if (ids->count < IDS_MAX)
		ids->id[ids->count++] = id;
}

/* The kernel's forms for the clock behind a descriptor, and for the CPU time of a process. */
static int32_t fd_clock(int fd)
{
	return (int32_t)((~(uint32_t)fd << 3) | 3);
}

static int32_t pid_clock(pid_t pid, uint32_t type)
{
	return (int32_t)((~(uint32_t)pid << 3) | type);
}

/* A pid that was ours a moment ago: nobody else has it that soon. */
static pid_t dead_pid(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	return pid;
}

static void ids_fill(struct ids *ids)
{
	int32_t id;
	uint32_t type;
	pid_t dead = dead_pid();

	memset(ids, 0, sizeof(*ids));
	for (id = -8; id <= 40; id++)
		ids_add(ids, id);
	ids_add(ids, 63);
	ids_add(ids, 64);
	ids_add(ids, INT_MAX);
	ids_add(ids, INT_MIN);
	ids->null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	ids->ptp_fd = open("/dev/ptp0", O_RDONLY | O_CLOEXEC);
	if (ids->null_fd >= 0)
		ids_add(ids, fd_clock(ids->null_fd));
	if (ids->ptp_fd >= 0)
		ids_add(ids, fd_clock(ids->ptp_fd));
	ids_add(ids, fd_clock(1 << 20)); /* not open */
	for (type = 0; type < 3; type++) {
		ids_add(ids, pid_clock(getpid(), type));
		ids_add(ids, pid_clock(getpid(), type | 4));
		ids_add(ids, pid_clock(1, type));
		if (dead > 0)
			ids_add(ids, pid_clock(dead, type));
	}
}

static void ids_close(const struct ids *ids)
{
	if (ids->null_fd >= 0)
		close(ids->null_fd);
	if (ids->ptp_fd >= 0)
		close(ids->ptp_fd);
}

struct comparison {
	struct check_result result;
	bool keeps_errno;
	unsigned known, untold;
};

/* The one fault of the kernel's own vDSO. */
static bool is_known_fault(int32_t id, int ours, int kernels)
{
	return id >= 16 && id <= 23 && ours == 0 && kernels == -EINVAL;
}

static void mismatch(struct comparison *c, int32_t id, const char *what, long long ours,
		     long long kernels)
{
	if (c->result.outside++ == 0)
		snprintf(c->result.note, sizeof(c->result.note),
			 "id %ld: %s %lld, the system call's %lld", (long)id, what, ours, kernels);
}

/* What both calls leave behind, beside their return value. */
static void compare_side_effects(struct comparison *c, int32_t id, int r,
				 const struct vclock_timespec *ts)
{
	if (c->keeps_errno && errno != ERRNO_MARK)
		mismatch(c, id, "errno set to", errno, ERRNO_MARK);
	if (r != 0 && ts != NULL && (ts->tv_sec != UNTOUCHED || ts->tv_nsec != UNTOUCHED))
		mismatch(c, id, "failed, but stored", ts->tv_sec, 0);
}

/* Ids that a page answers are bracketed elsewhere, in steady blocks; the others always can be. */
static bool is_bracketed(int32_t id)
{
	return id < 0 || id >= (int32_t)VCLOCK_BASES || !(VCLOCK_PAGE_CLOCKS & VCLOCK_BIT(id));
}

static void compare_gettime(struct comparison *c, const struct check_subject *subject, int32_t id)
{
	struct vclock_timespec k1 = {0, 0}, v = {UNTOUCHED, UNTOUCHED}, k2 = {0, 0};
	int before = oracle_syscall_gettime(id, &k1), r, after;

	errno = ERRNO_MARK;
	r = subject->gettime(subject, id, &v);
	compare_side_effects(c, id, r, &v);
	after = oracle_syscall_gettime(id, &k2);
	c->result.reads++;
	if (before != after)
		return; /* the clock came or went */
	if (r != before)
		mismatch(c, id, "gettime gave", r, before);
	else if (r == 0 && (uint64_t)v.tv_nsec >= VCLOCK_NSEC_PER_SEC)
		mismatch(c, id, "tv_nsec", v.tv_nsec, k1.tv_nsec);
	else if (r == 0 && is_bracketed(id) && subject->coarse_ticks == 0 &&
		 (oracle_ns(&v) < oracle_ns(&k1) || oracle_ns(&v) > oracle_ns(&k2)))
		mismatch(c, id, "time is", oracle_ns(&v), oracle_ns(&k1));
}

static void compare_getres(struct comparison *c, const struct check_subject *subject, int32_t id,
			   bool wants_value)
{
	struct vclock_timespec k = {0, 0}, v = {UNTOUCHED, UNTOUCHED};
	int kernels = oracle_syscall_getres(id, wants_value ? &k : NULL), r;

	errno = ERRNO_MARK;
	r = subject->getres(subject, id, wants_value ? &v : NULL);
	compare_side_effects(c, id, r, wants_value ? &v : NULL);
	c->result.reads++;
	if (subject->is_kernels_vdso && is_known_fault(id, r, kernels))
		c->known++;
	else if (subject->is_untold_vdso && is_known_fault(id, r, kernels))
		c->untold++;
	else if (r != kernels)
		mismatch(c, id, wants_value ? "getres gave" : "getres(NULL) gave", r, kernels);
	else if (r == 0 && wants_value && oracle_ns(&v) != oracle_ns(&k))
		mismatch(c, id, "resolution", oracle_ns(&v), oracle_ns(&k));
}

/* A sandbox that refuses the system calls leaves nothing to compare with. */
static bool has_oracle(int (*call)(int32_t, struct vclock_timespec *))
{
	struct vclock_timespec ts;

	return call(VCLOCK_MONOTONIC, &ts) == 0;
}

static void finish(struct check_run *run, const struct check_subject *subject, const char *suite,
		   const char *row, struct comparison *c)
{
	c->result.verdict = c->result.outside > 0 ? CHECK_FAIL : CHECK_PASS;
	if (c->result.outside == 0 && c->known > 0)
		snprintf(c->result.note, sizeof(c->result.note),
			 "known: the kernel's vDSO answers %u times for ids 16..23, which the "
			 "system call refuses",
			 c->known);
	if (c->result.outside == 0 && c->untold > 0) {
		c->result.verdict = CHECK_IMPOSSIBLE;
		snprintf(c->result.note, sizeof(c->result.note),
			 "answers %u times for ids 16..23, which the system call refuses: known of "
			 "the kernel's vDSO, but not whether this is it: no /proc/self/maps",
			 c->untold);
	}
	/* Most of these ids are on no page and in no vDSO. */
	c->result.by_syscall = c->result.reads;
	tally_report(run, suite, subject, row, &c->result);
}

void suite_errors(struct check_run *run, const struct check_subject *subject)
{
	struct comparison c = {.keeps_errno = subject->keeps_errno};
	struct ids ids;
	unsigned i;

	if (!subject->takes_any_id || subject->gettime == NULL)
		return;
	if (!has_oracle(oracle_syscall_gettime)) {
		tally_impossible(run, "errors", subject, "the system call is refused");
		return;
	}
	ids_fill(&ids);
	for (i = 0; i < ids.count; i++)
		compare_gettime(&c, subject, ids.id[i]);
	ids_close(&ids);
	finish(run, subject, "errors", "all ids", &c);
}

void suite_getres(struct check_run *run, const struct check_subject *subject)
{
	struct comparison c = {.keeps_errno = subject->keeps_errno};
	struct ids ids;
	unsigned i;

	if (subject->getres == NULL)
		return;
	if (!has_oracle(oracle_syscall_getres)) {
		tally_impossible(run, "getres", subject, "the system call is refused");
		return;
	}
	ids_fill(&ids);
	for (i = 0; i < ids.count; i++) {
		compare_getres(&c, subject, ids.id[i], true);
		compare_getres(&c, subject, ids.id[i], false);
	}
	ids_close(&ids);
	finish(run, subject, "getres", "all ids", &c);
}
