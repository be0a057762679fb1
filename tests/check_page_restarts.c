/* SPDX-License-Identifier: MIT */
/*
 * The publisher is stopped and started again all the time: readers go from page to kernel and back,
 * and no clock goes back, in a thread or across. Half of the reads may be the kernel's here.
 */
#include <pthread.h>
#include <time.h>

#include "check/team.h"
#include "support_check.h"
#include "tap.h"

static unsigned is_over, restarts;

static void *restart_always(void *arg)
{
	const struct timespec run = {0, 60000000}, rest = {0, 3000000};

	(void)arg;
	while (!__atomic_load_n(&is_over, __ATOMIC_ACQUIRE)) {
		nanosleep(&run, NULL);
		vclock_publisher_stop();
		nanosleep(&rest, NULL);
		restarts += support_start_publisher(0) == 0;
	}
	return NULL;
}

static void run(const char *suite, const struct check_subject *subject)
{
	struct support_rows rows;
	uint64_t by_page = 0, reads = 0;
	unsigned i;

	support_run_once(suite, subject, tap_is_long() ? 60000000000u : 800000000u, 0, 0, &rows);
	for (i = 0; i < rows.count; i++) {
		tap_ok(rows.row[i].outside == 0 && rows.row[i].reads > 0, "%s: %s, %llu reads",
		       suite, rows.row[i].clock, (unsigned long long)rows.row[i].reads);
		by_page += rows.row[i].by_page;
		reads += rows.row[i].by_page + rows.row[i].by_vdso + rows.row[i].by_syscall;
	}
	tap_ok(by_page * 10 > reads && by_page < reads,
	       "%s: page and kernel took turns (%llu reads of %llu were the page's)", suite,
	       (unsigned long long)by_page, (unsigned long long)reads);
}

int main(void)
{
	struct check_subject subject;
	int cpus[TEAM_MAX];
	pthread_t thread;

	tap_ok(support_start_page(0) == 0, "a publisher starts");
	check_subject_library(&subject);
	tap_ok(subject.route == VCLOCK_ROUTE_PAGE, "the library is on the page");
	if (pthread_create(&thread, NULL, restart_always, NULL) != 0)
		return 1;
	run("monotonicity", &subject);
	if (team_cpus(cpus) >= 2)
		run("causality", &subject);
	__atomic_store_n(&is_over, 1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
	tap_ok(restarts >= 2, "%u restarts", restarts);
	vclock_publisher_stop();
	return tap_done();
}
