/* SPDX-License-Identifier: MIT */
/*
 * elf_load.h - what the ELF reader uses in place of libc.
 *
 * It runs before libc is relocated, so nothing here may become a call: the empty asm statements
 * keep compilers from seeing memset, memcpy or strlen in a loop.
 */
#ifndef ELF_LOAD_H
#define ELF_LOAD_H

#include "vclock/compiler.h"

/* An image may place its tables at any byte. */
struct elf_unaligned16 {
	uint16_t value;
} __attribute__((packed, may_alias));
struct elf_unaligned32 {
	uint32_t value;
} __attribute__((packed, may_alias));
struct elf_unaligned64 {
	uint64_t value;
} __attribute__((packed, may_alias));

static inline uint16_t elf_load16(const unsigned char *p)
{
	return ((const struct elf_unaligned16 *)(const void *)p)->value;
}

static inline uint32_t elf_load32(const unsigned char *p)
{
	return ((const struct elf_unaligned32 *)(const void *)p)->value;
}

static inline uint64_t elf_load64(const unsigned char *p)
{
	return ((const struct elf_unaligned64 *)(const void *)p)->value;
}

/* An unsigned field of 1, 2, 4 or 8 bytes. */
VCLOCK_ALWAYS_INLINE uint64_t elf_load(const unsigned char *p, size_t size)
{
	if (size == 8)
		return elf_load64(p);
	if (size == 4)
		return elf_load32(p);
	return size == 2 ? elf_load16(p) : *p;
}

static inline void elf_clear(void *to, size_t size)
{
	unsigned char *p = to;

	for (size_t i = 0; i < size; i++) {
		p[i] = 0;
		__asm__ __volatile__("" : : : "memory");
	}
}

static inline void elf_copy(void *to, const void *from, size_t size)
{
	const unsigned char *p = from;
	unsigned char *q = to;

	for (size_t i = 0; i < size; i++) {
		q[i] = p[i];
		__asm__ __volatile__("" : : : "memory");
	}
}

/* Both are terminated. */
static inline int elf_text_is(const char *a, const char *b)
{
	while (*a != '\0' && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

#endif /* ELF_LOAD_H */
