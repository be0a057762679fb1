/* SPDX-License-Identifier: MIT */
/*
 * Calls before the library's constructor: right, by the system call, and counted as too early; the
 * constructor keeps the count (P13, Q06). Linked from the archive, so that something of the program
 * can be earlier.
 */
#include <string.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"

static int early_wrong = -1;
static struct vclock_status early_status = {.size = sizeof(early_status)};

static void early(void)
{
	struct vclock_timespec ts, mono;
	struct vclock_timeval tv;
	int32_t clk;

	early_wrong = 0;
	for (clk = 0; clk < 8; clk++)
		early_wrong += vclock_gettime64(clk, &ts) != 0;
	early_wrong += support_outside(CLOCK_MONOTONIC, 20, 0, vclock_gettime64, NULL) != 0;
	early_wrong += vclock_now64(&ts, &mono) != 0 || vclock_gettimeofday64(&tv, NULL) != 0;
	early_wrong += vclock_monotonic_ns() == 0 || vclock_time64(NULL) < 1000000000;
	early_wrong += vclock_getpid() <= 0 || vclock_getres64(0, NULL) != 0;
	early_wrong += vclock_getcpu(NULL, NULL) != 0 || vclock_stamp() >> 63 != 1;
	early_wrong += vclock_page()->generation != 0 || vclock_status(&early_status) != 0;
}

/* The first of all constructors: the library's has the number 101. */
static void (*const first)(void) __attribute__((section(".init_array.00001"), used)) = early;

int main(void)
{
	struct vclock_status status = support_status();

	(void)first;
	tap_ok(early_wrong == 0, "all calls before the constructor are right (%d)", early_wrong);
	tap_ok(early_status.clock[1].reason == VCLOCK_REASON_TOO_EARLY &&
		       early_status.clock[1].route == VCLOCK_ROUTE_SYSCALL,
	       "the status then: system call, too early");
	tap_ok(early_status.fallbacks_by_reason[VCLOCK_REASON_TOO_EARLY] > 20 &&
		       status.fallbacks == early_status.fallbacks,
	       "%llu calls were counted, and still are",
	       (unsigned long long)early_status.fallbacks);
	tap_ok(status.clock[1].reason != VCLOCK_REASON_TOO_EARLY, "after it: another reason");
	tap_ok(*vclock_pid_word() == 0 || *vclock_pid_word() == (uint32_t)vclock_getpid(),
	       "no pid from before");
	return tap_done();
}
