/* SPDX-License-Identifier: MIT */
/*
 * link_rule.c - the last step of an image's link; runs on the building machine.
 *
 *     link_rule LINKED IMAGE
 *
 * Makes the image's one segment reach to the end of the file, so that the section headers and the
 * symbol table are mapped with it (debuggers read both there), checks the result, and writes it
 * only when it is right. On a failure there is no IMAGE.
 */
#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check/image_check.h"
#include "cli/image_code.h"

/* An image is some 12 KiB. */
#define FILE_MAX ((size_t)1 << 20)

static int fail(const char *path, const char *why)
{
	fprintf(stderr, "link_rule: %s: %s\n", path, why);
	return 1;
}

static unsigned char *read_file(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	unsigned char *bytes = malloc(FILE_MAX);

	if (file == NULL || bytes == NULL) {
		free(bytes);
		return NULL;
	}
	*ret_size = fread(bytes, 1, FILE_MAX, file);
	fclose(file);
	return bytes;
}

static int write_file(const char *path, const unsigned char *bytes, size_t size)
{
	FILE *file = fopen(path, "wb");
	int good;

	if (file == NULL)
		return -errno;
	good = fwrite(bytes, 1, size, file) == size;
	good &= fclose(file) == 0;
	if (!good)
		unlink(path);
	return good ? 0 : -EIO;
}

/* The linker's own output: its headers are where they say. */
static void stretch64(unsigned char *bytes, size_t size)
{
	Elf64_Ehdr *ehdr = (Elf64_Ehdr *)(void *)bytes;
	Elf64_Phdr *phdr = (Elf64_Phdr *)(void *)(bytes + ehdr->e_phoff);
	unsigned i;

	for (i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_filesz == phdr[i].p_memsz)
			phdr[i].p_filesz = phdr[i].p_memsz = size;
}

static void stretch32(unsigned char *bytes, size_t size)
{
	Elf32_Ehdr *ehdr = (Elf32_Ehdr *)(void *)bytes;
	Elf32_Phdr *phdr = (Elf32_Phdr *)(void *)(bytes + ehdr->e_phoff);
	unsigned i;

	for (i = 0; i < ehdr->e_phnum; i++)
		if (phdr[i].p_type == PT_LOAD && phdr[i].p_filesz == phdr[i].p_memsz)
			phdr[i].p_filesz = phdr[i].p_memsz = (Elf32_Word)size;
}

static void report(void *arg, enum image_rule rule, const char *words)
{
	fprintf(stderr, "link_rule: %s: %s: %s\n", (const char *)arg, image_rule_name(rule), words);
}

int main(int argc, char **argv)
{
	struct image_check check = {.branches = image_code_branches, .report = report};
	unsigned char *bytes;
	size_t size = 0;
	int r;

	if (argc != 3)
		return fail("usage", "link_rule LINKED IMAGE");
	unlink(argv[2]);
	bytes = read_file(argv[1], &size);
	if (bytes == NULL)
		return fail(argv[1], strerror(errno));
	if (size < sizeof(Elf64_Ehdr) || size == FILE_MAX || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return fail(argv[1], "no ELF file of an image's size");
	if (bytes[EI_CLASS] == ELFCLASS64)
		stretch64(bytes, size);
	else
		stretch32(bytes, size);
	check.arg = argv[1];
	if (image_check(&check, bytes, size) != 0 || check.not_checked != 0)
		return fail(argv[1], "is no vDSO image as it must be; deleted");
	r = write_file(argv[2], bytes, size);
	free(bytes);
	return r != 0 ? fail(argv[2], strerror(-r)) : 0;
}
