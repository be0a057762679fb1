/* SPDX-License-Identifier: MIT */
/*
 * A launcher takes this build's image, and no other file for it: not one that was cut or grew, none
 * of another architecture, not the kernel's own, none whose headers say something else, no noise.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <time.h>

#include "attach/image_file.h"
#include "elf/arch/host.h"
#include "support_image.h"
#include "support_sim.h"
#include "tap.h"

#define ROOM ((size_t)1 << 16)

static unsigned char image[ROOM];
static size_t image_size;
static const struct image_arch *arch;

/* In memory of exactly that size, so that a read past the end is seen by the sanitizer. */
static bool is_good(const unsigned char *bytes, size_t size)
{
	unsigned char *copy = malloc(size > 0 ? size : 1);
	bool is;

	if (copy == NULL)
		exit(1);
	memcpy(copy, bytes, size);
	is = image_file_is_good(arch, copy, size);
	free(copy);
	return is;
}

static unsigned taken_when_cut(void)
{
	unsigned taken = 0;
	size_t size;

	for (size = 0; size < image_size; size++)
		taken += is_good(image, size);
	return taken;
}

/* The segment's header with one field changed. */
static bool is_good_with(size_t at, size_t width, unsigned char value)
{
	unsigned char was[8];
	bool is;

	memcpy(was, image + at, width);
	memset(image + at, 0, width);
	image[at] = value;
	is = is_good(image, image_size);
	memcpy(image + at, was, width);
	return is;
}

#if UINTPTR_MAX == UINT64_MAX
#define PHDR Elf64_Phdr
#define EHDR Elf64_Ehdr
#else
#define PHDR Elf32_Phdr
#define EHDR Elf32_Ehdr
#endif

static void judge_headers(void)
{
	const EHDR *ehdr = (const EHDR *)(const void *)image;
	size_t load = (size_t)ehdr->e_phoff, word = sizeof(ehdr->e_entry);

	tap_ok(is_good_with(load + offsetof(PHDR, p_flags), 4, PF_R | PF_X),
	       "the first header is the segment's");
	tap_ok(!is_good_with(load + offsetof(PHDR, p_flags), 4, PF_R), "not executable");
	tap_ok(!is_good_with(load + offsetof(PHDR, p_flags), 4, PF_R | PF_W | PF_X), "writable");
	tap_ok(!is_good_with(load + offsetof(PHDR, p_vaddr), word, 64), "not at 0");
	tap_ok(!is_good_with(load + offsetof(PHDR, p_type), 4, PT_NOTE), "no segment");
	tap_ok(!is_good_with(load + sizeof(PHDR), 4, PT_LOAD), "two segments");
	tap_ok(!is_good_with(load + offsetof(PHDR, p_filesz), word, 64), "most is not in it");
	tap_ok(!is_good_with(EI_CLASS, 1, sizeof(void *) == 8 ? ELFCLASS32 : ELFCLASS64),
	       "of another class");
}

/* Where there is one. */
static bool takes_kernels(void)
{
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR);
	struct vclock_vdso kernel;

	return vdso != NULL && vclock_vdso_find(vdso, 0, &kernel) == 0 &&
	       is_good(kernel.elf.image, kernel.elf.size);
}

static unsigned taken_of_noise(uint64_t state)
{
	unsigned char noise[4096];
	unsigned i, taken = 0;
	size_t k;

	for (i = 0; i < 1000; i++) {
		for (k = 0; k < sizeof(noise); k++) {
			state = state * 6364136223846793005u + 1442695040888963407u;
			noise[k] = (unsigned char)(state >> 33);
		}
		if (i % 2 == 0)
			memcpy(noise, image, i % 512);
		taken += is_good(noise, sizeof(noise));
	}
	return taken;
}

int main(void)
{
	FILE *file = fopen(image_path(), "rb");

	if (file == NULL)
		exit(1);
	image_size = fread(image, 1, ROOM - 1, file);
	fclose(file);
	arch = image_arch_of(ELF_HOST_MACHINE, sizeof(void *) == 8);
	tap_ok(is_good(image, image_size), "the image");
	tap_ok(taken_when_cut() == 0, "cut at any length");
	tap_ok(!is_good(image, image_size + 1), "with a byte more");
	judge_headers();
	tap_ok(!takes_kernels(), "the kernel's image");
	tap_ok(taken_of_noise(sim_seed((uint64_t)time(NULL))) == 0, "noise");
	arch = image_arch_of(arch->machine == EM_RISCV ? EM_X86_64 : EM_RISCV, true);
	tap_ok(!is_good(image, image_size), "of another machine");
	return tap_done();
}
