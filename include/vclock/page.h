/* SPDX-License-Identifier: MIT */
/*
 * page.h - the layout of the time page: what a writer stores and a reader loads.
 *
 * One layout for 64- and 32-bit readers: fixed-width fields at asserted offsets, host byte order.
 * docs/page-format.md is normative and tests/page_layout holds both together. Nothing in this file
 * is executable.
 *
 * How the page is written: `generation` names the live slot (generation & 1). The writer fills the
 * other slot and then stores generation + 1 with release order, so that at every instant one slot
 * is whole and nobody waits for a writer. A reader that saw the same generation before and after
 * its loads has loaded a whole slot.
 */
#ifndef VCLOCK_PAGE_H
#define VCLOCK_PAGE_H

#include "compiler.h"

VCLOCK_BEGIN_DECLS

#define VCLOCK_PAGE_SIZE 4096u
#define VCLOCK_PAGE_MAGIC 0x4b4c4356u /* "VCLK" in little-endian byte order */
#define VCLOCK_PAGE_VERSION 1u

/* Bounds that make the reader's arithmetic safe; vclock_page_check() holds a page to them. */
#define VCLOCK_SHIFT_MAX 33u
#define VCLOCK_LINE_CYC_MAX 0x80000000u /* 2^31: delta * mult stays below 2^63 */
#define VCLOCK_NSEC_PER_SEC 1000000000u

/*
 * The kernel's clock ids, here because <time.h> is not included; same numbers. A page has a base
 * for each id in VCLOCK_PAGE_CLOCKS and for no other.
 */
#define VCLOCK_REALTIME 0u
#define VCLOCK_MONOTONIC 1u
#define VCLOCK_MONOTONIC_RAW 4u
#define VCLOCK_REALTIME_COARSE 5u
#define VCLOCK_MONOTONIC_COARSE 6u
#define VCLOCK_BOOTTIME 7u
#define VCLOCK_REALTIME_ALARM 8u
#define VCLOCK_BOOTTIME_ALARM 9u
#define VCLOCK_TAI 11u
#define VCLOCK_BASES 12u

#define VCLOCK_BIT(clk) (1u << (clk))
#define VCLOCK_PAGE_CLOCKS                                                       \
	(VCLOCK_BIT(VCLOCK_REALTIME) | VCLOCK_BIT(VCLOCK_MONOTONIC) |            \
	 VCLOCK_BIT(VCLOCK_MONOTONIC_RAW) | VCLOCK_BIT(VCLOCK_BOOTTIME) |        \
	 VCLOCK_BIT(VCLOCK_REALTIME_ALARM) | VCLOCK_BIT(VCLOCK_BOOTTIME_ALARM) | \
	 VCLOCK_BIT(VCLOCK_TAI))
/* Clocks that never step back: past the last end they stand still for clamp_cyc. */
#define VCLOCK_STEADY_CLOCKS                                               \
	(VCLOCK_BIT(VCLOCK_MONOTONIC) | VCLOCK_BIT(VCLOCK_MONOTONIC_RAW) | \
	 VCLOCK_BIT(VCLOCK_BOOTTIME) | VCLOCK_BIT(VCLOCK_BOOTTIME_ALARM))

enum vclock_counter_kind {
	VCLOCK_COUNTER_NONE = 0,
	VCLOCK_COUNTER_TSC = 1,	   /* x86: lfence; rdtsc */
	VCLOCK_COUNTER_CNTVCT = 2, /* aarch64: CNTVCT_EL0 */
	VCLOCK_COUNTER_RISCV = 3,  /* riscv64: the time CSR */
	VCLOCK_COUNTER_CALLER =
		4, /* a counter of the publisher's own: no reader of this CPU's matches */
};

/* Why a page ended; 0 while it is kept. Written once, before the generation that ends the page. */
enum vclock_retired {
	VCLOCK_RETIRED_NOT = 0,
	VCLOCK_RETIRED_STOPPED = 1,	/* the publisher was asked to stop */
	VCLOCK_RETIRED_CLOCKSOURCE = 2, /* the kernel chose, or no longer lists, a clocksource */
	VCLOCK_RETIRED_RATE = 3,	/* rate outside +-110,000 ppm of nominal */
	VCLOCK_RETIRED_BACKWARD = 4,	/* the counter was seen to go back, or jumped */
	VCLOCK_RETIRED_SKEW = 5,	/* the counters of two CPUs disagree */
	VCLOCK_RETIRED_REFERENCE = 6,	/* the kernel's clocks could not be read */
	VCLOCK_RETIRED_REPLACED = 7,	/* another page has taken this one's place */
	VCLOCK_RETIRED_EXPOSED = 8,	/* its file's owner or mode let others write it */
};

/* flags of the page */
#define VCLOCK_PAGE_TRUST_OVERRIDDEN \
	1u /* the kernel does not trust the counter; the publisher was told to */

struct vclock_timespec {
	int64_t tv_sec;
	int64_t tv_nsec; /* 0 .. 999999999 */
} __attribute__((__may_alias__));

struct vclock_timeval {
	int64_t tv_sec;
	int64_t tv_usec; /* 0 .. 999999 */
} __attribute__((__may_alias__));

