/* SPDX-License-Identifier: MIT */
/*
 * Counts in an image that its size cannot hold make it corrupt; they are never used.
 */
#include "support_elf_image.h"
#include "tap.h"

enum table { SYSV, GNU };

static void check(int is_64, enum table table, size_t word, uint32_t value, const char *what)
{
	struct vclock_elf elf = {.size = 77};
	struct image image;
	int r;

	image_build_vdso(&image, is_64, VCLOCK_ELF_HASH_SYSV | VCLOCK_ELF_HASH_GNU);
	image_put(&image, (table == SYSV ? image.sysv : image.gnu) + 4 * word, 4, value);
	r = image_open(&image, 1, &elf);
	tap_ok(r == -VCLOCK_ELF_CORRUPT && elf.size == 77, "%d-bit, %s = 0x%x: %s", is_64 ? 64 : 32,
	       what, value, vclock_elf_strerror(r));
	image_free(&image);
}

static void check_tag(int is_64, uint64_t tag, uint64_t value, int want, const char *what)
{
	struct vclock_elf elf;
	struct image image;
	int r;

	image_build_vdso(&image, is_64, VCLOCK_ELF_HASH_SYSV);
	image_set(&image, image_tag(&image, tag), Dyn, d_un, value);
	r = image_open(&image, 1, &elf);
	tap_ok(r == -want, "%d-bit, %s = 0x%llx: %s", is_64 ? 64 : 32, what,
	       (unsigned long long)value, vclock_elf_strerror(r));
	image_free(&image);
}

/* A version table in the last two bytes, which are one version's. */
static void check_versym_at_end(int is_64)
{
	struct vclock_elf elf;
	struct image image;
	int r;

	image_build_vdso(&image, is_64, VCLOCK_ELF_HASH_SYSV);
	image_set(&image, image_tag(&image, DT_VERSYM), Dyn, d_un, image.size - 2);
	r = image_open(&image, 1, &elf);
	tap_ok(r == -VCLOCK_ELF_CORRUPT, "%d-bit, DT_VERSYM too short for the symbols: %s",
	       is_64 ? 64 : 32, vclock_elf_strerror(r));
	image_free(&image);
}

/* DT_HASH says fewer symbols than DT_GNU_HASH has in its chains. */
static void check_contradiction(int is_64)
{
	struct vclock_elf elf;
	struct image image;
	size_t bucket;
	int r;

	image_build_vdso(&image, is_64, VCLOCK_ELF_HASH_SYSV | VCLOCK_ELF_HASH_GNU);
	/* One chain less than the last symbol's number, and none of the chains leads there. */
	image_put(&image, image.sysv + 4, 4, image.symbols - 1);
	bucket = image.sysv + 8;
	for (size_t i = 0; i < 3; i++)
		image_put(&image, bucket + 4 * i, 4, 0);
	r = image_open(&image, 1, &elf);
	tap_ok(r == -VCLOCK_ELF_CORRUPT, "%d-bit, hash tables that contradict each other: %s",
	       is_64 ? 64 : 32, vclock_elf_strerror(r));
	image_free(&image);
}

/* The same image without the change is good: the checks above can fail. */
static void check_unchanged(int is_64)
{
	struct vclock_elf elf;
	struct image image;

	image_build_vdso(&image, is_64, VCLOCK_ELF_HASH_SYSV | VCLOCK_ELF_HASH_GNU);
	tap_ok(image_open(&image, 1, &elf) == 0, "%d-bit, unchanged: good", is_64 ? 64 : 32);
	image_free(&image);
}

int main(void)
{
	/* E05 */
	for (int is_64 = 0; is_64 < 2; is_64++) {
		check_unchanged(is_64);
		check(is_64, SYSV, 0, 0x40000000, "DT_HASH nbucket");
		check(is_64, SYSV, 0, 0, "DT_HASH nbucket");
		check(is_64, SYSV, 1, 0xffffffff, "DT_HASH nchain");
		check(is_64, SYSV, 1, 0, "DT_HASH nchain");
		check(is_64, SYSV, 1, 2, "DT_HASH nchain");
		check(is_64, GNU, 0, 0x40000000, "DT_GNU_HASH nbuckets");
		check(is_64, GNU, 0, 0xffffffff, "DT_GNU_HASH nbuckets");
		check(is_64, GNU, 0, 0, "DT_GNU_HASH nbuckets");
		check(is_64, GNU, 1, 0xffffffff, "DT_GNU_HASH symoffset");
		check(is_64, GNU, 2, 0x7fffffff, "DT_GNU_HASH bloom size");
		check(is_64, GNU, 2, 0, "DT_GNU_HASH bloom size");
		check_tag(is_64, DT_VERDEFNUM, 0xffffffff, VCLOCK_ELF_CORRUPT, "DT_VERDEFNUM");
		check_tag(is_64, DT_SYMENT, 17, VCLOCK_ELF_CORRUPT, "DT_SYMENT");
		check_tag(is_64, DT_STRSZ, 0x7fffffff, VCLOCK_ELF_TRUNCATED, "DT_STRSZ");
		check_tag(is_64, DT_SYMTAB, 0xfffffff8, VCLOCK_ELF_TRUNCATED, "DT_SYMTAB");
		check_versym_at_end(is_64);
		check_contradiction(is_64);
		check_tag(is_64, DT_VERSYM, 0x7ffffff0, VCLOCK_ELF_TRUNCATED, "DT_VERSYM");
	}
	return tap_done();
}
