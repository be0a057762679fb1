/* SPDX-License-Identifier: MIT */
/*
 * proc_maps.h - /proc/PID/maps: where the kernel's vDSO and its data lie, and a page of ours.
 */
#ifndef PROC_MAPS_H
#define PROC_MAPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct proc_maps {
	uint64_t vdso_start, vdso_end; /* 0, 0: none */
	uint32_t data_maps;	       /* the vDSO's data: [vvar] and its kin, however many */
	uint64_t data_bytes;
	uint32_t page_maps;  /* mappings of a page of vclock */
	char page_name[108]; /* of the first of them */
};

/*
 * Reads lines until the end; those that are no mapping are passed over. page_path: the machine's
 * page, beside which the private pages of publishers are known by their name. A file that is called
 * "[vdso]" is not the kernel's: that one has no inode.
 */
void proc_maps_read(FILE *maps, const char *page_path, struct proc_maps *ret_maps);

#endif /* PROC_MAPS_H */