/*
 * A clock's value where a line starts: sec + fns / 2^shift nanoseconds.
 * fns is fractional ns, shifted: below 10^9 << shift, hence below 2^63.
 */
struct vclock_base {
	int64_t sec;
	uint64_t fns;
};

/*
 * Counter -> time on [start_cyc, start_cyc + length_cyc):
 *     clock(cyc) = base[clk] + (cyc - start_cyc) * mult / 2^shift
 * Written while its slot is not live; from then on its start, end, rate and the bases of the steady
 * clocks never change. Only REALTIME(_ALARM), TAI and, at resume, BOOTTIME(_ALARM) get new bases,
 * in the other slot. Overflow: (2^31 - 1) * (2^32 - 1) + 10^9 * 2^33 < 2^64.
 */
struct vclock_line {
	uint64_t start_cyc;
	uint32_t length_cyc; /* <= 2^31; 0: covers nothing */
	uint32_t mult[2];    /* [0] all clocks but [1] MONOTONIC_RAW; ns per cycle << shift */
	uint32_t reserved0;
	struct vclock_base
		base[VCLOCK_BASES]; /* by clock id; ids outside VCLOCK_PAGE_CLOCKS are 0 */
	uint64_t reserved1[5];
};

/* A slot: two lines, of which the second starts with the same values where the first ends. */
struct vclock_slot {
	struct vclock_line line[2];
	uint32_t clamp_cyc;	/* how long past the end the steady clocks stand still */
	uint32_t error_ns;	/* how far a value may be from the kernel's clock */
	uint32_t history_count; /* lines that have gone into history since vclock_page_init, or
				   since the counter began anew */
	uint32_t retired;	/* enum vclock_retired */
	int32_t tz_minuteswest; /* struct timezone of gettimeofday */
	int32_t tz_dsttime;
	int32_t tai_offset_sec;	    /* TAI - REALTIME */
	uint32_t clock_was_set_seq; /* as the timekeeper stated it */
	uint64_t published_cyc;	    /* the counter at the writer's last look */
	uint64_t lateness_ns;	    /* worst lateness of the publisher's steps in the last second */
	uint64_t reserved[2];
};

/* A line ends up in history[n % VCLOCK_HISTORY], n counting up from 0. The entry that the next
 * update may overwrite, history_count % VCLOCK_HISTORY, is never read. */
#define VCLOCK_HISTORY 11u

struct vclock_page {
	/* Written by vclock_page_init() before the page is shown to anybody. */
	uint32_t magic;
	uint16_t version;
	uint16_t size; /* VCLOCK_PAGE_SIZE */
	/* The one word that is stored while readers look: 0 never published, then counts up past 0.
	 */
	uint32_t generation;
	/* Constant again, but that a writer that takes a page over states its own flags, pid,
	 * interval, ahead and resolution. */
	uint32_t shift;	       /* of every mult and fns on the page, <= VCLOCK_SHIFT_MAX */
	uint32_t counter_kind; /* enum vclock_counter_kind */
	uint32_t flags;	       /* VCLOCK_PAGE_* */
	uint64_t counter_hz;   /* nominal, measured at start; for people, not for arithmetic */
	uint8_t boot_id[16];   /* of /proc/sys/kernel/random/boot_id; zero: unknown */
	uint64_t timens_ino;   /* inode of the writer's /proc/self/ns/time; 0: unknown */
	uint32_t writer_pid;   /* in the writer's PID namespace; 0: unknown */
	uint32_t interval_ns;  /* planned time between two updates, = the length of a line */
	uint32_t ahead_ns;     /* a line is published this long before its start */
	uint32_t coarse_ns;    /* resolution of the COARSE clocks: 1e9 / HZ */
	uint64_t reserved[7];

	struct vclock_slot slot[2];
	struct vclock_line history[VCLOCK_HISTORY];
};

VCLOCK_STATIC_ASSERT(sizeof(struct vclock_base) == 16);
VCLOCK_STATIC_ASSERT(sizeof(struct vclock_line) == 256);
VCLOCK_STATIC_ASSERT(offsetof(struct vclock_line, mult) == 12);
VCLOCK_STATIC_ASSERT(offsetof(struct vclock_line, base) == 24);
VCLOCK_STATIC_ASSERT(sizeof(struct vclock_slot) == 576);
VCLOCK_STATIC_ASSERT(offsetof(struct vclock_slot, clamp_cyc) == 512);
VCLOCK_STATIC_ASSERT(offsetof(struct vclock_slot, published_cyc) == 544);
VCLOCK_STATIC_ASSERT(offsetof(struct vclock_page, generation) == 8);
VCLOCK_STATIC_ASSERT(offsetof(struct vclock_page, counter_hz) == 24);
VCLOCK_STATIC_ASSERT(offsetof(struct vclock_page, timens_ino) == 48);
VCLOCK_STATIC_ASSERT(offsetof(struct vclock_page, slot) == 128);
VCLOCK_STATIC_ASSERT(offsetof(struct vclock_page, history) == 1280);
VCLOCK_STATIC_ASSERT(sizeof(struct vclock_page) == VCLOCK_PAGE_SIZE);

VCLOCK_END_DECLS

#endif /* VCLOCK_PAGE_H */
