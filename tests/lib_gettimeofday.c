/* SPDX-License-Identifier: MIT */
/*
 * gettimeofday: microseconds are cut and not rounded (C09), all four combinations of NULL are good
 * (C13), the timezone is the kernel's, errno stays; by the vDSO, the system call and a page.
 */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"

#define ROUNDS 5000

static unsigned outside(void)
{
	struct vclock_timespec before, after;
	struct vclock_timeval tv;
	unsigned wrong = 0, i;

	for (i = 0; i < ROUNDS; i++) {
		int64_t us;

		wrong += vclock_gettime64(CLOCK_REALTIME, &before) != 0;
		wrong += vclock_gettimeofday64(&tv, NULL) != 0;
		wrong += vclock_gettime64(CLOCK_REALTIME, &after) != 0;
		us = tv.tv_sec * 1000000 + tv.tv_usec;
		wrong += tv.tv_usec < 0 || tv.tv_usec > 999999;
		wrong += us < oracle_ns(&before) / 1000 || us > oracle_ns(&after) / 1000;
	}
	return wrong;
}

static unsigned combinations(void)
{
	struct vclock_timezone tz = {-1, -1};
	struct timezone want = {0, 0}, given = {-1, -1};
	struct vclock_timeval tv = {-1, -1};
	struct timeval narrow = {-1, -1};
	unsigned wrong = 0;

	syscall(SYS_gettimeofday, NULL, &want);
	errno = 12345;
	wrong += vclock_gettimeofday64(NULL, NULL) != 0;
	wrong += vclock_gettimeofday64(NULL, &tz) != 0;
	wrong += tz.tz_minuteswest != want.tz_minuteswest || tz.tz_dsttime != want.tz_dsttime;
	tz.tz_minuteswest = -1;
	wrong += vclock_gettimeofday64(&tv, &tz) != 0 || tv.tv_sec < 1000000000;
	wrong += tz.tz_minuteswest != want.tz_minuteswest;
	wrong += vclock_gettimeofday(NULL, NULL) != 0 || vclock_gettimeofday(&narrow, &given) != 0;
	wrong += narrow.tv_sec < 1000000000 || given.tz_minuteswest != want.tz_minuteswest;
	wrong += vclock_gettimeofday(NULL, &given) != 0 || vclock_gettimeofday(&narrow, NULL) != 0;
	wrong += errno != 12345;
	return wrong;
}

static int run(const char *what)
{
	unsigned wrong;

	if (strcmp(what, "page") == 0 && support_publish(NULL) != 0)
		return 99;
	wrong = outside() + combinations();
	return wrong > 90 ? 90 : (int)wrong;
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv);

	if (what != NULL)
		support_exit(run(what));
	tap_ok(support_again("vdso", "VCLOCK_ROUTE=vdso") == 0, "by the vDSO");
	tap_ok(support_again("syscall", "VCLOCK_ROUTE=syscall") == 0, "by the system call");
	tap_ok(support_again("page", NULL) == 0, "by a page");
	return tap_done();
}
