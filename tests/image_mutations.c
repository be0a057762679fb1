/* SPDX-License-Identifier: MIT */
/*
 * The image checker survives any file, and notices: every byte of the image changed, one at a time,
 * and the file cut at every length. What tells code from padding is not the checker's to know, so
 * changes are noticed wherever the headers and tables are, but not in every byte.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/image_check.h"
#include "support_image.h"
#include "tap.h"

static unsigned char *bytes;
static size_t size;

static void read_image(void)
{
	FILE *file = fopen(image_path(), "rb");

	bytes = malloc(1 << 16);
	if (file == NULL || bytes == NULL)
		exit(1);
	size = fread(bytes, 1, 1 << 16, file);
	fclose(file);
}

/* In memory of exactly that size, so that a read past the end is seen by the sanitizer. */
static unsigned check_copy(size_t length, size_t at, unsigned char value)
{
	struct image_check check = {.report = NULL};
	unsigned char *copy = malloc(length > 0 ? length : 1);
	unsigned findings;

	if (copy == NULL)
		exit(1);
	memcpy(copy, bytes, length);
	if (at < length)
		copy[at] ^= value;
	findings = image_check(&check, copy, length);
	free(copy);
	return findings;
}

int main(void)
{
	static const unsigned char values[] = {0x01, 0x80, 0xff};
	size_t i, step = tap_is_long() ? 1 : 7, missed = 0, noticed = 0, head = 0x40 + 4 * 56;
	struct image_check check = {.report = NULL};
	unsigned v;

	read_image();
	tap_ok(image_check(&check, bytes, size) == 0, "the image passes");
	tap_ok(check.not_checked == 1u << IMAGE_RULE_BRANCHES || check.not_checked == 0,
	       "and says what was not checked");
	for (i = 0; i < size; i += step)
		for (v = 0; v < sizeof(values); v++)
			noticed += check_copy(size, i, values[v]) != 0;
	tap_ok(noticed > 0, "every byte changed: %zu changes noticed of %zu", noticed,
	       3 * (size / step + 1));
	for (i = 0; i < size; i += step)
		missed += check_copy(i, i, 0) == 0;
	tap_ok(missed == 0, "cut at every length: %zu cuts not noticed", missed);
	/* p_align, p_paddr, e_flags and the like have no meaning here. */
	missed = 0;
	for (i = 0; i < head; i++)
		missed += check_copy(size, i, 0xff) == 0;
	tap_ok(missed < head / 2, "changes in the headers: %zu of %zu not noticed", missed, head);
	free(bytes);
	return tap_done();
}
