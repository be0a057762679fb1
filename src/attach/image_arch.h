/* SPDX-License-Identifier: MIT */
/*
 * image_arch.h - what a launcher knows of each architecture's image: its file's name, the distance
 * of the units in front of it, which functions of the kernel's it is told of; and the dynamic
 * loaders of its programs.
 */
#ifndef ATTACH_IMAGE_ARCH_H
#define ATTACH_IMAGE_ARCH_H

#include <stdbool.h>

#include "image/process_page.h"
#include "vclock/elf.h"

/* Not every machine has all of them. */
#define IMAGE_LOADERS 2

struct image_arch {
	uint16_t machine; /* e_machine */
	uint8_t is_64;
	const char *name;		   /* vdso-NAME.so */
	const char *loader[IMAGE_LOADERS]; /* that a program may name; NULL: none is followed */
	uint32_t unit;			   /* bytes */
	uint32_t prot; /* PROT_ bits of the image, with PROT_READ and PROT_EXEC */
	const char *functions[PROCESS_FUNCTIONS]; /* by slot; NULL: not on this architecture */
	const char *own[VCLOCK_BASES];		  /* the image's entries of one clock; NULL: none */
};

/* NULL: there is no image for it. */
const struct image_arch *image_arch_of(uint16_t machine, bool is_64);

/*
 * Fills a process page from the kernel's image. elf: the kernel's image, opened as mapped, or as a
 * copy of what is mapped; base: where it is mapped in the process that the page is for. elf NULL:
 * that process has none, all slots are empty. What the kernel does not have stays empty too.
 */
void process_page_fill(struct process_page *process, const struct image_arch *arch,
		       const struct vclock_elf *elf, uint64_t base, uint32_t flags);

/* PROCESS_ flags of the running kernel. */
uint32_t process_page_flags(void);

#endif /* ATTACH_IMAGE_ARCH_H */
