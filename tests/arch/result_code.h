/* SPDX-License-Identifier: MIT */
/*
 * result_code.h - the machine code of a function that returns a number: result_code() writes it for
 * this machine, RESULT_CODE_SIZE bytes at most.
 */
#ifndef RESULT_CODE_H
#define RESULT_CODE_H

#include <stdint.h>
#include <string.h>

#define RESULT_CODE_SIZE 12

static inline void result_code(unsigned char *at, uint32_t result)
{
#if defined(__x86_64__) || defined(__i386__)
	at[0] = 0xb8; /* mov $result, %eax; ret */
	memcpy(at + 1, &result, sizeof(result));
	at[5] = 0xc3;
#elif defined(__aarch64__)
	/* mov w0, #low; movk w0, #high, lsl #16; ret */
	uint32_t code[] = {0x52800000u | (result & 0xffffu) << 5, 0x72a00000u | (result >> 16) << 5,
			   0xd65f03c0u};

	memcpy(at, code, sizeof(code));
#elif defined(__riscv)
	/* lui a0, high; addiw a0, a0, low; ret. The low part is added with its sign. */
	uint32_t code[] = {0x00000537u | ((result + 0x800u) & 0xfffff000u),
			   0x0005051bu | (result & 0xfffu) << 20, 0x00008067u};

	memcpy(at, code, sizeof(code));
#else
#error "no code for this architecture yet"
#endif
}

#endif /* RESULT_CODE_H */
