/* SPDX-License-Identifier: MIT */
/*
 * time(): never ahead of REALTIME read after it, at most a tick (and a held-up read) behind, never
 * going back; by the vDSO, the system call and a page (C08).
 */
#include <errno.h>
#include <string.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"

#define ROUNDS 20000
/* A tick is 10 ms at most, and a busy virtual machine loses some. */
#define BEHIND_NS 100000000

static int run(const char *what)
{
	struct vclock_timespec before, after;
	int64_t last = 0, now, stored = 0;
	unsigned wrong = 0, i;

	if (strcmp(what, "page") == 0 && support_publish(NULL) != 0)
		return 99;
	errno = 12345;
	for (i = 0; i < ROUNDS; i++) {
		wrong += vclock_gettime64(CLOCK_REALTIME, &before) != 0;
		now = vclock_time64(&stored);
		wrong += vclock_gettime64(CLOCK_REALTIME, &after) != 0;
		wrong += now != stored || now > after.tv_sec || now < last;
		wrong += (now + 1) * 1000000000 < oracle_ns(&before) - BEHIND_NS;
		last = now;
	}
	wrong += vclock_time64(NULL) < last || vclock_time(NULL) < last || errno != 12345;
	return wrong > 90 ? 90 : (int)wrong;
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv);
	int status;

	if (what != NULL)
		support_exit(run(what));
	tap_ok(support_again("vdso", "VCLOCK_ROUTE=vdso") == 0, "by the vDSO");
	tap_ok(support_again("syscall", "VCLOCK_ROUTE=syscall") == 0, "by the system call");
	status = support_again("page", NULL);
	tap_ok(status == 0, "by a page (%d)", status);
	return tap_done();
}
