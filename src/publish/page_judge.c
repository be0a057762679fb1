/* SPDX-License-Identifier: MIT */
/* page_judge.c - see page_judge.h. */
#include "publish/page_judge.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "publish/machine.h"
#include "publish/page_check.h"
#include "vclock/counter.h"
#include "vclock/read.h"

int page_judge_file(int fd, struct stat *ret_st)
{
	if (fstat(fd, ret_st) != 0)
		return -errno;
	if (!S_ISREG(ret_st->st_mode))
		return -EINVAL;
	if ((ret_st->st_uid != 0 && ret_st->st_uid != geteuid() && ret_st->st_uid != getuid()) ||
	    (ret_st->st_mode & (S_IWGRP | S_IWOTH)) != 0)
		return -EPERM;
	return ret_st->st_size < (off_t)VCLOCK_PAGE_SIZE ? -EINVAL : 0;
}

static int check_identity(const struct vclock_page *page, bool has_counter)
{
	struct machine_identity here;

	machine_identify(&here);
	/* A file outlives a boot: one that does not say of which it is, is of another. */
	if (!machine_is_known_boot(here.boot_id) ||
	    memcmp(here.boot_id, page->boot_id, sizeof(here.boot_id)) != 0)
		return -ESTALE;
	if (page->timens_ino != 0 && here.timens_ino != 0 && page->timens_ino != here.timens_ino)
		return -EXDEV;
	return page->counter_kind != VCLOCK_COUNTER_KIND || !has_counter ? -EREMOTE : 0;
}

/*
 * A line that ended a moment ago has a writer that is late; one that ended a second ago has none.
 * Returns 0, or -ETIME.
 */
static int check_age(const struct vclock_page *page)
{
	const struct vclock_slot *slot = &page->slot[page->generation & 1];
	const struct vclock_line *last = &slot->line[slot->line[1].length_cyc != 0];
	uint64_t age = vclock_counter_ordered() - last->start_cyc;

	if (slot->retired != VCLOCK_RETIRED_NOT || last->length_cyc == 0)
		return -ETIME;
	/* A line that has not begun yet gives a huge unsigned age. */
	if ((int64_t)age >= 0 && age > page->counter_hz + last->length_cyc)
		return -ETIME;
	return 0;
}

static int judge_mapped(const struct vclock_page *shared, bool has_counter, uint32_t clks,
			page_judge_clock clock, bool *ret_verified)
{
	struct vclock_page page;
	int r;

	r = page_copy(shared, &page);
	if (r == 0)
		r = page_check(&page);
	if (r == 0)
		r = check_identity(&page, has_counter);
	if (r == 0 && page.generation == 0)
		r = -ENODATA;
	if (r == 0)
		r = check_age(&page);
	if (r != 0)
		return r;
	r = page_judge_clocks(shared, clks, PAGE_JUDGE_TOLERANCE_NS, clock);
	*ret_verified = r == 0;
	return r == -EAGAIN ? 0 : r;
}

int page_judge(int fd, bool has_counter, uint32_t clks, page_judge_clock clock, bool *ret_verified)
{
	void *shared = mmap(NULL, VCLOCK_PAGE_SIZE, PROT_READ, MAP_SHARED, fd, 0);
	int r;

	if (shared == MAP_FAILED)
		return -errno;
	r = judge_mapped(shared, has_counter, clks, clock, ret_verified);
	munmap(shared, VCLOCK_PAGE_SIZE);
	return r;
}

static bool kernel_ns(page_judge_clock clock, uint32_t clk, uint64_t *ret_ns)
{
	struct vclock_timespec ts;

	if (clock((int32_t)clk, &ts) != 0)
		return false;
	*ret_ns = (uint64_t)ts.tv_sec * VCLOCK_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
	return true;
}

/* A thread that lost the CPU between two looks at the kernel's clock learns nothing from what lies
 * between them. Far more than system calls take, also where they are traced. */
#define BRACKET_NS_MAX 500000
#define BRACKETS 6

/* 0; -EDOM when the page differs; -EAGAIN when it does not cover this moment, or nothing was shown.
 */
static int compare_clock(const struct vclock_page *page, uint32_t clk, uint64_t tolerance_ns,
			 page_judge_clock clock)
{
	uint64_t before, ns, after;
	int i, differs = 0;

	for (i = 0; i < BRACKETS; i++) {
		if (!kernel_ns(clock, clk, &before))
			return -EDOM;
		if (vclock_read_ns(page, clk, &ns) != 0)
			return -EAGAIN;
		if (!kernel_ns(clock, clk, &after))
			return -EDOM;
		if (ns + tolerance_ns < before || ns > after + tolerance_ns) {
			/* More than once: REALTIME may be stepped in the middle. */
			if (++differs == 3)
				return -EDOM;
		} else if (after - before <= BRACKET_NS_MAX) {
			return 0;
		}
	}
	return -EAGAIN;
}

int page_judge_clocks(const struct vclock_page *page, uint32_t clks, uint32_t tolerance_ns,
		      page_judge_clock clock)
{
	const struct vclock_slot *slot = &page->slot[VCLOCK_LOAD32(&page->generation) & 1];
	uint32_t clk;
	int r;

	for (clk = 0; clk < VCLOCK_BASES; clk++) {
		if ((clks & VCLOCK_BIT(clk)) == 0)
			continue;
		r = compare_clock(page, clk,
				  (uint64_t)VCLOCK_LOAD32(&slot->error_ns) + tolerance_ns, clock);
		if (r != 0)
			return r;
	}
	return 0;
}
