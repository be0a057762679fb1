/* SPDX-License-Identifier: MIT */
/*
 * process.h - what the library knows: of the program, of the kernel, and of this very process.
 *
 * Three kinds of state. lib_program and lib_kernel are written by the constructor, vclock_open and
 * the publisher's start and stop, and are as true in a forked child as in its parent. lib_process
 * lies in memory that the kernel wipes in every fork: a new process finds zeros there, takes the
 * slow path of its first call once, and looks whether the page is right for it. lib_window is where
 * the page is mapped: a place in .bss, so that a reader has its address as a constant.
 */
#ifndef LIB_PROCESS_H
#define LIB_PROCESS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/arch/raw.h"
#include "vclock.h"

/* -fvisibility=hidden is for definitions; code that only sees a declaration must know, too: it
 * then uses the name's place as a constant, and jumps there. */
#pragma GCC visibility push(hidden)

/* Kernels with pages of up to 64 KiB map over it too. */
#define LIB_AREA 65536
#define LIB_SHARDS 16
#define LIB_COLD __attribute__((noinline, cold))

/* Bit of the vdso masks beside the clock ids 0 .. 11: time(). */
#define LIB_TIME_BIT (1u << 31)
#define LIB_COARSE_CLOCKS (VCLOCK_BIT(VCLOCK_REALTIME_COARSE) | VCLOCK_BIT(VCLOCK_MONOTONIC_COARSE))
#define LIB_ALARM_CLOCKS (VCLOCK_BIT(VCLOCK_REALTIME_ALARM) | VCLOCK_BIT(VCLOCK_BOOTTIME_ALARM))
/* What the kernel's vDSO answers, on every kernel since 5.3. */
#define LIB_VDSO_CLOCKS                                                                            \
	(VCLOCK_BIT(VCLOCK_REALTIME) | VCLOCK_BIT(VCLOCK_MONOTONIC) |                              \
	 VCLOCK_BIT(VCLOCK_MONOTONIC_RAW) | VCLOCK_BIT(VCLOCK_BOOTTIME) | VCLOCK_BIT(VCLOCK_TAI) | \
	 LIB_COARSE_CLOCKS)

enum lib_state {
	LIB_NEW = 0,  /* the page was not compared with this process's clocks yet */
	LIB_CHECKING, /* somebody is at it, or is changing the page: nobody waits, the kernel
			 answers */
	LIB_READY
};

/* i386 aligns uint64_t to 4, and atomic ones want 8. */
typedef uint64_t lib_count __attribute__((aligned(8)));

/* One cache line of counters, so that threads that fall back do not slow each other down. */
struct lib_shard {
	lib_count count[VCLOCK_REASONS - 1]; /* by reason - 1 */
} __attribute__((aligned(64)));

/* Zero in a new process. Written by any thread, by single-copy or atomic stores. */
struct lib_process {
	/* What a call looks at first: the clocks that the page answers, and those that go to the
	 * kernel's vDSO at once, uncounted. Everything else takes the slow path. */
	uint32_t page_clocks;
	uint32_t vdso_clocks;
	uint32_t state; /* enum lib_state */
	uint32_t pid;	/* 0: not known */
	uint32_t
		constructed; /* pid of the process that ran the constructor, in that process only */
	uint32_t no_pid; /* 1: it cannot be told whether the memory is shared; do not ask again */
	uint32_t lock;	 /* of vclock_open and the publisher */
	uint32_t owns_publisher;
	uint32_t publisher_pid; /* of the process that started it: others may share the memory */
	uint32_t looked;	/* when the page's file was last looked at again, see reopen.c */
	struct lib_shard shard[LIB_SHARDS];
};

struct lib_program {
	bool is_set_up; /* the constructor has run */
	bool wipes;	/* lib_process is wiped on fork; without it there is no page and no pid */
	bool counter_forbidden;
	bool route_unknown;
	bool is_secure;
	enum vclock_route route_limit;
	bool route_is_page; /* VCLOCK_ROUTE=page: every call without a page is a fallback */
	/* The page in the window. */
	enum vclock_page_source page_source;
	enum vclock_reason no_page_reason; /* why there is none, where page_source says so */
	int page_error;
	char page_path[108];
	/* The file in the window, and how often its path may be looked at again; see reopen.c. */
	uint64_t page_dev, page_ino;
	uint32_t reopen_units; /* 0: never */
	bool reopen_is_off;    /* VCLOCK_REOPEN=0 */
	bool is_compared; /* all clocks of the page in the window were held against the kernel's */
	lib_count early_calls; /* before the constructor */
};

union lib_process_area {
	struct lib_process process;
	unsigned char area[LIB_AREA];
};

union lib_window {
	struct vclock_page page;
	unsigned char area[LIB_AREA];
};

extern union lib_process_area lib_area;
extern union lib_window lib_window_area;
extern struct lib_program lib_program;

#define lib_process (lib_area.process)
#define LIB_PAGE (&lib_window_area.page)

/*
 * The first call of a new process comes here, and every call while the page cannot be compared
 * because it does not answer. Decides which clocks go where. Async-signal-safe.
 */
void process_check(void);

/* The area that a fork wipes. Once, in the constructor. */
void process_set_up(void);

/*
 * Changes what is mapped in the window: begin sends everybody to the kernel, end lets them look at
 * the window again. is_verified: the page was compared with the clocks already. One thread at a
 * time (lib_process.lock).
 */
void process_change_begin(void);
/* As begin, but false, with nothing done, where somebody is comparing the page just now. */
bool process_change_try(void);
void process_change_end(bool is_verified);

/* Maps the page of fd over the window, or zeros with fd -1. 0 or -errno. Between begin and end. */
int process_map(int fd);

/* What vclock_status() shows; cut where it is too long. */
void process_set_path(const char *path);

/* Whether a process is known to share its memory with its parent, as after vfork. Not known: false;
 * see pid.c. */
bool process_shares_memory(void);

void process_lock(void);
bool process_try_lock(void);
void process_unlock(void);

/* Counts a fallback. */
void process_count(enum vclock_reason reason);

/* Why the page did not answer clk just now, or would not. */
enum vclock_reason process_reason(uint32_t clk);

#pragma GCC visibility pop

#endif /* LIB_PROCESS_H */
