/* SPDX-License-Identifier: MIT */
/*
 * subject_kernel.c - the system call, and the vDSO that the auxiliary vector names, as subjects.
 * They must add nothing of their own to what they call.
 */
#include <string.h>

#include "check/oracle.h"
#include "check/subjects.h"

/*
 * gettimeofday and time have no form with 64-bit time on a 32-bit machine: they end in 2038, and
 * are not judged from an hour before on.
 */
static bool a_long_holds_time(void)
{
	struct vclock_timespec ts = {0};

	oracle_syscall_gettime(VCLOCK_REALTIME, &ts);
	return sizeof(long) == sizeof(int64_t) || ts.tv_sec < INT32_MAX - 3600;
}

/*
 * The system call.
 */

static int syscall_gettime(const struct check_subject *self, int32_t clk,
			   struct vclock_timespec *ret_ts)
{
	(void)self;
	return oracle_syscall_gettime(clk, ret_ts);
}

static int syscall_getres(const struct check_subject *self, int32_t clk,
			  struct vclock_timespec *ret_res)
{
	(void)self;
	return oracle_syscall_getres(clk, ret_res);
}

static int syscall_gettimeofday(const struct check_subject *self, struct vclock_timeval *ret_tv)
{
	(void)self;
	return oracle_syscall_gettimeofday(ret_tv);
}

static int64_t syscall_time(const struct check_subject *self)
{
	(void)self;
	return oracle_syscall_time();
}

static int32_t syscall_getpid(const struct check_subject *self)
{
	(void)self;
	return oracle_syscall_getpid();
}

void check_subject_syscall(struct check_subject *ret_subject)
{
	*ret_subject = (struct check_subject){
		.name = "syscall",
		.route = VCLOCK_ROUTE_SYSCALL,
		.fallback_route = VCLOCK_ROUTE_SYSCALL,
		.clocks = SUBJECT_CLOCKS,
		.takes_any_id = true,
		.keeps_errno = true,
		.gettime = syscall_gettime,
		.getres = syscall_getres,
		.gettimeofday = a_long_holds_time() ? syscall_gettimeofday : NULL,
		.time = a_long_holds_time() ? syscall_time : NULL,
		.getpid = syscall_getpid,
	};
}

/*
 * The vDSO that the auxiliary vector names. Its functions take what the C types of this
 * architecture's kernel ABI say: 64-bit time for clock_gettime, two longs for the others.
 */

struct long_pair {
	long sec, frac;
};

static int vdso_gettime(const struct check_subject *self, int32_t clk,
			struct vclock_timespec *ret_ts)
{
	(void)self;
	return oracle_vdso_gettime(clk, ret_ts);
}

static int vdso_getres(const struct check_subject *self, int32_t clk,
		       struct vclock_timespec *ret_res)
{
	int (*getres)(int32_t, struct long_pair *);
	struct long_pair pair;
	int r;

	(void)self;
	memcpy(&getres, &oracle_vdso()->clock_getres, sizeof(getres));
	r = getres(clk, ret_res != NULL ? &pair : NULL);
	if (r == 0 && ret_res != NULL) {
		ret_res->tv_sec = pair.sec;
		ret_res->tv_nsec = pair.frac;
	}
	return r;
}

static int vdso_gettimeofday(const struct check_subject *self, struct vclock_timeval *ret_tv)
{
	int (*gettimeofday)(struct long_pair *, void *);
	struct long_pair pair;
	int r;

	(void)self;
	memcpy(&gettimeofday, &oracle_vdso()->gettimeofday, sizeof(gettimeofday));
	r = gettimeofday(&pair, NULL);
	if (r == 0) {
		ret_tv->tv_sec = pair.sec;
		ret_tv->tv_usec = pair.frac;
	}
	return r;
}

static int64_t vdso_time(const struct check_subject *self)
{
	long (*function)(long *);

	(void)self;
	memcpy(&function, &oracle_vdso()->time, sizeof(function));
	return function(NULL);
}

int check_subject_vdso(struct check_subject *ret_subject)
{
	const struct vclock_vdso *vdso = oracle_vdso();
	bool is_whole = a_long_holds_time();

	if (vdso->error != 0 || vdso->clock_gettime == NULL)
		return -ENOENT;
	*ret_subject = (struct check_subject){
		.name = "vdso",
		.route = VCLOCK_ROUTE_VDSO,
		.fallback_route = VCLOCK_ROUTE_SYSCALL,
		.clocks = SUBJECT_CLOCKS,
		.takes_any_id = true,
		.keeps_errno = true,
		.is_kernels_vdso = oracle_vdso_owner() == ORACLE_OWNER_KERNEL,
		.is_untold_vdso = oracle_vdso_owner() == ORACLE_OWNER_UNKNOWN,
		.gettime = vdso_gettime,
		.getres = vdso->clock_getres != NULL ? vdso_getres : NULL,
		.gettimeofday = vdso->gettimeofday != NULL && is_whole ? vdso_gettimeofday : NULL,
		.time = vdso->time != NULL && is_whole ? vdso_time : NULL,
	};
	return 0;
}
