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

static void move_environment(void)
{
	char name[32];

	for (int i = 0; i < 500; i++) {
		snprintf(name, sizeof(name), "VARIABLE_%d", i);
		setenv(name, "some text that takes room", 1);
	}
	clearenv();
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
	return tap_done();
}
