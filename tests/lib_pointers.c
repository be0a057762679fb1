/* SPDX-License-Identifier: MIT */
/*
 * Bad pointers: a clock that is answered without a system call faults, as with the kernel's vDSO;
 * one that needs the system call gives -EFAULT; a bad id is -EINVAL whatever the pointer. C03.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>

#include "support_lib.h"
#include "tap.h"

static struct vclock_timespec *const bad = (struct vclock_timespec *)(uintptr_t)0x10;

/* The child's status: 0 for -EFAULT, 1 for -EINVAL, 2 for success, 3 for anything else. */
static int call(void *arg)
{
	int r;

	/* A sanitizer would print what is meant to happen. */
	signal(SIGSEGV, SIG_DFL);
	signal(SIGBUS, SIG_DFL);
	r = vclock_gettime64(*(int32_t *)arg, bad);
	return r == -EFAULT ? 0 : r == -EINVAL ? 1 : r == 0 ? 2 : 3;
}

static int is_fault(int status)
{
	return status == 128 + SIGSEGV || status == 128 + SIGBUS;
}

static void judge(int32_t clk, const char *what)
{
	int status = support_child(call, &clk);

	if (support_route((uint32_t)clk) == VCLOCK_ROUTE_SYSCALL)
		tap_ok(status == 0, "%s: clock %d gives -EFAULT (%d)", what, (int)clk, status);
	else
		tap_ok(is_fault(status) || status == 0,
		       "%s: clock %d faults, or gives -EFAULT (%d)", what, (int)clk, status);
}

int main(void)
{
	static const int32_t clocks[] = {0, 1, 2, 3, 4, 5, 6, 7, 11};
	int32_t clk;
	unsigned i;

	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		judge(clocks[i], "no page");
	for (clk = 99; clk >= -1; clk -= 100)
		tap_ok(support_child(call, &clk) == 1, "clock %d gives -EINVAL", (int)clk);
	if (support_publish(NULL) == 0)
		judge(CLOCK_MONOTONIC, "page");
	return tap_done();
}
