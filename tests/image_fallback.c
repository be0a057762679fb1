/* SPDX-License-Identifier: MIT */
/*
 * What the page does not answer, the kernel does: clocks that are not on the page, a page that is
 * absent, retired or no longer kept, and a kernel that has no vDSO. Each value lies where the raw
 * system call's do, and the calls that went to the kernel are counted.
 */
#include <errno.h>
#include <string.h>
#include <sched.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_image.h"
#include "tap.h"
#include "vclock/compiler.h"

#define READS 1000
/* For a page whose writer is held up. */
#define PATIENCE_NS 10000000000u
#define FINE 5
static const int32_t fine[FINE] = {VCLOCK_REALTIME, VCLOCK_MONOTONIC, VCLOCK_MONOTONIC_RAW,
				   VCLOCK_BOOTTIME, VCLOCK_TAI};

/* What the page states, 0 without one. */
static int64_t stated_error_ns(const struct image_map *map)
{
	return VCLOCK_LOAD32(&map->page->slot[VCLOCK_LOAD32(&map->page->generation) & 1].error_ns);
}

/* Reads outside the bracket of two system calls, widened by least_ns, or by what the page states
 * where that is more, of READS. */
static unsigned outside(const struct image_map *map, int32_t clk, int64_t least_ns)
{
	struct vclock_timespec before, ts, after;
	unsigned i, count = 0;

	for (i = 0; i < READS; i++) {
		int64_t slack_ns = stated_error_ns(map);

		oracle_syscall_gettime(clk, &before);
		if (map->gettime(clk, &ts) != 0 || ts.tv_nsec < 0 || ts.tv_nsec >= 1000000000)
			return READS;
		oracle_syscall_gettime(clk, &after);
		if (stated_error_ns(map) > slack_ns)
			slack_ns = stated_error_ns(map);
		if (slack_ns < least_ns)
			slack_ns = least_ns;
		count += oracle_ns(&ts) < oracle_ns(&before) - slack_ns ||
			 oracle_ns(&ts) > oracle_ns(&after) + slack_ns;
	}
	return count;
}

static unsigned outside_fine(const struct image_map *map)
{
	unsigned i, count = 0;

	for (i = 0; i < FINE; i++)
		count += outside(map, fine[i], 1000);
	return count;
}

static void absent(void)
{
	struct image_map map;
	struct vclock_timespec ts;
	unsigned i;

	image_map(&map, -1, 1);
	image_count_fallbacks(&map);
	tap_ok(outside_fine(&map) == 0, "no page: the kernel's clocks");
	tap_ok(image_fallbacks >= FINE * READS,
	       "no page: %llu calls, %d at least, were the kernel's",
	       (unsigned long long)image_fallbacks, FINE * READS);
	image_fallbacks = 0;
	for (i = 0; i < VCLOCK_BASES; i++)
		if (map.gettime_one[i] != NULL && map.gettime_one[i](&ts) != 0)
			break;
	tap_ok(i == VCLOCK_BASES && image_fallbacks == 4, "no page: the entries of one clock too");
	tap_ok(map.state->compared == PROCESS_NOT_COMPARED, "no page: the question stays open");
	image_unmap(&map);
}

/*
 * Whether a COARSE value of the image is where it may be: not a tick below the kernel's before it,
 * and not two ticks above the kernel's after it, nor above the fine clock. Where the kernel's own
 * tick comes late, on a machine that is held up, only the fine clock limits it.
 */
static int is_far(const struct vclock_timespec *before, const struct vclock_timespec *ts,
		  const struct vclock_timespec *after, const struct vclock_timespec *now,
		  int64_t tick)
{
	if (oracle_ns(ts) <= oracle_ns(before) - tick || oracle_ns(ts) > oracle_ns(now))
		return 1;
	return oracle_ns(ts) > oracle_ns(after) + 2 * tick &&
	       oracle_ns(now) <= oracle_ns(after) + 2 * tick;
}

