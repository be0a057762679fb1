/* SPDX-License-Identifier: MIT */
/*
 * Nothing grows in a vclockd: after many steps it has the memory and the open files that it had
 * after a few. 10^6 steps in the long run, by four daemons of 1 ms. A leak of 16 bytes a step would
 * be 4 MB for each.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "publish/page_check.h"
#include "support_daemon.h"
#include "support_lib.h"
#include "tap.h"

#include <fcntl.h>
#include <sys/mman.h>

#define DAEMONS 4
/* Two of the look at clocksources, and one of the housekeeping and of the counters of all CPUs. */
#define FEW_STEPS 3000u
/* What the C library may have touched for the first time: a message's buffer. */
#define ALLOWED_KIB 64

static struct support_daemon daemon_[DAEMONS];

static uint32_t generation(const struct support_daemon *daemon)
{
	static struct vclock_page page;
	int fd = open(daemon->page, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : pread(fd, &page, sizeof(page), 0);

	if (fd >= 0)
		close(fd);
	return n == (ssize_t)sizeof(page) ? VCLOCK_LOAD32(&page.generation) : 0;
}

/* Until each has published count lines, or has not gone on for ten seconds. */
static uint64_t wait_for(uint64_t count)
{
	uint64_t sum = 0, last = 0, least;
	int i, idle = 0;

	do {
		usleep(100000);
		sum = 0;
		least = UINT64_MAX;
		for (i = 0; i < DAEMONS; i++) {
			uint64_t steps = generation(&daemon_[i]);

			sum += steps;
			least = steps < least ? steps : least;
		}
		idle = sum == last ? idle + 1 : 0;
		last = sum;
	} while (least < count && idle < 100);
	return sum;
}

int main(int argc, char **argv)
{
	const char *const options[] = {"--trust-counter", "--priority=0", "--interval=1", NULL};
	uint64_t steps = tap_is_long() ? 250000 : FEW_STEPS + 1000, done;
	long rss_kib[DAEMONS];
	int files[DAEMONS], i;

	(void)argc;
	if (support_is_emulated()) {
		tap_skip("a daemon", "the emulator does not run other programs");
		return tap_done();
	}
	for (i = 0; i < DAEMONS; i++)
		if (!support_daemon_begin(&daemon_[i], argv[0]) ||
		    !support_daemon_start(&daemon_[i], options))
			return 99;
	tap_ok(wait_for(FEW_STEPS) >= FEW_STEPS * DAEMONS, "%d daemons run", DAEMONS);
	for (i = 0; i < DAEMONS; i++) {
		rss_kib[i] = support_rss_kib(daemon_[i].pid);
		files[i] = support_open_files(daemon_[i].pid);
	}
	done = wait_for(steps);
	tap_ok(done >= steps * DAEMONS, "%llu steps", (unsigned long long)done);
	for (i = 0; i < DAEMONS; i++) {
		long grown = support_rss_kib(daemon_[i].pid) - rss_kib[i];

		if (!support_is_sanitized())
			tap_ok(rss_kib[i] > 0 && grown <= ALLOWED_KIB, "%ld KiB more than %ld",
			       grown, rss_kib[i]);
		tap_ok(files[i] > 0 && support_open_files(daemon_[i].pid) == files[i],
		       "%d open files, as before", files[i]);
		support_daemon_end(&daemon_[i]);
	}
	return tap_done();
}
