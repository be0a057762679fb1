/* SPDX-License-Identifier: MIT */
/* loader_copy.c - see loader_copy.h. The file is hostile: every number in it is held to its size.
 */
#include "attach/loader_copy.h"

#include <elf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* No loader comes near. */
#define LOADER_MAX ((uint64_t)64 << 20)

struct plan {
	uint64_t page; /* the largest that a kernel of the architecture may have */
	Elf64_Ehdr ehdr;
	Elf64_Phdr *phdr;
	Elf64_Phdr *spare; /* becomes the code's segment */
	Elf64_Phdr *bss;   /* NULL: no segment has one */
	uint64_t end;	   /* of the loader's last segment, in memory */
	uint64_t bss_at, code_at, size;
	uint64_t code_size;
};

static uint64_t round_up(const struct plan *plan, uint64_t value)
{
	return (value + plan->page - 1) & ~(plan->page - 1);
}

static bool is_sound(const struct plan *plan, const Elf64_Phdr *phdr, uint64_t size)
{
	return phdr->p_offset <= size && phdr->p_filesz <= size - phdr->p_offset &&
	       phdr->p_filesz <= phdr->p_memsz && phdr->p_memsz <= LOADER_MAX &&
	       phdr->p_vaddr <= LOADER_MAX &&
	       phdr->p_vaddr % plan->page == phdr->p_offset % plan->page;
}

/*
 * The kernel needs no PT_GNU_STACK of a loader, and the loader none of its own. It wants segments
 * in the order of their addresses, so the spare header must come behind the last one.
 */
static int look(struct plan *plan, uint64_t size)
{
	Elf64_Phdr *phdr = plan->phdr;
	unsigned i;

	for (i = 0; i < plan->ehdr.e_phnum; i++) {
		if (phdr[i].p_type == PT_GNU_STACK)
			plan->spare = &phdr[i];
		else if (phdr[i].p_type == PT_NOTE && plan->spare == NULL)
			plan->spare = &phdr[i];
		else if (phdr[i].p_type == PT_INTERP)
			return -ENOEXEC;
		if (phdr[i].p_type != PT_LOAD)
			continue;
		if (plan->spare != NULL || !is_sound(plan, &phdr[i], size) ||
		    phdr[i].p_vaddr + phdr[i].p_memsz < plan->end)
			return -ENOEXEC;
		plan->end = phdr[i].p_vaddr + phdr[i].p_memsz;
		if (plan->bss != NULL)
			return -ENOEXEC; /* it must be the last one */
		if (phdr[i].p_memsz > phdr[i].p_filesz)
			plan->bss = &phdr[i];
	}
	return plan->spare != NULL && plan->end != 0 ? 0 : -ENOEXEC;
}

static int read_headers(struct plan *plan, uint16_t machine, const unsigned char *loader,
			size_t size)
{
	const Elf64_Ehdr *ehdr = &plan->ehdr;
	uint64_t table;

	if (size < sizeof(*ehdr) || size > LOADER_MAX)
		return -ENOEXEC;
	memcpy(&plan->ehdr, loader, sizeof(*ehdr));
	table = (uint64_t)ehdr->e_phnum * sizeof(Elf64_Phdr);
	if (memcmp(ehdr->e_ident, ELFMAG, SELFMAG) != 0 || ehdr->e_ident[EI_CLASS] != ELFCLASS64 ||
	    ehdr->e_ident[EI_DATA] != ELFDATA2LSB || ehdr->e_type != ET_DYN ||
	    ehdr->e_machine != machine || ehdr->e_phentsize != sizeof(Elf64_Phdr) ||
	    ehdr->e_phnum > 64 || ehdr->e_phoff > size || table > size - ehdr->e_phoff)
		return -ENOEXEC;
	plan->phdr = malloc(table + 1);
	if (plan->phdr == NULL)
		return -ENOMEM;
	memcpy(plan->phdr, loader + ehdr->e_phoff, table);
	return look(plan, size);
}

