/* SPDX-License-Identifier: MIT */
/*
 * support_image.h - maps this architecture's image in the test's own process, as a launcher does in
 * a program's: page, process page, state page and image.
 */
#ifndef SUPPORT_IMAGE_H
#define SUPPORT_IMAGE_H

#include <stdint.h>

#include "check/check.h"
#include "image/process_page.h"
#include "vclock/elf.h"

struct image_map {
	const unsigned char *image; /* where its file's offset 0 is */
	size_t size;		    /* of the file */
	uint32_t unit;
	const struct vclock_page *page;
	struct process_page *process; /* writable: tests change it */
	struct process_state *state;
	struct vclock_elf elf;
	/* The entries: 64-bit time in 64-bit words, whatever the architecture. */
	int (*gettime)(int32_t clk, struct vclock_timespec *ret_ts);
	int (*gettime_one[VCLOCK_BASES])(struct vclock_timespec *ret_ts); /* some are NULL */
	/* As the kernel's ABI has them, in longs. */
	int (*gettimeofday)(long *ret_tv, int32_t *ret_tz);
	long (*time)(long *ret_time); /* NULL: this architecture's image has none */
	int (*getres)(int32_t clk, long *ret_res);
	int (*getcpu)(unsigned *ret_cpu, unsigned *ret_node, void *unused); /* likewise */
};

/* The image's file name, next to this build. Never NULL; in a static buffer. */
const char *image_path(void);

/*
 * A page in a file of its own, kept by a thread, also where the kernel does not trust the counter.
 * Returns the descriptor when the first lines are there. Ends the test where that fails.
 */
int image_start_page(void);
/* The same for machines whose MONOTONIC and BOOTTIME are offset_ns ahead of this one's. */
int image_start_page_apart(int64_t offset_ns);
/* Ends the page, with the publisher's own last words for reason, or without any (NOT). */
void image_stop_page(enum vclock_retired reason);

/*
 * Maps everything. page_fd: the page; -1: a page of zeroes. with_vdso: the kernel's functions are
 * in the process page, else it is empty. Ends the test where that fails.
 */
void image_map(struct image_map *ret_map, int page_fd, int with_vdso);
void image_unmap(struct image_map *map);

/* An export's address; NULL: not there. By name, or as the kernel's function of that slot. */
const void *image_entry(const struct image_map *map, const char *name);
const void *image_function(const struct image_map *map, unsigned slot);

/*
 * Puts functions that count in front of the kernel's, so that every call that the image does not
 * answer itself is seen. One map at a time. With an empty process page they make the system call.
 */
void image_count_fallbacks(struct image_map *map);
extern uint64_t image_fallbacks; /* since then, in this process */

/* The image as a subject of the suites. The map must stay, and count its fallbacks. */
void image_subject(struct check_subject *ret_subject, const struct image_map *map);

#endif /* SUPPORT_IMAGE_H */
