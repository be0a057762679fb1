/* SPDX-License-Identifier: MIT */
/*
 * page_judge.h - everything that is looked at before a page in a file is believed.
 *
 * The file is hostile until its owner, its fields, its boot, its time namespace and its clocks have
 * been checked. Never waits: the file may be what a dead writer left behind.
 */
#ifndef PAGE_JUDGE_H
#define PAGE_JUDGE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "vclock/page.h"

/* The kernel's clock; 0, or it does not answer. */
typedef int (*page_judge_clock)(int32_t clk, struct vclock_timespec *ret_ts);

/* -errno, or 0: only root and this user may have written it, and it has the size of a page. */
int page_judge_file(int fd, struct stat *ret_st);

/*
 * fd: of a file that page_judge_file() allows. clks: those that are held against the kernel's
 * clock. has_counter: this process may read it. 0; *ret_verified: it agreed with the kernel's
 * clocks; false where its writer is late just now, and whoever uses it has to compare. Else -errno,
 * as vclock_open().
 */
int page_judge(int fd, bool has_counter, uint32_t clks, page_judge_clock clock, bool *ret_verified);

/* Beside the page's stated error, when a page is opened: a steady clock may stand still for its
 * clamp, some 40 us. */
#define PAGE_JUDGE_TOLERANCE_NS 100000

/* 0 where page agrees with the clocks of clks now, -EAGAIN where it does not cover, -EDOM. */
int page_judge_clocks(const struct vclock_page *page, uint32_t clks, uint32_t tolerance_ns,
		      page_judge_clock clock);

#endif /* PAGE_JUDGE_H */