/* COARSE and time() without the kernel's vDSO: the page's, rounded down. */
static void without_vdso(int fd)
{
	struct vclock_timespec before, ts, after, now;
	unsigned i, odd = 0, far = 0, whole = 0;
	uint64_t end = oracle_now_ns() + PATIENCE_NS;
	struct image_map map;

	image_map(&map, fd, 0);
	tap_ok(outside_fine(&map) == 0, "no vDSO: the fine clocks");
	tap_ok(map.state->compared == PROCESS_AGREES, "no vDSO: page and kernel were compared");
	/* A page that is held up leaves it to the kernel, whose ticks are its own. */
	for (i = 0; i < READS || (whole < READS / 10 && oracle_now_ns() < end); i++) {
		oracle_syscall_gettime(VCLOCK_MONOTONIC_COARSE, &before);
		map.gettime(VCLOCK_MONOTONIC_COARSE, &ts);
		oracle_syscall_gettime(VCLOCK_MONOTONIC_COARSE, &after);
		oracle_syscall_gettime(VCLOCK_MONOTONIC, &now);
		whole += ts.tv_nsec % map.page->coarse_ns == 0;
		odd += ts.tv_nsec % map.page->coarse_ns != 0 &&
		       (oracle_ns(&ts) < oracle_ns(&before) || oracle_ns(&ts) > oracle_ns(&after));
		far += is_far(&before, &ts, &after, &now, map.page->coarse_ns) != 0;
	}
	tap_ok(odd == 0 && whole >= READS / 10, "no vDSO: COARSE is a whole number of ticks");
	tap_ok(far == 0, "no vDSO: COARSE is within two ticks of the kernel's");
	if (map.time != NULL) {
		now.tv_sec = map.time(NULL);
		oracle_syscall_gettime(VCLOCK_REALTIME, &ts);
		tap_ok(ts.tv_sec - now.tv_sec >= 0 && ts.tv_sec - now.tv_sec <= 1,
		       "no vDSO: time()");
	}
	tap_ok(map.gettime(VCLOCK_BASES, &ts) == -EINVAL, "no vDSO: no such clock is -EINVAL");
	tap_ok(map.gettime(2, &ts) == 0, "no vDSO: the CPU clocks by system call");
	image_unmap(&map);
}

static void alarm_clocks(int fd)
{
	uint64_t end = oracle_now_ns() + PATIENCE_NS;
	struct vclock_timespec ts, real = {0, 0};
	struct image_map map;
	int kernels = oracle_syscall_gettime(VCLOCK_REALTIME_ALARM, &ts);

	image_map(&map, fd, 1);
	map.process->flags = 0;
	tap_ok(map.gettime(VCLOCK_REALTIME_ALARM, &ts) == kernels,
	       "ALARM: what the kernel says (%d) where it has none", kernels);
	map.process->flags = PROCESS_HAS_ALARM;
	image_count_fallbacks(&map);
	map.gettime(VCLOCK_REALTIME_ALARM, &ts);
	do {
		image_fallbacks = 0;
		oracle_syscall_gettime(VCLOCK_REALTIME, &real);
		kernels = map.gettime(VCLOCK_REALTIME_ALARM, &ts);
	} while (image_fallbacks > 0 && oracle_now_ns() < end);
	tap_ok(kernels == 0 && image_fallbacks == 0 && oracle_ns(&ts) - oracle_ns(&real) >= -1000 &&
		       oracle_ns(&ts) - oracle_ns(&real) < 1000000000,
	       "ALARM: from the page where the kernel has it");
	image_unmap(&map);
}

static long random_arguments(void *buffer, size_t length, unsigned flags, void *state, size_t size)
{
	return buffer == (void *)1 && length == 2 && flags == 3 && state == (void *)4 && size == 5;
}

