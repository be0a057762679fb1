/* SPDX-License-Identifier: MIT */
/*
 * A copy of a dynamic loader, this machine's, aarch64's and riscv64's, keeps every byte that the
 * loader maps, at its address, and starts at the code that came along; a file that is no loader, or
 * a broken one, is refused or copied, and never does harm.
 */
#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "attach/loader_copy.h"
#include "support_sim.h"
#include "tap.h"

static unsigned char loader[4 << 20];
static size_t loader_size;
static const struct image_arch *arch;
static uint64_t state;

/* Where the compiler for another machine brings its loader. */
static const struct {
	uint16_t machine;
	const char *loader;
} machines[] = {
	{EM_X86_64, "/usr/x86_64-linux-gnu/lib/ld-linux-x86-64.so.2"},
	{EM_AARCH64, "/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1"},
	{EM_RISCV, "/usr/riscv64-linux-gnu/lib/ld-linux-riscv64-lp64d.so.1"},
};
#define MACHINES (sizeof(machines) / sizeof(machines[0]))

static void read_loader(const char *more_name)
{
	FILE *file = NULL;
	unsigned i;

	for (i = 0; i < IMAGE_LOADERS && file == NULL; i++)
		file = fopen(arch->loader[i], "rb");
	if (file == NULL)
		file = fopen(more_name, "rb");
	loader_size = 0;
	if (file == NULL)
		return;
	loader_size = fread(loader, 1, sizeof(loader), file);
	fclose(file);
}

/* What a kernel would map at address, or -1 where nothing would be. */
static int mapped(const unsigned char *file, size_t size, uint64_t address)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)(const void *)file;
	const Elf64_Phdr *phdr = (const Elf64_Phdr *)(const void *)(file + ehdr->e_phoff);
	uint64_t into;
	unsigned i;

	for (i = 0; i < ehdr->e_phnum; i++) {
		into = address - phdr[i].p_vaddr;
		if (phdr[i].p_type != PT_LOAD || into >= phdr[i].p_memsz)
			continue;
		if (into >= phdr[i].p_filesz)
			return 0;
		return phdr[i].p_offset + into < size ? file[phdr[i].p_offset + into] : -1;
	}
	return -1;
}

static void compare(const unsigned char *copy, size_t size, const struct follow *config)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)(const void *)loader;
	const Elf64_Phdr *phdr = (const Elf64_Phdr *)(const void *)(loader + ehdr->e_phoff);
	uint64_t address, end = 0, wrong = 0, headers;
	unsigned i;

	headers = ehdr->e_phoff + ehdr->e_phnum * sizeof(*phdr);
	for (i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_vaddr + phdr[i].p_memsz > end)
			end = phdr[i].p_vaddr + phdr[i].p_memsz;
	/* The section table is not mapped, and the headers are another's. */
	for (address = headers; address < end; address++) {
		int was = mapped(loader, loader_size, address);

		wrong += was >= 0 && mapped(copy, size, address) != was;
	}
	tap_ok(wrong == 0, "%llu of %llu bytes differ", (unsigned long long)wrong,
	       (unsigned long long)end);
	ehdr = (const Elf64_Ehdr *)(const void *)copy;
	tap_ok(ehdr->e_entry == config->segment && config->segment >= end &&
		       mapped(copy, size, config->segment) == 0xcc &&
		       mapped(copy, size, config->segment + 64) == (FOLLOW_MAGIC & 0xff),
	       "it starts at the code, with the configuration behind");
	tap_ok(config->entry == ((const Elf64_Ehdr *)(const void *)loader)->e_entry,
	       "the loader's own entry is known");
}

static void check_segments(const unsigned char *copy)
{
	const Elf64_Ehdr *ehdr = (const Elf64_Ehdr *)(const void *)copy;
	const Elf64_Phdr *phdr = (const Elf64_Phdr *)(const void *)(copy + ehdr->e_phoff);
	uint64_t last = 0;
	unsigned i, bad = 0, count = 0;

	for (i = 0; i < ehdr->e_phnum; i++) {
		if (phdr[i].p_type != PT_LOAD)
			continue;
		count++;
		bad += phdr[i].p_filesz != phdr[i].p_memsz || phdr[i].p_vaddr < last ||
		       phdr[i].p_vaddr % arch->unit != phdr[i].p_offset % arch->unit;
		last = phdr[i].p_vaddr + phdr[i].p_memsz;
	}
	tap_ok(bad == 0 && count >= 2 && last % arch->unit == 0,
	       "%u segments in order, without a bss, and the last one ends with a page", count);
}

static uint32_t next_random(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33);
}

static void try_broken(void)
{
	static unsigned char broken[sizeof(loader)], code[64];
	unsigned char *copy;
	struct follow config;
	unsigned round, taken = 0, i;
	size_t size, broken_size;

	for (round = 0; round < 3000; round++) {
		memset(&config, 0, sizeof(config));
		memcpy(broken, loader, loader_size);
		for (i = 0; i < 1 + round % 3; i++)
			broken[next_random() % 0x240] = (unsigned char)next_random();
		broken_size = round % 10 == 0 ? next_random() % loader_size : loader_size;
		if (loader_copy(arch, broken, broken_size, code, sizeof(code), &config, &copy,
				&size) != 0)
			continue;
		taken++;
		free(copy);
	}
	tap_ok(taken < 3000, "%u of 3000 broken ones were taken, and did no harm", taken);
}

static void check_loader(const char *more_name)
{
	unsigned char code[64], *copy = NULL;
	struct follow config = {.magic = FOLLOW_MAGIC};
	const struct image_arch *other;
	size_t size = 0;
	int r;

	memset(code, 0xcc, sizeof(code));
	read_loader(more_name);
	if (loader_size == 0) {
		tap_skip("a loader is copied", "no dynamic loader of that machine's");
		return;
	}
	r = loader_copy(arch, loader, loader_size, code, sizeof(code), &config, &copy, &size);
	if (!tap_ok(r == 0, "the loader of %s is copied: %d", arch->name, r))
		return;
	compare(copy, size, &config);
	check_segments(copy);
	free(copy);
	tap_ok(loader_copy(arch, loader, 40, code, sizeof(code), &config, &copy, &size) != 0 &&
		       loader_copy(arch, code, sizeof(code), code, sizeof(code), &config, &copy,
				   &size) != 0,
	       "what is no loader is refused");
	other = image_arch_of(arch->machine == EM_X86_64 ? EM_AARCH64 : EM_X86_64, true);
	tap_ok(loader_copy(other, loader, loader_size, code, sizeof(code), &config, &copy, &size) !=
		       0,
	       "for %s it is none", other->name);
	try_broken();
}

int main(void)
{
	unsigned i;

	state = sim_seed((uint64_t)time(NULL));
	for (i = 0; i < MACHINES; i++) {
		arch = image_arch_of(machines[i].machine, true);
		check_loader(machines[i].loader);
	}
	return tap_done();
}
