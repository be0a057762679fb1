/* SPDX-License-Identifier: MIT */
/*
 * skew.h - whether the counters of all CPUs show the same.
 *
 * Moves the calling thread from CPU to CPU, for some 100 us each, and back. Each CPU's counter is
 * read between two reads of the kernel's clock, and held against a line.
 */
#ifndef SKEW_H
#define SKEW_H

#include <stdint.h>

#include "keeper/keeper.h"

/*
 * The largest distance, in ns, by which some CPU's counter is certainly off the line: 0 on a sound
 * machine, whatever the load. CPUs that this thread may not run on are left out. Returns 0, or
 * -errno when the thread's CPUs cannot be read or set.
 */
int skew_measure(const struct keeper_line *line, uint64_t *ret_skew_ns);

#endif /* SKEW_H */
