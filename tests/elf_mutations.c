/* SPDX-License-Identifier: MIT */
/*
 * A good image in which any byte is changed, or that is cut at any length, makes no crash and no
 * hang, and no address outside the image. alarm() ends a hang; the sanitizer builds see the rest.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support_elf_check.h"
#include "support_elf_image.h"
#include "tap.h"

static unsigned long tries;

static const char *run(const unsigned char *bytes, size_t size)
{
	tries++;
	return elf_check(bytes, size);
}

static const char *change_byte(unsigned char *bytes, size_t size, size_t at)
{
	static const unsigned char masks[] = {0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xff};
	const unsigned char good = bytes[at];
	const char *broken = NULL;

	for (size_t i = 0; !broken && i < sizeof(masks); i++) {
		bytes[at] = good ^ masks[i];
		broken = run(bytes, size);
	}
	for (unsigned int value = 0; !broken && tap_is_long() && value < 256; value++) {
		bytes[at] = (unsigned char)value;
		broken = run(bytes, size);
	}
	bytes[at] = good;
	return broken;
}

/* 32-bit fields become huge, zero and small; bytes alone seldom do that. */
static const char *change_word(unsigned char *bytes, size_t size, size_t at)
{
	static const uint32_t values[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0xfffffff0};
	const char *broken = NULL;
	unsigned char good[4];

	memcpy(good, bytes + at, 4);
	for (size_t i = 0; !broken && i < sizeof(values) / sizeof(values[0]); i++) {
		memcpy(bytes + at, &values[i], 4);
		broken = run(bytes, size);
	}
	memcpy(bytes + at, good, 4);
	return broken;
}

/* The code at the end is not read: its bytes are left alone. */
static void mutate(struct image *image, const char *what)
{
	const char *broken = NULL;
	unsigned long before = tries;
	size_t i;

	for (i = 0; !broken && i < image->text; i++)
		broken = change_byte(image->bytes, image->size, i);
	tap_ok(!broken, "%s: every byte changed (%s)", what, broken ? broken : "all promises kept");
	for (i = 0; !broken && i + 4 <= image->text; i += 2)
		broken = change_word(image->bytes, image->size, i);
	tap_ok(!broken, "%s: every word changed (%s)", what, broken ? broken : "all promises kept");
	for (i = 0; !broken && i <= image->size; i++)
		broken = run(image->bytes, i);
	tap_ok(!broken && i == image->size + 1, "%s: cut at every length (%s)", what,
	       broken ? broken : "all promises kept");
	tap_diag("%lu images", tries - before);
}

/* What the checks above rest on must be able to say no. */
static void check_checker(void)
{
	static const char room[] = {'a', 'b', '\0', 'c'};

	tap_ok(elf_check_is_inside(room, 3, room + 2) && !elf_check_is_inside(room, 3, room + 3) &&
		       !elf_check_is_inside(room + 1, 3, room) &&
		       !elf_check_is_inside(room, 3, NULL),
	       "the checker tells inside from outside");
	tap_ok(elf_check_is_text(room, 4, room + 1) && !elf_check_is_text(room, 4, room + 3) &&
		       !elf_check_is_text(room, 2, room),
	       "the checker tells terminated text from other bytes");
}

int main(void)
{
	struct image image;

	alarm(tap_is_long() ? 600 : 100);
	check_checker();
	for (int is_64 = 0; is_64 < 2; is_64++) {
		image_build_vdso(&image, is_64, VCLOCK_ELF_HASH_SYSV | VCLOCK_ELF_HASH_GNU);
		mutate(&image, is_64 ? "64-bit, both hash tables" : "32-bit, both hash tables");
		image_free(&image);
		image_build_vdso(&image, is_64, 0);
		mutate(&image, is_64 ? "64-bit, no hash table" : "32-bit, no hash table");
		image_free(&image);
	}
	return tap_done();
}
