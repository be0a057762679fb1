/* SPDX-License-Identifier: MIT */
/*
 * seed_elf.c - writes the seeds of fuzz/corpus/elf: seed_elf FOLDER. Images that each take another
 * way through the finder; the fuzzer breaks them.
 */
#include <stdio.h>

#include "support_elf_image.h"

#define BOTH (VCLOCK_ELF_HASH_SYSV | VCLOCK_ELF_HASH_GNU)

static const struct image_symbol symbols[] = {
	{.name = "__vdso_clock_gettime64", .version = "LINUX_2.6"},
	{.name = "__vdso_clock_gettime", .version = "LINUX_2.6"},
	{.name = "__kernel_vsyscall", .version = "LINUX_2.5"},
	{.name = "undefined", .is_undefined = 1},
	{.name = "time", .version = "LINUX_2.6", .bind = STB_WEAK},
	{.name = NULL},
};

static const struct {
	const char *name;
	struct image_plan plan;
} seeds[] = {
	{"both", {.hashes = BOTH}},
	{"sysv", {.hashes = VCLOCK_ELF_HASH_SYSV}},
	{"gnu", {.hashes = VCLOCK_ELF_HASH_GNU}},
	{"no-hash", {.hashes = 0}},
	{"no-hash-gap", {.hashes = 0, .has_gap = 1}},
	{"unversioned", {.hashes = BOTH, .is_unversioned = 1}},
	{"minimal", {.hashes = VCLOCK_ELF_HASH_SYSV, .is_minimal = 1}},
	{"unaligned", {.hashes = BOTH, .is_unaligned = 1}},
	{"load-second", {.hashes = BOTH, .load_is_second = 1}},
	{"linked-high", {.hashes = BOTH, .vaddr = 0xffff0000}},
};

static int write_seed(const char *folder, const char *name, const struct image_plan *plan)
{
	struct image image;
	char path[4096];
	FILE *file;
	int failed;

	image_build(&image, plan);
	snprintf(path, sizeof(path), "%s/%s-%s", folder, name, plan->is_64 ? "64" : "32");
	file = fopen(path, "wb");
	failed = file == NULL || fwrite(image.bytes, 1, image.size, file) != image.size;
	if (file != NULL && fclose(file) != 0)
		failed = 1;
	if (failed)
		perror(path);
	image_free(&image);
	return failed;
}

int main(int argc, char **argv)
{
	int failed = 0;

	if (argc != 2) {
		fprintf(stderr, "seed_elf: which folder?\n");
		return 2;
	}
	for (size_t i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++) {
		struct image_plan plan = seeds[i].plan;

		plan.symbols = symbols;
		failed |= write_seed(argv[1], seeds[i].name, &plan);
		plan.is_64 = 1;
		failed |= write_seed(argv[1], seeds[i].name, &plan);
	}
	return failed;
}
