/* SPDX-License-Identifier: MIT */
/*
 * probe.h - which clocks this kernel's vDSO answers without entering the kernel.
 */
#ifndef PROBE_H
#define PROBE_H

#include <stdbool.h>

#include "cli/clocks.h"
#include "vclock/elf.h"

struct probe {
	const char *how;	   /* "seccomp", "cost", or "no vDSO" */
	bool answers[CLOCK_NAMES]; /* in the order of clock_names */
};

/*
 * Asks in a child under a seccomp filter that refuses the clock system calls: what is answered all
 * the same needed none. Where no filter can be set, the costs are compared, which takes some 20 ms.
 * Not for processes whose threads hold locks that a fork would leave held: call it early.
 */
void probe_kernel(const struct vclock_vdso *vdso, struct probe *ret_probe);

/* The second way alone; a test holds it against the first. */
void probe_by_cost(const struct vclock_vdso *vdso, struct probe *ret_probe);

/* Whether the clock with this id is among those answered. */
bool probe_answers(const struct probe *probe, int32_t id);

#endif /* PROBE_H */
