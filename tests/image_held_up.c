/* SPDX-License-Identifier: MIT */
/*
 * A caller that is held up between its counter and the page, for longer than two lines last, gets
 * no answer from the page. While a late writer has the page's readers stand at a line's end, the
 * kernel's clock is above them: so every entry reads the counter once more before it asks that.
 * The counter is the test's own, read by read.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arch/counter_step.h"
#include "check/oracle.h"
#include "support_byo.h"
#include "support_image.h"
#include "support_lib.h"
#include "tap.h"

static struct byo byo;
static uint64_t counter[2]; /* what the first read gives, and the others */
static volatile unsigned reads;
static volatile sig_atomic_t is_on, was_next;

static void on_step(int sig, siginfo_t *info, void *context)
{
	(void)sig;
	(void)info;
	if (was_next)
		counter_step_set(context, counter[reads++ != 0]);
	was_next = is_on && counter_step_is_next(context);
	counter_step_stays_on(context, is_on);
}

static int call(const struct image_map *map, int32_t clk, bool is_one,
		struct vclock_timespec *ret_ts)
{
	int r;

	image_fallbacks = 0;
	reads = 0;
	is_on = 1;
	raise(SIGTRAP);
	r = is_one ? map->gettime_one[clk](ret_ts) : map->gettime(clk, ret_ts);
	is_on = 0;
	return r;
}

static void judge(const struct image_map *map, int32_t clk, bool is_one)
{
	const struct vclock_slot *live = byo_live(&byo);
	struct vclock_timespec ts = {0, 0};
	const char *name = is_one ? "the entry of one clock" : "clock_gettime";
	int r;

	counter[0] = live->line[0].start_cyc - 1;
	counter[1] = live->line[1].start_cyc + 1000;
	r = call(map, clk, is_one, &ts);
	tap_ok(r == 0 && reads == 2 && image_fallbacks == 0 &&
		       oracle_ns(&ts) == byo_read_ns(&byo.page, counter[1], (uint32_t)clk),
	       "%s, clock %d: late, the page answers the second read (%u reads, %llu fallbacks)",
	       name, (int)clk, reads, (unsigned long long)image_fallbacks);
	counter[1] = counter[0];
	r = call(map, clk, is_one, &ts);
	tap_ok(r == 0 && reads == 2 && image_fallbacks == 1,
	       "%s, clock %d: late twice, the kernel does (%u reads, %llu fallbacks)", name,
	       (int)clk, reads, (unsigned long long)image_fallbacks);
}

static int page_in_file(void)
{
	int fd = memfd_create("page", MFD_CLOEXEC);

	byo_init(&byo, 2000000000, 1000000, 50, 0, 1700000000);
	if (fd < 0 || byo_run(&byo, 4) != 0 ||
	    write(fd, &byo.page, sizeof(byo.page)) != sizeof(byo.page))
		return -1;
	return fd;
}

int main(void)
{
	static const int32_t clocks[] = {VCLOCK_REALTIME, VCLOCK_MONOTONIC, VCLOCK_BOOTTIME,
					 VCLOCK_TAI};
	struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO};
	struct image_map map;
	unsigned i;
	int fd;

	if (!COUNTER_STEP_IS_POSSIBLE || support_is_emulated()) {
		tap_skip("callers that are held up", "no program steps itself here");
		return tap_done();
	}
	fd = page_in_file();
	tap_ok(fd >= 0, "a page of the test's own");
	image_map(&map, fd, 0);
	image_count_fallbacks(&map);
	map.state->compared = PROCESS_AGREES;
	sigaction(SIGTRAP, &action, NULL);
	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++) {
		judge(&map, clocks[i], false);
		if (map.gettime_one[clocks[i]] != NULL)
			judge(&map, clocks[i], true);
	}
	return tap_done();
}