/* Headers that show a part of the segment, as PT_DYNAMIC, move with it. */
static void move_segment(struct plan *plan, uint64_t to)
{
	uint64_t from = plan->bss->p_offset, size = plan->bss->p_filesz;
	unsigned i;

	for (i = 0; i < plan->ehdr.e_phnum; i++) {
		Elf64_Phdr *phdr = &plan->phdr[i];

		if (phdr->p_offset >= from && phdr->p_offset < from + size)
			phdr->p_offset += to - from;
	}
	plan->bss->p_filesz = plan->bss->p_memsz =
		round_up(plan, plan->bss->p_vaddr + plan->bss->p_memsz) - plan->bss->p_vaddr;
	plan->bss->p_align = plan->page;
}

/* Debuggers look for what sections hold at their places in the file. */
static void move_sections(const struct plan *plan, unsigned char *copy, size_t size, uint64_t from,
			  uint64_t length)
{
	const Elf64_Ehdr *ehdr = &plan->ehdr;
	uint64_t table = (uint64_t)ehdr->e_shnum * sizeof(Elf64_Shdr);
	Elf64_Shdr shdr;
	unsigned i;

	if (ehdr->e_shentsize != sizeof(shdr) || ehdr->e_shoff > size ||
	    table > size - ehdr->e_shoff)
		return;
	for (i = 0; i < ehdr->e_shnum; i++) {
		unsigned char *at = copy + ehdr->e_shoff + i * sizeof(shdr);

		memcpy(&shdr, at, sizeof(shdr));
		if (!(shdr.sh_flags & SHF_ALLOC) || shdr.sh_offset < from ||
		    shdr.sh_offset > from + length)
			continue;
		shdr.sh_offset += plan->bss_at - from;
		memcpy(at, &shdr, sizeof(shdr));
	}
}

/*
 * Kernels before 6.7 clear what lies between the end of the last segment in the file and its
 * page's, and know of one bss only: so there is none, and the code ends with a page.
 */
static void lay_out(struct plan *plan, size_t size, uint64_t code_size)
{
	plan->size = round_up(plan, size);
	if (plan->bss != NULL) {
		plan->bss_at = plan->size + plan->bss->p_vaddr % plan->page;
		plan->size = round_up(plan, plan->bss_at + plan->bss->p_memsz);
	}
	plan->code_at = plan->size;
	plan->code_size = round_up(plan, code_size);
	plan->size += plan->code_size;
}

int loader_copy(const struct image_arch *arch, const unsigned char *loader, size_t size,
		const unsigned char *code, size_t code_size, struct follow *config,
		unsigned char **ret_copy, size_t *ret_size)
{
	struct plan plan = {.page = arch->unit};
	unsigned char *copy = NULL;
	int r = read_headers(&plan, arch->machine, loader, size);

	if (r == 0 && code_size % FOLLOW_ALIGN != 0)
		r = -ENOEXEC;
	if (r == 0) {
		lay_out(&plan, size, code_size + sizeof(*config));
		copy = calloc(1, plan.size);
		r = copy != NULL ? 0 : -ENOMEM;
	}
	if (r == 0) {
		memcpy(copy, loader, size);
		if (plan.bss != NULL) {
			memcpy(copy + plan.bss_at, loader + plan.bss->p_offset, plan.bss->p_filesz);
			move_sections(&plan, copy, size, plan.bss->p_offset, plan.bss->p_filesz);
			move_segment(&plan, plan.bss_at);
		}
		config->segment = round_up(&plan, plan.end);
		config->entry = plan.ehdr.e_entry;
		*plan.spare = (Elf64_Phdr){.p_type = PT_LOAD,
					   .p_flags = PF_R | PF_X,
					   .p_offset = plan.code_at,
					   .p_vaddr = config->segment,
					   .p_paddr = config->segment,
					   .p_filesz = plan.code_size,
					   .p_memsz = plan.code_size,
					   .p_align = plan.page};
		plan.ehdr.e_entry = config->segment;
		memcpy(copy, &plan.ehdr, sizeof(plan.ehdr));
		memcpy(copy + plan.ehdr.e_phoff, plan.phdr, plan.ehdr.e_phnum * sizeof(Elf64_Phdr));
		memcpy(copy + plan.code_at, code, code_size);
		memcpy(copy + plan.code_at + code_size, config, sizeof(*config));
		*ret_copy = copy;
		*ret_size = plan.size;
	}
	free(plan.phdr);
	return r;
}
