/* SPDX-License-Identifier: MIT */
/*
 * control.h - does to a test machine's clocks what can happen to clocks.
 *
 * Only for machines that exist for the test: needs root, and nothing is put back by itself. All
 * return 0 or -errno.
 */
#ifndef CONTROL_H
#define CONTROL_H

#include <stdint.h>

/* REALTIME now + delta_ns, or at a second of its own. */
int control_step(int64_t delta_ns);
int control_set(int64_t sec);
/* adjtimex: ppm, positive: the clock runs faster; tick_us: 9000 .. 11000, nominal 10000. */
int control_frequency(long ppm);
int control_tick(long tick_us);
int control_frequency_now(long *ret_ppm16); /* in 2^-16 ppm */
int control_set_offset(int64_t delta_ns);   /* a step, as adjtimex makes it */
int control_tai(int tai_offset_sec);
int control_leap(int sign); /* +1: insert, -1: delete at the next UTC midnight; 0: neither */

int control_cpu(int cpu, int online);
int control_clocksource(const char *name);
/* S3 for sec seconds; returns after the wake-up. */
int control_suspend(int sec);

int control_write(const char *path, const char *text);
/* The first line, without its end; ret_text[0] is '\0' where it cannot be read. */
int control_read(const char *path, char *ret_text, unsigned size);

#endif /* CONTROL_H */
