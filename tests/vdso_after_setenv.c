/* SPDX-License-Identifier: MIT */
/*
 * A program that has moved and emptied its environment before its first call still gets the vDSO
 * and the right time: nothing walks from environ to the auxiliary vector.
 */
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tap.h"
#include "vclock.h"
#include "vclock/elf.h"

static uint64_t raw_monotonic_ns(void)
{
	long ts[2] = {0, 0};

	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, ts);
	return (uint64_t)ts[0] * 1000000000 + (uint64_t)ts[1];
}

static void move_environment(void)
{
	char name[32];

	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "VARIABLE_%d", i);
		setenv(name, "some text that takes room", 1);
	}
	clearenv();
}

/* Whatever the route, the time is the kernel's: 1 ms is for a page's stated error, and ample. */
static void check_library(void)
{
	const uint64_t slack_ns = 1000000;
	uint64_t before = raw_monotonic_ns(), now = vclock_monotonic_ns();
	uint64_t after = raw_monotonic_ns();

	tap_ok(now + slack_ns >= before && now <= after + slack_ns,
	       "the library's first call then tells the kernel's time");
}

int main(void)
{
	struct vclock_vdso before, after;
	int r, s;

	/* V05. The look-up before is the finder's alone; the library is first called below. */
	r = vclock_vdso_find((const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR), 0, &before);
	move_environment();
	s = vclock_vdso_find((const void *)(uintptr_t)getauxval(AT_SYSINFO_EHDR), 0, &after);
	tap_ok(r == s && memcmp(&before, &after, sizeof(before)) == 0,
	       "the same vDSO after 500 setenv and a clearenv: %s", vclock_elf_strerror(s));
	check_library();
	return tap_done();
}
