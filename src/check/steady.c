/* SPDX-License-Identifier: MIT */
/*
 * steady.c - watches the kernel's rate and wall clock from outside. It must never change them:
 * every adjtimex here has modes that only read.
 *
 * A page follows the kernel's clock from samples, so it can lie inside every bracket only while the
 * rate stays: frequency and tick length equal at both ends, no offset being worked off by the
 * kernel's PLL, none by adjtime(). The second before counts too, since a publisher's window of
 * samples is that long.
 */
#include "check/steady.h"

#include <sys/timex.h>

#include "check/oracle.h"

#define SECOND_NS 1000000000u

struct rate {
	long freq, tick;
	bool is_slewing;
};

/* 0 or -errno: seccomp filters of sandboxes often refuse adjtimex, whatever its modes. */
static int read_rate(struct rate *ret_rate)
{
	struct timex pll = {.modes = 0}, single = {.modes = ADJ_OFFSET_SS_READ};
	int saved = errno, r = 0;

	if (adjtimex(&pll) < 0)
		r = -errno;
	/* What adjtime() still has to work off; kernels that refuse to tell are not slewing. */
	else if (adjtimex(&single) < 0)
		single.offset = 0;
	errno = saved;
	if (r == 0) {
		ret_rate->freq = pll.freq;
		ret_rate->tick = pll.tick;
		ret_rate->is_slewing = pll.offset != 0 || single.offset != 0;
	}
	return r;
}

void check_steady_look(struct check_steady *steady)
{
	struct rate rate = {0, 0, false};
	uint64_t now = oracle_now_ns();
	int64_t wall = oracle_real_minus_mono();

	steady->error = read_rate(&rate);
	if (rate.is_slewing ||
	    (steady->has_looked && (rate.freq != steady->freq || rate.tick != steady->tick)))
		steady->rate_changed_ns = now;
	if (steady->has_looked && wall != steady->real_minus_mono_ns)
		steady->wall_changed_ns = now;
	steady->freq = rate.freq;
	steady->tick = rate.tick;
	steady->real_minus_mono_ns = wall;
	steady->has_looked = true;
}

bool steady_rate(const struct check_steady *steady, uint64_t begin_ns)
{
	return steady->rate_changed_ns == 0 || steady->rate_changed_ns + SECOND_NS < begin_ns;
}

bool steady_wall(const struct check_steady *steady, uint64_t begin_ns)
{
	return steady->wall_changed_ns == 0 || steady->wall_changed_ns < begin_ns;
}
