/* SPDX-License-Identifier: MIT */
/*
 * image_check.h - whether a file is a vDSO image as vclock's must be.
 *
 * The link rule deletes an image that is not; `vclock vdso --check` shows the same on any file. The
 * file is hostile input: nothing is believed, every walk ends.
 */
#ifndef IMAGE_CHECK_H
#define IMAGE_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "vclock/elf.h"

/* What an image must be. Each is a rule of its own, with at least one finding when it is broken. */
enum image_rule {
	IMAGE_RULE_ELF,	     /* an ELF file of a machine that vclock knows, and readable at all */
	IMAGE_RULE_SEGMENTS, /* one PT_LOAD: read-execute, at 0, with the whole file in it */
	IMAGE_RULE_HEADERS,  /* no RELRO, INTERP, TLS; no writable one; dynamic, note, eh_frame */
	IMAGE_RULE_RELOCATIONS, /* none, and no tag that would have a loader do something */
	IMAGE_RULE_DATA,	/* nothing writable, nothing that is not in the file, no GOT */
	IMAGE_RULE_HASHES,	/* both hash tables, and every export is found through either */
	IMAGE_RULE_VERSIONS,	/* version definitions, the base one named like the soname */
	IMAGE_RULE_EXPORTS,	/* the kernel's names and vclock's, and no other */
	IMAGE_RULE_BRANCHES,	/* no indirect branch but a jump through the process page */
	IMAGE_RULE_UNWIND,	/* .eh_frame covers every function, and its table finds it */
	IMAGE_RULES
};

/* One word for each; never NULL. */
const char *image_rule_name(enum image_rule rule);

/*
 * The addresses of the indirect branches, calls and jumps but no returns, in size bytes of code of
 * a machine (e_machine) that stand at address. Fills up to max of them and returns how many there
 * are, or a negative number where the code cannot be decoded. For machines whose instructions have
 * no fixed grid.
 */
typedef int image_branches(uint16_t machine, const unsigned char *code, size_t size,
			   uint64_t address, uint64_t *ret_addresses, int max);

struct image_check {
	image_branches *branches; /* NULL: the rule is not checked on machines that need it */
	/* Called once for each finding, with plain words, printable whatever the file holds. */
	void (*report)(void *arg, enum image_rule rule, const char *words);
	void *arg;
	/* Results. */
	unsigned findings;
	unsigned broken;      /* bits, 1 << enum image_rule */
	unsigned not_checked; /* the same */
	int is_readable; /* 0: no ELF file that says enough to be held against the other rules */
};

/* Checks size bytes of a file. Returns check->findings. */
unsigned image_check(struct image_check *check, const void *file, size_t size);

#endif /* IMAGE_CHECK_H */
