/* SPDX-License-Identifier: MIT */
/*
 * process_page.h - what lies in front of an image in memory, and who fills it.
 *
 *     unit 0   time page       shared with its publisher, read-only
 *     unit 1   process page    this process's own: filled by whoever maps it, then read-only
 *     unit 2   state page      private anonymous memory, read-write, MADV_WIPEONFORK
 *     unit 3   the image       its file from offset 0, read-execute
 *
 * The image reaches the three by their fixed distance, so it needs neither relocation nor data.
 * Process and state page are two: the kernel wipes whole pages in a fork, and the addresses must
 * outlive it. Everything is fixed-width, so that a 64-bit launcher fills it for a 32-bit program.
 * Nothing in this file is executable.
 */
#ifndef PROCESS_PAGE_H
#define PROCESS_PAGE_H

/* The linker script reads the numbers, image.c the rest too. */
#ifndef __ASSEMBLER__
#include "vclock/page.h"
#endif

/* A unit is the largest page size that an architecture's kernel may have: a mapping starts there.
 */
#define PROCESS_UNIT_X86 4096
#define PROCESS_UNIT_AARCH64 65536
#define PROCESS_UNIT_RISCV64 4096

#define PROCESS_UNITS 3 /* in front of the image */

#define PROCESS_MAGIC 0x504c4356u /* "VCLP" in little-endian byte order */
#define PROCESS_VERSION 1u

/* Slots of the kernel's functions. */
#define PROCESS_CLOCK_GETTIME 0	  /* with 64-bit time; i386: __vdso_clock_gettime64 */
#define PROCESS_CLOCK_GETTIME32 1 /* i386: __vdso_clock_gettime */
#define PROCESS_GETTIMEOFDAY 2
#define PROCESS_TIME 3
#define PROCESS_CLOCK_GETRES 4
#define PROCESS_GETCPU 5
#define PROCESS_GETRANDOM 6
#define PROCESS_VSYSCALL 7     /* i386: __kernel_vsyscall */
#define PROCESS_SIGRETURN 8    /* i386: __kernel_sigreturn */
#define PROCESS_RT_SIGRETURN 9 /* i386: __kernel_rt_sigreturn */
#define PROCESS_FUNCTIONS 16

/* The kernel has the ALARM clocks (it has them where there is an RTC device to wake up by). */
#define PROCESS_HAS_ALARM 1u

#ifndef __ASSEMBLER__

struct process_page {
	uint32_t magic; /* for people who look at a core file; the image does not check it */
	uint16_t version;
	uint16_t size; /* sizeof(struct process_page) */
	uint32_t flags;
	uint32_t reserved0;
	uint64_t function[PROCESS_FUNCTIONS]; /* the kernel's; 0: it has none, make the system call
					       */
};

/*
 * Whether this process's clocks are the page's. Written by the image, in the first call of each
 * process; a fork wipes it. Threads may write it at once: they all write the same.
 */
enum process_compared {
	PROCESS_NOT_COMPARED = 0,
	PROCESS_AGREES = 1,
	PROCESS_DIFFERS = 2, /* another time namespace, or a page that is wrong */
};

struct process_state {
	uint32_t compared; /* enum process_compared */
};

VCLOCK_STATIC_ASSERT(offsetof(struct process_page, function) == 16);
VCLOCK_STATIC_ASSERT(sizeof(struct process_page) == 16 + 8 * PROCESS_FUNCTIONS);

#endif /* __ASSEMBLER__ */

#endif /* PROCESS_PAGE_H */
