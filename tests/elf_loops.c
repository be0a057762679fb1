/* SPDX-License-Identifier: MIT */
/*
 * Chains that loop, leave their table or never end are refused, and every walk comes to an end. A
 * hang is ended by alarm(), without a plan, which fails the test.
 */
#include <unistd.h>

#include "support_elf_image.h"
#include "tap.h"

static const struct image_symbol symbols[] = {
	{.name = "one", .version = "V"},
	{.name = "two", .version = "V"},
	{.name = "three", .version = "V"},
	{.name = "four", .version = "V"},
	{.name = "five", .version = "V"},
	{.name = "six", .version = "V"},
	{.name = NULL},
};

static void build(struct image *image, int is_64, uint32_t hashes)
{
	struct image_plan plan = {
		.is_64 = is_64, .hashes = hashes, .sysv_buckets = 1, .symbols = symbols};

	image_build(image, &plan);
}

static void expect(struct image *image, int want, const char *what)
{
	struct vclock_elf elf;
	int r = image_open(image, 1, &elf);

	tap_ok(r == want, "%d-bit, %s: %s", image->is_64 ? 64 : 32, what, vclock_elf_strerror(r));
	image_free(image);
}

/* With one bucket the chain begins at bucket + 4 and runs 1, 2, 3, ... */
static void check_sysv(int is_64)
{
	struct image image;
	size_t chain;

	build(&image, is_64, VCLOCK_ELF_HASH_SYSV);
	chain = image.sysv + 12;
	image_put(&image, chain + 3 * 4, 4, 5);
	image_put(&image, chain + 5 * 4, 4, 3);
	expect(&image, -VCLOCK_ELF_CORRUPT, "a DT_HASH chain 3 -> 5 -> 3");

	build(&image, is_64, VCLOCK_ELF_HASH_SYSV);
	image_put(&image, chain + 4, 4, 1);
	expect(&image, -VCLOCK_ELF_CORRUPT, "a DT_HASH chain 1 -> 1");

	build(&image, is_64, VCLOCK_ELF_HASH_SYSV);
	image_put(&image, image.sysv + 8, 4, 8);
	expect(&image, -VCLOCK_ELF_CORRUPT, "a DT_HASH bucket beyond nchain");

	build(&image, is_64, VCLOCK_ELF_HASH_SYSV);
	image_put(&image, chain + 2 * 4, 4, 0xfffffffe);
	expect(&image, -VCLOCK_ELF_CORRUPT, "a DT_HASH chain that leaves the table");

	build(&image, is_64, VCLOCK_ELF_HASH_SYSV);
	expect(&image, 0, "an unchanged DT_HASH");
}

/* Copies DT_GNU_HASH to the end of the image, so that its chains end with the segment. */
static size_t move_gnu(struct image *image)
{
	size_t size = 16 + (image->is_64 ? 8 : 4) + 3 * 4 + 6 * 4, to = image->size;

	for (size_t i = 0; i < size; i++)
		image->bytes[to + i] = image->bytes[image->gnu + i];
	image->size += size;
	image_set(image, image->load, Phdr, p_memsz, image->size);
	image_set(image, image_tag(image, DT_GNU_HASH), Dyn, d_un, to);
	image->gnu = to;
	return to + 16 + (image->is_64 ? 8 : 4);
}

static void check_gnu(int is_64)
{
	struct image image;
	size_t bucket;

	build(&image, is_64, VCLOCK_ELF_HASH_GNU);
	bucket = move_gnu(&image);
	for (size_t i = 0; i < 6; i++)
		image.bytes[bucket + 12 + 4 * i] &= 0xfe;
	expect(&image, -VCLOCK_ELF_CORRUPT, "a DT_GNU_HASH whose chains have no last entry");

	build(&image, is_64, VCLOCK_ELF_HASH_GNU);
	bucket = move_gnu(&image);
	for (size_t i = 0; i < 5; i++)
		image.bytes[bucket + 12 + 4 * i] &= 0xfe;
	for (size_t i = 0; i < 3; i++)
		image_put(&image, bucket + 4 * i, 4, 1);
	expect(&image, -VCLOCK_ELF_CORRUPT, "DT_GNU_HASH buckets that share one long chain");

	build(&image, is_64, VCLOCK_ELF_HASH_GNU);
	bucket = move_gnu(&image);
	image_put(&image, bucket, 4, 0x7fffffff);
	expect(&image, -VCLOCK_ELF_CORRUPT, "a DT_GNU_HASH bucket beyond the table");

	/* No bloom words, and the buckets where those were: whole but for that. */
	build(&image, is_64, VCLOCK_ELF_HASH_GNU);
	bucket = move_gnu(&image);
	for (size_t i = 0; i < 9; i++)
		image_put(&image, image.gnu + 16 + 4 * i, 4, image_get(&image, bucket + 4 * i, 4));
	image_put(&image, image.gnu + 8, 4, 0);
	expect(&image, -VCLOCK_ELF_CORRUPT, "a DT_GNU_HASH without a bloom filter");

	build(&image, is_64, VCLOCK_ELF_HASH_GNU);
	move_gnu(&image);
	expect(&image, 0, "an unchanged DT_GNU_HASH at the end");
}

static void check_versions(int is_64, uint32_t next, const char *what)
{
	const void *address = NULL;
	struct vclock_elf elf;
	struct image image;
	int opened, r;

	build(&image, is_64, VCLOCK_ELF_HASH_SYSV);
	image_put(&image, image.verdef + offsetof(Elf64_Verdef, vd_next), 4, next);
	opened = image_open(&image, 1, &elf);
	r = opened ? opened : vclock_elf_lookup(&elf, "one", "V", &address);
	tap_ok(opened == 0 && r == -VCLOCK_ELF_VERSION && address == NULL, "%d-bit, %s: %s",
	       is_64 ? 64 : 32, what, vclock_elf_strerror(r));
	image_free(&image);
}

int main(void)
{
	alarm(20);
	/* E14 */
	for (int is_64 = 0; is_64 < 2; is_64++) {
		check_sysv(is_64);
		check_gnu(is_64);
		check_versions(is_64, 0, "version definitions that end too early");
		check_versions(is_64, 0xfffffffe, "version definitions that leave the image");
	}
	return tap_done();
}
