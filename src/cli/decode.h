/* SPDX-License-Identifier: MIT */
/*
 * decode.h - finds the indirect branches in an image's code, with capstone.
 */
#ifndef DECODE_H
#define DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "vclock/elf.h"

#define DECODE_BRANCHES_MAX 64

struct decode {
	const char *refusal; /* why nothing was decoded; NULL: it was */
	size_t instructions;
	size_t unknown;	       /* places at which the decoder knew no instruction */
	size_t branches_count; /* of indirect calls and jumps; beyond the maximum they are counted
				  only */
	uint64_t branches[DECODE_BRANCHES_MAX]; /* their image addresses, ascending */
};

/*
 * Follows the code from each exported function through direct calls and jumps. Returns are no
 * indirect branches. Code that only an indirect branch reaches is not seen.
 */
void decode_image(const struct vclock_elf *elf, struct decode *ret_decode);

#endif /* DECODE_H */
