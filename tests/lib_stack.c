/* SPDX-License-Identifier: MIT */
/*
 * On every route, each function that reads a clock uses at most 104 bytes of stack of our own, the
 * return address included, beside what the kernel's vDSO uses by itself. Measured on a painted
 * stack: the whole use of a call less that of the same clock asked of the vDSO directly (D01).
 */
#include <string.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "support_stack.h"
#include "tap.h"

#define REPEATS 20

static struct vclock_timespec first, second;
static struct vclock_timezone tz;
static int64_t seconds;
static unsigned cpu, node;

#define TS (long)(intptr_t)&first
#define TS2 (long)(intptr_t)&second

/* vdso: which function of the kernel's stands below: 'c'lock_gettime, 'g'ettimeofday, 't'ime,
 * clock_get'r'es, get'u'cpu. */
static const struct {
	const char *name;
	const void *fn;
	long a, b;
	char vdso;
} calls[] = {
	{"vclock_gettime64 REALTIME", (const void *)vclock_gettime64, 0, TS, 'c'},
	{"vclock_gettime64 MONOTONIC", (const void *)vclock_gettime64, 1, TS, 'c'},
	{"vclock_gettime64 RAW", (const void *)vclock_gettime64, 4, TS, 'c'},
	{"vclock_gettime64 COARSE", (const void *)vclock_gettime64, 5, TS, 'c'},
	{"vclock_realtime64", (const void *)vclock_realtime64, TS, 0, 'c'},
	{"vclock_monotonic64", (const void *)vclock_monotonic64, TS, 0, 'c'},
	{"vclock_raw64", (const void *)vclock_raw64, TS, 0, 'c'},
	{"vclock_boottime64", (const void *)vclock_boottime64, TS, 0, 'c'},
	{"vclock_tai64", (const void *)vclock_tai64, TS, 0, 'c'},
	{"vclock_now64", (const void *)vclock_now64, TS, TS2, 'c'},
	{"vclock_gettimeofday64", (const void *)vclock_gettimeofday64, TS, 0, 'g'},
	{"vclock_gettimeofday64 with tz", (const void *)vclock_gettimeofday64, TS,
	 (long)(intptr_t)&tz, 'g'},
	{"vclock_time64", (const void *)vclock_time64, (long)(intptr_t)&seconds, 0, 't'},
	{"vclock_realtime_ns", (const void *)vclock_realtime_ns, 0, 0, 'c'},
	{"vclock_monotonic_ns", (const void *)vclock_monotonic_ns, 0, 0, 'c'},
	{"vclock_raw_ns", (const void *)vclock_raw_ns, 0, 0, 'c'},
	{"vclock_boottime_ns", (const void *)vclock_boottime_ns, 0, 0, 'c'},
	{"vclock_tai_ns", (const void *)vclock_tai_ns, 0, 0, 'c'},
	{"vclock_monotonic_unordered_ns", (const void *)vclock_monotonic_unordered_ns, 0, 0, 'c'},
	{"vclock_stamp", (const void *)vclock_stamp, 0, 0, 'c'},
	{"vclock_getres64", (const void *)vclock_getres64, 1, TS, 'r'},
	{"vclock_getcpu", (const void *)vclock_getcpu, (long)(intptr_t)&cpu, (long)(intptr_t)&node,
	 'u'},
	{"vclock_page", (const void *)vclock_page, 0, 0, 0},
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static unsigned vdso_used(char which)
{
	const struct vclock_vdso *vdso = oracle_vdso();
	const void *fn = NULL;
	unsigned used = 0, most = 0;
	int32_t clk;

	if (vdso->error != 0)
		return 0;
	/* On 32-bit machines the library has its 64-bit time and time() of clock_gettime. */
	if (sizeof(long) == 4 && (which == 'g' || which == 't'))
		which = 'c';
	fn = which == 'c'   ? vdso->clock_gettime
	     : which == 'g' ? vdso->gettimeofday
	     : which == 't' ? vdso->time
	     : which == 'r' ? vdso->clock_getres
	     : which == 'u' ? vdso->getcpu
			    : NULL;
	if (fn == NULL)
		return 0;
	if (which != 'c')
		return support_stack_used(fn, which == 'r' ? 1 : TS, which == 'r' ? TS : 0);
	for (clk = 0; clk < 12; clk++) {
		if ((1 << clk & 0x8f3) != 0)
			used = support_stack_used(fn, clk, TS);
		most = used > most ? used : most;
	}
	return most;
}

/* What is left of the whole when the vDSO's own is taken off. */
static unsigned own_use(unsigned i, int is_vdso_below)
{
	unsigned most = 0, used, below = is_vdso_below ? vdso_used(calls[i].vdso) : 0, n;

	/* Once for what is done once: a lazy binding. More often, so that both lines of a page and
	 * its moments without one come up. */
	(void)support_stack_used(calls[i].fn, calls[i].a, calls[i].b);
	for (n = 0; n < REPEATS; n++) {
		used = support_stack_used(calls[i].fn, calls[i].a, calls[i].b);
		most = used > most ? used : most;
	}
	return most > below ? most - below : 0;
}

static int judge(const char *route, int is_vdso_below)
{
	unsigned i, worst = 0, at = 0, wrong = 0;

	for (i = 0; i < CALLS; i++) {
		unsigned own = own_use(i, is_vdso_below);

		if (own > worst) {
			worst = own;
			at = i;
		}
		if (own > SUPPORT_STACK_PROMISE) {
			printf("# %s: %s uses %u bytes\n", route, calls[i].name, own);
			wrong++;
		}
	}
	printf("# %s: at most %u bytes, by %s; the vDSO's clock_gettime alone %u\n", route, worst,
	       calls[at].name, vdso_used('c'));
	return wrong != 0;
}

/* A page whose writer is gone: every call asks it first. */
static int page_missed(void)
{
	struct vclock_page page;
	int r = -EDOM, i;

	/* On a busy machine the reads that it is made of can be farther apart than it states, and
	 * its lines be over before it was compared, which is then put off: that is not measured. */
	for (i = 0; i < 50; i++) {
		r = support_make_page(&page, 0);
		if (r == 0)
			r = vclock_open(support_write("page", &page, sizeof(page)));
		if (r != -EDOM && (r != 0 || support_status().clock[1].reason == 0))
			break;
	}
	if (r != 0) {
		printf("# no page to miss: %d\n", r);
		return 99;
	}
	usleep(100000);
	return support_status().clock[1].reason != VCLOCK_REASON_NOT_COVERED ||
	       judge("page, then vDSO", 1);
}

static int run(const char *what)
{
	if (strcmp(what, "vdso") == 0)
		return judge("vDSO", 1);
	if (strcmp(what, "syscall") == 0)
		return judge("system call", 0);
	if (strcmp(what, "no-page") == 0)
		return judge("VCLOCK_ROUTE=page without a page", 1);
	if (strcmp(what, "missed") == 0)
		return page_missed();
	return support_publish(NULL) != 0 || judge("page", 1);
}

/* The measure measures: a function with a frame of 200 bytes. */
static __attribute__((noinline)) int big_frame(void)
{
	unsigned char bytes[200];

	memset(bytes, 1, sizeof(bytes));
	__asm__ __volatile__("" : : "r"(bytes) : "memory"); /* it is used */
	return bytes[100];
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv);
	unsigned big;

	if (SUPPORT_STACK_IS_SANITIZED || support_is_emulated()) {
		tap_skip("stack use", SUPPORT_STACK_IS_SANITIZED
					      ? "sanitizers have frames of their own"
					      : "the emulator has no vDSO");
		return tap_done();
	}
	if (what != NULL)
		support_exit(run(what));
	big = support_stack_used((const void *)big_frame, 0, 0);
	tap_ok(big >= 200 && big < 400, "a frame of 200 bytes is seen as %u", big);
	tap_ok(support_again("vdso", "VCLOCK_ROUTE=vdso") == 0, "the vDSO's route");
	tap_ok(support_again("syscall", "VCLOCK_ROUTE=syscall") == 0, "the system call's route");
	tap_ok(support_again("no-page", "VCLOCK_ROUTE=page") == 0, "a page wanted, and none");
	tap_ok(support_again("page", NULL) == 0, "a page that answers");
	tap_ok(support_again("missed", NULL) == 0, "a page that does not");
	return tap_done();
}
