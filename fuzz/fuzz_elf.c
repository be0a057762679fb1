/* SPDX-License-Identifier: MIT */
/*
 * fuzz_elf.c - the finder of vDSO symbols on any bytes. A broken promise aborts; sanitizers do the
 * rest.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "support_elf_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *broken = elf_check(data, size);

	if (broken) {
		fprintf(stderr, "fuzz_elf: %s\n", broken);
		abort();
	}
	return 0;
}
