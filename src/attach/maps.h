/* SPDX-License-Identifier: MIT */
/*
 * maps.h - lines of /proc/PID/maps. Pure text: opens nothing, keeps nothing.
 *
 * A process names its own mappings, so the text is hostile. Only a mapping whose whole name is
 * "[vdso]", and which no file backs, is the kernel's; objects are told apart by that, never by
 * lying next to each other.
 */
#ifndef MAPS_H
#define MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct maps_line {
	uint64_t start, end; /* start < end */
	uint64_t offset, inode;
	uint32_t major, minor;
	bool is_readable, is_writable, is_executable, is_shared;
	const char *name; /* in the text, not terminated; empty: none */
	size_t name_length;
};

/* One line of length bytes, with or without its newline. 0, or -EINVAL: *ret_line is untouched. */
int maps_parse(const char *text, size_t length, struct maps_line *ret_line);

/* Whether the mapping is the kernel's own image. */
bool maps_is_vdso(const struct maps_line *line);

#endif /* MAPS_H */
