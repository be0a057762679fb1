/* SPDX-License-Identifier: MIT */
/*
 * image.h - what image.c asks of an architecture: the contract of arch/<name>.h.
 *
 * The build names the file, IMAGE_ARCH_H. It defines
 *   image_page(), image_process(), image_state()   the three units in front of the image, reached
 *                             without a relocation and without a writable register
 *   IMAGE_UNIT                distance between two units
 *   image_forward_NAME()      one for each function of the kernel's: a jump to the address in its
 *                             slot of the process page, with stack and arguments as they came; the
 *                             system call where the slot is 0. The only indirect branches there are
 *   image_syscall_clock_getres()   the system call, whatever the slot says
 *   image_jump_clock_gettime()     only the jump: for who has looked at the slot
 *   IMAGE_HAS_TIME            there is a time(), whose entry jumps through its slot, or to
 *                             image_time() where that is 0
 *   IMAGE_HAS_32              there is a second clock_gettime, with 32-bit time
 *   IMAGE_LONG                the word of struct timespec, timeval and time_t in the kernel's ABI
 *   IMAGE_NAME_FUNCTION       the name of that entry, as the kernel has it
 *   IMAGE_NAME_OWN(clock)     the name of the entry of one clock
 *   IMAGE_INTERNAL            calling convention of functions that an entry with fewer arguments
 *                             than they have jumps to
 */
#ifndef IMAGE_H
#define IMAGE_H

#include "image/process_page.h"

#define IMAGE_HIDDEN __attribute__((visibility("hidden")))
#define IMAGE_EXPORT __attribute__((visibility("default"), used))
#define IMAGE_NOINLINE __attribute__((noinline))
/*
 * A function that an entry jumps to with the same arguments. Not static: compilers give a static
 * function other argument registers, and the jump becomes a call.
 */
#define IMAGE_STEP IMAGE_HIDDEN IMAGE_NOINLINE
/*
 * A return through such a function. clang has to be told: where returns through several of them
 * share their end, it makes calls of the jumps, and frames lie on one another.
 */
#if defined(__clang__)
#define IMAGE_LEAVE __attribute__((musttail)) return
#else
#define IMAGE_LEAVE return
#endif

#define IMAGE_TEXT_(text) #text
#define IMAGE_TEXT(text) IMAGE_TEXT_(text)

#include IMAGE_ARCH_H

/* As the kernel's ABI has them; a caller's pointer may have any alignment. */
struct image_timespec {
	IMAGE_LONG tv_sec;
	IMAGE_LONG tv_nsec;
} __attribute__((may_alias));

struct image_timeval {
	IMAGE_LONG tv_sec;
	IMAGE_LONG tv_usec;
} __attribute__((may_alias));

struct image_timezone {
	int32_t tz_minuteswest;
	int32_t tz_dsttime;
} __attribute__((may_alias));

#endif /* IMAGE_H */
