/* SPDX-License-Identifier: MIT */
/*
 * follow.h - what a launcher tells the code that it adds to a copy of the dynamic loader.
 *
 * The copy differs from the loader in three things: a segment behind its last one, which holds this
 * code and then a struct follow; the entry, which is the code's; and no bss, for its zeroes lie in
 * the file. The code maps page and image as a launcher's stub does, edits the auxiliary vector, and
 * jumps to the loader's own entry. Nothing in this file is executable.
 */
#ifndef FOLLOW_H
#define FOLLOW_H

#include "image/process_page.h"

#define FOLLOW_MAGIC 0x464c4356u /* "VCLF" in little-endian byte order */
#define FOLLOW_PATH_MAX 512
#define FOLLOW_HEAD 64 /* bytes */
#define FOLLOW_ALIGN 64
#define FOLLOW_MARK 0x434c4356u /* "VCLC": how the code's file ends, see struct follow_mark */
#define FOLLOW_VERSION 1	/* of struct follow */
#define FOLLOW_MARK_SIZE 16

#ifndef __ASSEMBLER__

struct follow {
	uint32_t magic;
	uint32_t image_size;
	/* The launcher ran under a seccomp filter, and it allows what has to be done. */
	uint32_t is_filtered;
	uint32_t reserved;
	uint64_t segment; /* where the loader's file has the code, as an address */
	uint64_t entry;	  /* the loader's own */
	/* How the kernel's vDSO goes on behind its ELF header, which a launcher may have changed. A
	 * program that has another one is left alone. */
	unsigned char vdso_head[FOLLOW_HEAD];
	/* As mapped, but functions are counted from the start of the kernel's vDSO. */
	struct process_page process;
	char page[FOLLOW_PATH_MAX];
	char image[FOLLOW_PATH_MAX];
};

/* The last bytes of the code's file: with less, or more, it is none. */
struct follow_mark {
	uint32_t mark;
	uint32_t version;
	uint32_t machine; /* e_machine */
	uint32_t reserved;
};

#endif /* __ASSEMBLER__ */

#endif /* FOLLOW_H */
