// SPDX-License-Identifier: MIT
// The headers in a C++ program, and the calls that it makes through them.
#include "vclock.h"
#include "vclock/elf.h"
#include "vclock/publish.h"
#include "vclock/read.h"

#include "tap.h"

int main()
{
	struct timespec real, mono;
	struct timeval tv;
	struct vclock_status status;
	uint64_t ns = 0;

	status.size = sizeof(status);

	tap_ok(vclock_gettime(CLOCK_MONOTONIC, &mono) == 0 && vclock_now(&real, &mono) == 0,
	       "clocks");
	tap_ok(vclock_gettimeofday(&tv, nullptr) == 0 && vclock_time(nullptr) > 0, "time of day");
	tap_ok(vclock_getpid() > 0 && vclock_monotonic_ns() != 0, "pid and ns");
	tap_ok(vclock_status(&status) == 0, "status");
	tap_ok(vclock_read_ns(vclock_page(), VCLOCK_MONOTONIC, &ns) != 0 || ns != 0, "inline");
	return tap_done();
}
