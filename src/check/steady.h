/* SPDX-License-Identifier: MIT */
/*
 * steady.h - whether a stretch of time was steady, for the suites.
 */
#ifndef STEADY_H
#define STEADY_H

#include "check/check.h"

/*
 * Whether the kernel's rate has not been seen to change since a second before begin_ns (MONOTONIC).
 * Call check_steady_look() at begin_ns and just before.
 */
bool steady_rate(const struct check_steady *steady, uint64_t begin_ns);

/* Whether REALTIME - MONOTONIC is the same as at begin_ns. */
bool steady_wall(const struct check_steady *steady, uint64_t begin_ns);

#endif /* STEADY_H */
