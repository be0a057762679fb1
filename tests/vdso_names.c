/* SPDX-License-Identifier: MIT */
/*
 * Each architecture's functions are found under that architecture's names and version. A
 * 32-bit-time clock_gettime never stands in for the 64-bit one; an image without versions is taken
 * as it is, one with another version is not.
 */
#include <string.h>

#include "elf/elf_image.h"
#include "support_elf_image.h"
#include "tap.h"

/* Opens the image and looks its functions up as the architecture's own program would. */
static int fill(const struct image *image, struct vclock_vdso *vdso)
{
	int r;

	memset(vdso, 0, sizeof(*vdso));
	r = image_open(image, 1, &vdso->elf);
	return r ? r : vdso_fill(vdso);
}

static void check_arch(uint16_t machine, int is_64, const struct image_symbol *symbols,
		       const void *(*pick)(const struct vclock_vdso *, size_t), const char *what)
{
	struct image_plan plan = {.is_64 = is_64,
				  .machine = machine,
				  .hashes = VCLOCK_ELF_HASH_SYSV,
				  .symbols = symbols};
	struct vclock_vdso vdso;
	struct image image;
	int r, right = 1;

	image_build(&image, &plan);
	r = fill(&image, &vdso);
	for (size_t i = 0; symbols[i].name != NULL; i++)
		right = right && pick(&vdso, i) == image_code(&image, i);
	tap_ok(r == 0 && right, "%s: every function (%s)", what, vclock_elf_strerror(r));
	image_free(&image);
}

static const void *pick(const struct vclock_vdso *v, size_t i)
{
	const void *const functions[] = {v->clock_gettime, v->gettimeofday, v->clock_getres,
					 v->time,	   v->getcpu,	    v->clock_gettime32};

	return functions[i];
}

static const void *pick_without_time(const struct vclock_vdso *v, size_t i)
{
	const void *const functions[] = {v->clock_gettime, v->gettimeofday, v->clock_getres,
					 v->getcpu};

	return v->time != NULL || v->clock_gettime32 != NULL ? NULL : functions[i];
}

static void check_rows(void)
{
	static const struct image_symbol names_x86_64[] = {
		{.name = "__vdso_clock_gettime", .version = "LINUX_2.6"},
		{.name = "__vdso_gettimeofday", .version = "LINUX_2.6"},
		{.name = "__vdso_clock_getres", .version = "LINUX_2.6"},
		{.name = "__vdso_time", .version = "LINUX_2.6"},
		{.name = "__vdso_getcpu", .version = "LINUX_2.6"},
		{.name = NULL}};
	static const struct image_symbol names_i386[] = {
		{.name = "__vdso_clock_gettime64", .version = "LINUX_2.6"},
		{.name = "__vdso_gettimeofday", .version = "LINUX_2.6"},
		{.name = "__vdso_clock_getres", .version = "LINUX_2.6"},
		{.name = "__vdso_time", .version = "LINUX_2.6"},
		{.name = "__vdso_getcpu", .version = "LINUX_2.6"},
		{.name = "__vdso_clock_gettime", .version = "LINUX_2.6"},
		{.name = NULL}};
	static const struct image_symbol names_aarch64[] = {
		{.name = "__kernel_clock_gettime", .version = "LINUX_2.6.39"},
		{.name = "__kernel_gettimeofday", .version = "LINUX_2.6.39"},
		{.name = "__kernel_clock_getres", .version = "LINUX_2.6.39"},
		{.name = NULL}};
	static const struct image_symbol names_riscv64[] = {
		{.name = "__vdso_clock_gettime", .version = "LINUX_4.15"},
		{.name = "__vdso_gettimeofday", .version = "LINUX_4.15"},
		{.name = "__vdso_clock_getres", .version = "LINUX_4.15"},
		{.name = "__vdso_getcpu", .version = "LINUX_4.15"},
		{.name = NULL}};

	check_arch(EM_X86_64, 1, names_x86_64, pick, "x86_64");
	check_arch(EM_386, 0, names_i386, pick, "i386");
	check_arch(EM_AARCH64, 1, names_aarch64, pick_without_time, "aarch64");
	check_arch(EM_RISCV, 1, names_riscv64, pick_without_time, "riscv64");
}

static void check_only_32_bit_time(void)
{
	static const struct image_symbol symbols[] = {
		{.name = "__vdso_clock_gettime", .version = "LINUX_2.6"},
		{.name = "__vdso_gettimeofday", .version = "LINUX_2.6"},
		{.name = NULL}};
	struct image_plan plan = {.hashes = VCLOCK_ELF_HASH_SYSV, .symbols = symbols};
	struct vclock_vdso vdso;
	struct image image;

	image_build(&image, &plan);
	tap_ok(fill(&image, &vdso) == 0 && vdso.clock_gettime == NULL &&
		       vdso.clock_gettime32 == image_code(&image, 0) &&
		       vdso.gettimeofday == image_code(&image, 1),
	       "i386 with the 32-bit clock_gettime alone: kept apart");
	image_free(&image);
}

/* E07, E08 */
static void check_version(const char *version, int is_unversioned, int is_found, const char *what)
{
	const struct image_symbol symbols[] = {{.name = "__vdso_clock_gettime", .version = version},
					       {.name = NULL}};
	struct image_plan plan = {.is_64 = 1,
				  .is_unversioned = is_unversioned,
				  .hashes = VCLOCK_ELF_HASH_GNU,
				  .symbols = symbols};
	struct vclock_vdso vdso;
	struct image image;

	image_build(&image, &plan);
	tap_ok(fill(&image, &vdso) == 0 && (vdso.clock_gettime != NULL) == is_found, "%s: %s", what,
	       is_found ? "found" : "not found");
	image_free(&image);
}

static void check_unknown(void)
{
	static const struct image_symbol symbols[] = {{.name = "__kernel_clock_gettime"},
						      {.name = NULL}};
	struct image_plan plan = {.is_64 = 1, .machine = EM_S390, .symbols = symbols};
	struct vclock_vdso vdso;
	struct image image;

	image_build(&image, &plan);
	tap_ok(fill(&image, &vdso) == -VCLOCK_ELF_MACHINE && vdso.clock_gettime == NULL,
	       "an architecture without a row: no names are guessed");
	image_free(&image);
}

int main(void)
{
	check_rows();
	check_only_32_bit_time();
	check_version("LINUX_2.6", 0, 1, "the right version");
	check_version("LINUX_2.7", 0, 0, "another version");
	check_version(NULL, 1, 1, "no versions at all");
	check_unknown();
	return tap_done();
}
