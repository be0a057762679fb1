/* SPDX-License-Identifier: MIT */
/*
 * getcpu: NULLs are good, errno stays, and the CPU is the one that the thread is pinned to (C10).
 */
#include <errno.h>
#include <sched.h>
#include <string.h>

#include "support_lib.h"
#include "tap.h"

static int judge_pinned(void)
{
	cpu_set_t all, one;
	unsigned cpu, node;
	int wrong = 0, i;

	if (sched_getaffinity(0, sizeof(all), &all) != 0)
		return 1;
	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &all))
			continue;
		CPU_ZERO(&one);
		CPU_SET(i, &one);
		wrong += sched_setaffinity(0, sizeof(one), &one) != 0;
		cpu = node = 12345;
		wrong += vclock_getcpu(&cpu, &node) != 0 || cpu != (unsigned)i || node == 12345;
		cpu = 12345;
		wrong += vclock_getcpu(&cpu, NULL) != 0 || cpu != (unsigned)i;
	}
	sched_setaffinity(0, sizeof(all), &all);
	return wrong;
}

static int judge(void)
{
	unsigned node = 12345;
	int wrong = judge_pinned();

	errno = 12345;
	wrong += vclock_getcpu(NULL, &node) != 0 || node == 12345;
	wrong += vclock_getcpu(NULL, NULL) != 0;
	return wrong + (errno != 12345);
}

int main(int argc, char **argv)
{
	if (support_what(argc, argv) != NULL)
		support_exit(judge());
	tap_ok(judge() == 0, "by the default route");
	tap_ok(support_again("syscall", "VCLOCK_ROUTE=syscall") == 0, "by the system call");
	return tap_done();
}
