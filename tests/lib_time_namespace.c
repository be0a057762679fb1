/* SPDX-License-Identifier: MIT */
/*
 * A process in another time namespace than the page's does not use the page: its first call finds
 * out, for the library's functions and for the inlines, and the status says why. Its times are
 * those of its own kernel's clocks.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <fcntl.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"
#include "vclock/read.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static int by_inline(int32_t clk, struct vclock_timespec *ret_ts)
{
	return vclock_read_timespec(vclock_page(), (uint32_t)clk, ret_ts) == 0
		       ? 0
		       : oracle_syscall_gettime(clk, ret_ts);
}

static unsigned outside(int (*read)(int32_t, struct vclock_timespec *), int64_t tolerance_ns)
{
	return support_outside(CLOCK_MONOTONIC, 200, tolerance_ns, read, NULL) +
	       support_outside(CLOCK_BOOTTIME, 200, tolerance_ns, read, NULL) +
	       support_outside(CLOCK_REALTIME, 200, tolerance_ns, read, NULL) +
	       support_outside(CLOCK_MONOTONIC_RAW, 200, tolerance_ns, read, NULL);
}

/* The tolerance is for a page on a busy machine; namespaces here are days apart. */
#define BUSY_NS 1000000

/* Each on its first call in a process. */
static int same_namespace(void *arg)
{
	(void)arg;
	return outside(vclock_gettime64, BUSY_NS) != 0 || outside(by_inline, BUSY_NS) != 0 ||
	       support_wait_for_route(1, VCLOCK_ROUTE_PAGE) != 0;
}

/* A page that nobody keeps, on a machine that is held up, cannot be compared yet: until then each
 * read is the kernel's. */
static int is_without_page(int (*read)(int32_t, struct vclock_timespec *))
{
	struct vclock_status status = support_status();
	int i;

	for (i = 0; i < 1000 && status.clock[1].route != VCLOCK_ROUTE_PAGE &&
		    status.clock[1].reason != VCLOCK_REASON_TIME_NAMESPACE;
	     i++) {
		usleep(1000);
		if (outside(read, 0) != 0)
			return 1;
		status = support_status();
	}
	return status.clock[1].route == VCLOCK_ROUTE_PAGE ||
	       status.clock[1].reason != VCLOCK_REASON_TIME_NAMESPACE ||
	       vclock_page()->generation != 0;
}

static int library_first(void *arg)
{
	(void)arg;
	return outside(vclock_gettime64, 0) != 0 || is_without_page(vclock_gettime64);
}

static int inline_first(void *arg)
{
	(void)arg;
	return outside(by_inline, 0) != 0 || is_without_page(by_inline);
}

static int with_child(void *arg)
{
	return library_first(arg) != 0 || support_child(library_first, NULL) != 0;
}

/* 0, or -errno. From now on this process's children have other clocks. */
static int leave_namespace(const char *offsets)
{
	int fd, r = 0;

	if (unshare(CLONE_NEWTIME) != 0)
		return -errno;
	fd = open("/proc/self/timens_offsets", O_WRONLY);
	if (fd < 0 || write(fd, offsets, strlen(offsets)) < 0)
		r = -errno;
	if (fd >= 0)
		close(fd);
	return r;
}

int main(void)
{
	int r;

	if (support_is_emulated()) {
		tap_skip("children", "the emulator does not wipe pages in a fork");
		return tap_done();
	}
	if (support_publish(NULL) != 0)
		return 99;
	tap_ok(support_child(same_namespace, NULL) == 0, "a child in the same namespace uses it");
	tap_ok(support_child(library_first, NULL) != 0, "the judge tells when it does");
	r = leave_namespace("monotonic 100000 0\nboottime 200000 0\n");
	if (r != 0) {
		tap_skip("another time namespace",
			 r == -EPERM || r == -EINVAL
				 ? "no time namespaces for this user or on this kernel"
				 : strerror(-r));
		return tap_done();
	}
	tap_ok(support_child(library_first, NULL) == 0, "a child in another: the library");
	tap_ok(support_child(inline_first, NULL) == 0, "a child in another: the inlines");
	tap_ok(support_child(with_child, NULL) == 0, "a child of a child");
	tap_ok(support_wait_for_route(1, VCLOCK_ROUTE_PAGE) == 0,
	       "the parent goes on with its page");
	/* Not through exit(): a sanitizer would look for leaks, which does not end on Linux 6.1
	 * when a time namespace was left. */
	support_exit(tap_done());
}
