/* SPDX-License-Identifier: MIT */
/*
 * Stamps: taken now and converted at once, or 100 ms later, a stamp is the time at which it was
 * taken; without a page it is the kernel's MONOTONIC.
 */
#include <errno.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"

#define STAMPS 200
#define TRIES 20
#define IS_NS (UINT64_C(1) << 63)

static const int32_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW,
				 CLOCK_BOOTTIME, CLOCK_TAI};

static struct {
	int64_t before, after;
	uint64_t stamp;
} taken[STAMPS];

static void take(int32_t clk, int pause_us)
{
	int i;

	for (i = 0; i < STAMPS; i++) {
		taken[i].before = oracle_read(oracle_vdso_gettime, clk);
		taken[i].stamp = vclock_stamp();
		taken[i].after = oracle_read(oracle_vdso_gettime, clk);
		if (pause_us != 0)
			usleep((unsigned)pause_us);
	}
}

/* What is converted wrongly; *ret_covered counts what could be. */
static int convert(int32_t clk, int64_t tolerance_ns, int *ret_covered)
{
	uint64_t ns;
	int wrong = 0, i, r;

	*ret_covered = 0;
	for (i = 0; i < STAMPS; i++) {
		ns = 12345;
		r = vclock_stamp_ns(taken[i].stamp, clk, &ns);
		wrong += r != 0 ? r != -ERANGE || ns != 12345
				: (int64_t)ns < taken[i].before - tolerance_ns ||
					  (int64_t)ns > taken[i].after + tolerance_ns;
		*ret_covered += r == 0;
	}
	return wrong;
}

static void without_page(void)
{
	int covered, wrong, c;
	uint64_t ns = 12345;

	for (c = 0; c < 5; c++) {
		/* Offsets from MONOTONIC are measured at conversion; MONOTONIC itself is exact. */
		take(clocks[c], 0);
		wrong = convert(clocks[c], clocks[c] == CLOCK_MONOTONIC ? 0 : 100000, &covered);
		if (clocks[c] == CLOCK_MONOTONIC_RAW)
			tap_ok(wrong == 0 && covered == 0, "no page: RAW is -ERANGE");
		else
			tap_ok(wrong == 0 && covered == STAMPS, "no page: clock %d, %d wrong",
			       (int)clocks[c], wrong);
	}
	tap_ok((taken[0].stamp & IS_NS) != 0, "no page: bit 63 marks it");
	tap_ok(vclock_stamp_ns(12345, CLOCK_MONOTONIC, &ns) == -ERANGE && ns == 12345,
	       "no page: a counter's stamp is -ERANGE");
}

static void bad_clocks(const char *what)
{
	static const int32_t bad[] = {2, 3, 5, 6, 10, 12, 99, -1, -2};
	uint64_t stamp = vclock_stamp(), ns = 12345;
	int wrong = 0;
	unsigned i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		wrong += vclock_stamp_ns(stamp, bad[i], &ns) != -EINVAL || ns != 12345;
	tap_ok(wrong == 0, "%s: not a clock of the page is -EINVAL", what);
}

/*
 * Stamps and converts until enough of them are covered: a busy machine leaves the page without a
 * line for moments, and sleeps take longer. What is converted must be right each time.
 */
static void take_and_convert(int32_t clk, int pause_us, int wait_us, int wanted, const char *what)
{
	int covered, wrong, tries = 0;

	do {
		if (tries > 0)
			usleep(50000);
		take(clk, pause_us);
		if (wait_us != 0)
			usleep((unsigned)wait_us);
		wrong = convert(clk, 1000000, &covered);
	} while (wrong == 0 && covered < wanted && ++tries < TRIES);
	tap_ok(wrong == 0 && covered >= wanted, "%s: clock %d, %d of %d covered, %d wrong", what,
	       (int)clk, covered, STAMPS, wrong);
}

static void with_page(void)
{
	uint64_t old, ns;
	int c;

	for (c = 0; c < 5; c++)
		take_and_convert(clocks[c], 0, 0, STAMPS / 4, "at once");
	/* 200 stamps over some 60 ms, converted when the first is about 100 ms old. */
	take_and_convert(CLOCK_MONOTONIC, 300, 35000, STAMPS / 8, "later");
	old = vclock_stamp();
	usleep(1000000);
	tap_ok(vclock_stamp_ns(old, CLOCK_MONOTONIC, &ns) == -ERANGE, "a second later: -ERANGE");
}

int main(void)
{
	errno = 4321;
	without_page();
	bad_clocks("no page");
	if (support_publish(NULL) != 0)
		return 99;
	bad_clocks("page");
	errno = 4321;
	with_page();
	tap_ok(errno == 4321, "errno is as it was");
	return tap_done();
}
