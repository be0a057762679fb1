/* SPDX-License-Identifier: MIT */
/*
 * fuzz_open.c - any bytes as the file that vclock_open() is given, with the whole library behind
 * it.
 *
 * The first byte odd: the rest is the file. Even: the rest says which bytes of a page that is right
 * at this moment are changed, three for each: where (two), and by what. No crash and no hang; and
 * when the page is taken, each clock reads what the kernel does, as far off as the page states, as
 * vclock_open() lets pass, and as its rate makes of the time since. A broken promise aborts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check/oracle.h"
#include "lib/open.h"
#include "support_lib.h"
#include "vclock.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A page that ended before it was compared is compared at the first call, to this. */
#define TOLERANCE_NS 1000000

static const int32_t clocks[] = {VCLOCK_REALTIME, VCLOCK_MONOTONIC, VCLOCK_MONOTONIC_RAW,
				 VCLOCK_BOOTTIME, VCLOCK_TAI};

static _Alignas(64) struct vclock_page page;

/* Files that stay: one that is mapped must never become shorter. */
static int new_file(void)
{
	int fd = memfd_create("fuzz-open", MFD_CLOEXEC);

	if (fd < 0 || fchmod(fd, 0644) != 0)
		abort();
	return fd;
}

static int open_bytes(const void *bytes, size_t size)
{
	static int page_fd = -1, short_fd = -1;
	int fd;

	if (page_fd < 0) {
		page_fd = new_file();
		short_fd = new_file();
	}
	fd = size < sizeof(page) ? short_fd : page_fd;
	if (pwrite(fd, bytes, size, 0) != (ssize_t)size || ftruncate(fd, (off_t)size) != 0)
		abort();
	return open_page_fd(fd, "fuzz");
}

static void change(const uint8_t *data, size_t size)
{
	uint8_t *bytes = (uint8_t *)&page;

	for (; size >= 3; data += 3, size -= 3)
		bytes[(data[0] | data[1] << 8) % sizeof(page)] ^= data[2];
}

/* How fast a line goes wrong, as a part of the time that passes; 0: it is as the good one was. */
static double drift_of(uint32_t mult, double good)
{
	double ratio = (double)mult / (double)(UINT64_C(1) << page.shift) / good;

	return ratio < 1 ? 1 - ratio : ratio - 1;
}

static double worst_drift(double good)
{
	const struct vclock_slot *live = &page.slot[page.generation & 1];
	double worst = 0, drift;
	int i;

	for (i = 0; i < 4; i++) {
		drift = drift_of(live->line[i >> 1].mult[i & 1], good);
		if (live->line[i >> 1].length_cyc != 0 && drift > worst)
			worst = drift;
	}
	return worst;
}

static void hold(int32_t clk, int64_t begin_ns, double drift)
{
	int64_t error = page.slot[page.generation & 1].error_ns, before, after, got;
	struct vclock_timespec ts;

	before = oracle_read(oracle_vdso_gettime, clk);
	if (vclock_gettime64(clk, &ts) != 0)
		abort();
	after = oracle_read(oracle_vdso_gettime, clk);
	got = ts.tv_sec * INT64_C(1000000000) + ts.tv_nsec;
	error += TOLERANCE_NS;
	error += (int64_t)(drift *
			   (double)(oracle_read(oracle_vdso_gettime, VCLOCK_MONOTONIC) - begin_ns));
	if (got >= before - error && got <= after + error)
		return;
	fprintf(stderr, "fuzz_open: clock %d: %lld, between %lld and %lld\n", clk, (long long)got,
		(long long)before, (long long)after);
	abort();
}

/* A page of now. It is right for some 20 ms: made anew when a third of that has passed. */
static int good_page(int64_t now_ns)
{
	static struct vclock_page good;
	static int64_t made_ns;

	if (now_ns - made_ns > 6000000) {
		if (support_make_page(&good, 0) != 0)
			return -1; /* too busy a machine */
		made_ns = now_ns;
	}
	page = good;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int64_t begin_ns;
	double good;
	size_t i;

	if (size == 0)
		return 0;
	if ((data[0] & 1) != 0) {
		(void)open_bytes(data + 1, size - 1);
		return 0;
	}
	begin_ns = oracle_read(oracle_vdso_gettime, VCLOCK_MONOTONIC);
	if (good_page(begin_ns) != 0)
		return 0;
	good = (double)page.slot[page.generation & 1].line[1].mult[0] /
	       (double)(UINT64_C(1) << page.shift);
	change(data + 1, size - 1);
	if (open_bytes(&page, sizeof(page)) != 0)
		return 0;
	for (i = 0; i < sizeof(clocks) / sizeof(clocks[0]); i++)
		hold(clocks[i], begin_ns, worst_drift(good));
	return 0;
}
