/* SPDX-License-Identifier: MIT */
/*
 * machine.h - which boot, time namespace and tick a page belongs to.
 */
#ifndef MACHINE_H
#define MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "vclock/publish.h"

/* What a page must have been written on and for; either is zero where /proc does not tell. */
struct machine_identity {
	uint8_t boot_id[16];
	uint64_t timens_ino;
};

void machine_identify(struct machine_identity *ret_identity);

/* Whether id says of which boot it is: a file outlives a boot, so a page in one must. */
bool machine_is_known_boot(const uint8_t id[16]);

/* boot_id, timens_ino, writer_pid and coarse_ns of a page that this process writes. */
void machine_describe(struct vclock_page_config *config);

#endif /* MACHINE_H */
