/* SPDX-License-Identifier: MIT */
/*
 * stub.h - the code that a starting program runs before its own first instruction.
 *
 * A launcher writes it behind the kernel's vDSO image of the stopped program, where little room may
 * be, or over that image's section headers, its parameters below the program's stack, and lets the
 * program go there. It makes the system calls that map page and image, edits the auxiliary vector
 * on the stack, tells how it went, closes the descriptors that it was given and jumps to the
 * program's entry with the registers as the kernel set them. Nobody has to be there while it runs:
 * whatever fails, it takes back what it did and the program starts all the same.
 */
#ifndef STUB_H
#define STUB_H

#include <elf.h>
#include <stdbool.h>
#include <stdint.h>

#include "vclock/compiler.h"

/* Bits of a step's flags. */
#define STUB_RELATIVE 1u /* the first argument is counted from the base */
#define STUB_BASE 2u	 /* the result is the base from now on */
#define STUB_STORE 4u	 /* no system call: the word at arg[0] becomes base + arg[1] */
#define STUB_OPTIONAL 8u /* a failure is told, and nothing else */

struct stub_step {
	uint32_t number; /* of the system call */
	uint32_t flags;
	uint64_t arg[6];
};

#define STUB_FDS 6
#define STUB_STEPS_MAX 8

/* Fixed-width: the 64-bit launcher writes it for a 32-bit program. */
struct stub_params {
	uint64_t entry;	     /* where the program begins */
	uint64_t undo_slot;  /* the word of the auxiliary vector ... */
	uint64_t undo_value; /* ... and what it was */
	uint64_t total;	     /* bytes to unmap from the base when a step fails */
	uint32_t steps;
	uint32_t must;	      /* exit with 126 when a step fails */
	int32_t result_fd;    /* an eventfd; -1: nobody wants to know */
	int32_t fd[STUB_FDS]; /* closed in the end, the eventfd too; -1: none */
	uint32_t reserved;
	struct stub_step step[STUB_STEPS_MAX];
};

/*
 * The parameters are so many bytes below the stack pointer, with room behind them; the last
 * STUB_STACK of the bytes are the code's own stack.
 */
#define STUB_BELOW 1024
#define STUB_STACK 64

VCLOCK_STATIC_ASSERT(sizeof(struct stub_step) == 56);
VCLOCK_STATIC_ASSERT(offsetof(struct stub_params, step) == 72);

/*
 * What the eventfd holds in the end: STUB_DONE, plus STUB_OPTIONAL_FAILED; or STUB_FAILED plus the
 * steps that were left << 16 and errno.
 */
#define STUB_DONE 1u
#define STUB_OPTIONAL_FAILED 2u
#define STUB_FAILED 0x40000000u

/* The system calls by number, and the code for a program of 64 or 32 bits. */
struct stub_arch {
	const unsigned char *code;
	uint16_t machine; /* e_machine of such programs, and of their image */
	uint32_t code_size;
	uint32_t word; /* bytes: of the auxiliary vector's entries too */
	uint32_t sys_mmap, sys_madvise, sys_prctl;
};

/* NULL: this build cannot do it for such programs. */
const struct stub_arch *stub_arch_of(bool is_64);

#endif /* STUB_H */
