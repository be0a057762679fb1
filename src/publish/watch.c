/* SPDX-License-Identifier: MIT */
/* watch.c - see watch.h. */
#include "publish/watch.h"

/* Two small files of sysfs, some 30 us each time. The kernel itself looks twice a second. */
#define WATCH_NS UINT64_C(250000000)
/* Where the kernel keeps time by a hypervisor's clock, both must have agreed for so long (design,
 * Trust). */
#define PROVE_NS UINT64_C(10000000000)

static void read_list(struct watch *watch, uint64_t now_ns)
{
	trust_read(watch->sysfs, &watch->trust);
	watch->due_ns = now_ns + WATCH_NS;
	if (watch->trust.verdict != VCLOCK_TRUST_PROVE)
		watch->proven_ns = 0;
	else if (watch->proven_ns == 0)
		watch->proven_ns = now_ns + PROVE_NS;
}

void watch_init(struct watch *watch, const char *sysfs, bool is_overridden, uint64_t now_ns)
{
	watch->sysfs = sysfs;
	watch->is_overridden = is_overridden;
	watch->proven_ns = 0;
	read_list(watch, now_ns);
}

enum watch_state watch_check(struct watch *watch, uint64_t now_ns)
{
	if (now_ns >= watch->due_ns)
		read_list(watch, now_ns);
	if (watch->is_overridden)
		return WATCH_ALLOWED;
	switch (watch->trust.verdict) {
	case VCLOCK_TRUST_FULL:
	case VCLOCK_TRUST_WATCHED:
		return WATCH_ALLOWED;
	case VCLOCK_TRUST_PROVE:
		return now_ns >= watch->proven_ns ? WATCH_ALLOWED : WATCH_WAITING;
	case VCLOCK_TRUST_WAIT:
		return WATCH_WAITING;
	default:
		return WATCH_FORBIDDEN;
	}
}

void watch_disagreed(struct watch *watch, uint64_t now_ns)
{
	if (watch->trust.verdict == VCLOCK_TRUST_PROVE)
		watch->proven_ns = now_ns + PROVE_NS;
}

bool watch_counter_is_clocksource(const struct watch *watch)
{
	return watch->trust.verdict == VCLOCK_TRUST_FULL;
}