/* What is nothing but forwarded. */
static void forwarded(int fd)
{
	typedef long getrandom_function(void *, size_t, unsigned, void *, size_t);
	getrandom_function *getrandom_entry;
	unsigned cpu = ~0u, node = ~0u;
	struct image_map map;
	long res[2] = {-1, -1};
	int32_t clk;

	image_map(&map, fd, 1);
	if (map.getcpu != NULL)
		tap_ok(map.getcpu(&cpu, &node, NULL) == 0 && cpu < 4096 && node < 4096, "getcpu");
	tap_ok(map.getres(VCLOCK_MONOTONIC, res) == 0 && res[0] == 0 && res[1] >= 1, "getres");
	for (clk = 16; clk < 24; clk++)
		if (map.getres(clk, NULL) != oracle_syscall_getres(clk, NULL))
			break;
	tap_ok(clk == 24, "getres of ids that the kernel's vDSO is wrong about: the system call's");
	getrandom_entry = (getrandom_function *)image_function(&map, PROCESS_GETRANDOM);
	if (getrandom_entry != NULL) {
		map.process->function[PROCESS_GETRANDOM] = 0;
		tap_ok(getrandom_entry(NULL, 0, 0, NULL, 0) == -ENOSYS, "getrandom: -ENOSYS");
		map.process->function[PROCESS_GETRANDOM] = (uintptr_t)random_arguments;
		tap_ok(getrandom_entry((void *)1, 2, 3, (void *)4, 5) == 1,
		       "getrandom: all arguments arrive at the kernel's");
	}
	image_unmap(&map);
}

static void pointers(int fd)
{
	unsigned char bytes[64];
	struct vclock_timespec ts, kernel;
	struct image_map map;
	int32_t tz[2] = {-1, -1};
	long tv[2];

	image_map(&map, fd, 1);
	map.gettime(VCLOCK_MONOTONIC, &ts);
	tap_ok(map.gettime(99, NULL) == -EINVAL, "the id is looked at before the pointer");
	tap_ok(map.gettimeofday(NULL, NULL) == 0, "gettimeofday of nothing");
	tap_ok(map.gettimeofday(tv, tz) == 0 && tz[0] == 0 && tz[1] == 0, "timezone");
	map.gettime(VCLOCK_MONOTONIC, (struct vclock_timespec *)(void *)(bytes + 1));
	oracle_syscall_gettime(VCLOCK_MONOTONIC, &kernel);
	memcpy(&ts, bytes + 1, sizeof(ts));
	tap_ok(oracle_ns(&kernel) - oracle_ns(&ts) >= 0 &&
		       oracle_ns(&kernel) - oracle_ns(&ts) < 1000000000,
	       "a pointer that is not aligned");
	image_unmap(&map);
}

/* Page, then nobody keeps it, then it is retired: never back, and the kernel's in the end. */
static void ends(int fd, enum vclock_retired reason)
{
	struct vclock_timespec ts;
	int64_t last = 0;
	unsigned i, back = 0;
	struct image_map map;

	image_map(&map, fd, 1);
	image_count_fallbacks(&map);
	for (i = 0; i < 1000; i++) {
		map.gettime(VCLOCK_MONOTONIC, &ts);
		image_fallbacks = 0;
		map.gettime(VCLOCK_MONOTONIC, &ts);
		if (image_fallbacks == 0)
			break;
		usleep(1000);
	}
	tap_ok(image_fallbacks == 0, "before its end the page answers");
	image_stop_page(reason);
	for (i = 0; i < 200000; i++) {
		map.gettime(VCLOCK_MONOTONIC, &ts);
		back += oracle_ns(&ts) < last;
		last = oracle_ns(&ts);
	}
	tap_ok(back == 0, "MONOTONIC did not go back on the way to the kernel's");
	usleep(100000);
	image_fallbacks = 0;
	i = outside_fine(&map);
	tap_ok(i == 0 && image_fallbacks == FINE * READS,
	       "%s: then every call is the kernel's (%llu of %d)",
	       reason == VCLOCK_RETIRED_NOT ? "no longer kept" : "retired",
	       (unsigned long long)image_fallbacks, FINE * READS);
	image_unmap(&map);
}

int main(void)
{
	int fd = image_start_page();

	absent();
	without_vdso(fd);
	alarm_clocks(fd);
	forwarded(fd);
	pointers(fd);
	ends(fd, VCLOCK_RETIRED_NOT);
	close(fd);
	fd = image_start_page();
	ends(fd, VCLOCK_RETIRED_STOPPED);
	return tap_done();
}
