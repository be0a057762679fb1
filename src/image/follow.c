/* SPDX-License-Identifier: MIT */
/*
 * follow.c - what a followed program runs before its dynamic loader; see follow.h.
 *
 * Freestanding, and linked to a flat file whose first byte is the entry. Whatever fails, it takes
 * back what it did and the program starts as it would have. It must never have data, nor keep a
 * descriptor or write to memory but its stack, the auxiliary vector and what it maps.
 */
#include "image/follow.h"

#include <elf.h>

#include FOLLOW_ARCH_H

#define PROT_READ_ 1
#define PROT_WRITE_ 2
#define MAP_SHARED_ 1
#define MAP_PRIVATE_ 2
#define MAP_FIXED_ 16
#define MAP_ANONYMOUS_ 32
#define AT_FDCWD_ (-100)
#define O_CLOEXEC_ 02000000
#define MADV_WIPEONFORK_ 18
#define PR_SET_MM_ 35
#define PR_SET_MM_MAP_ 14
#define PR_GET_SECCOMP_ 21
#define NO_FD (-1l)
/* The least that a kernel may have; it rounds lengths up itself. */
#define PAGE 4096ul

/* As linux/prctl.h has it. */
struct mm_map {
	uint64_t start_code, end_code, start_data, end_data, start_brk, brk, start_stack;
	uint64_t arg_start, arg_end, env_start, env_end;
	uint64_t auxv;
	uint32_t auxv_size;
	uint32_t exe_fd;
};

/* The program's stack at its start. */
struct start {
	uint64_t *argc, *envp, *auxv, *auxv_end;
	uint64_t *vdso, *base, *entry; /* values in the vector; NULL: not there */
	uint64_t phdr, phnum, secure;
};

extern const unsigned char follow_begin[] __attribute__((visibility("hidden")));
extern const struct follow follow_config __attribute__((visibility("hidden")));

uint64_t follow_main(uint64_t *stack) __attribute__((visibility("hidden"), used));

static const struct follow_mark mark __attribute__((section(".mark"), used)) = {
	.mark = FOLLOW_MARK, .version = FOLLOW_VERSION, .machine = FOLLOW_MACHINE};

VCLOCK_STATIC_ASSERT(sizeof(mark) == FOLLOW_MARK_SIZE);

static int failed(long result)
{
	return (unsigned long)result > -4096ul;
}

static void read_start(uint64_t *stack, struct start *start)
{
	uint64_t *p;

	start->vdso = start->base = start->entry = 0;
	start->phdr = start->phnum = 0;
	start->secure = 1;
	start->argc = stack;
	start->envp = stack + 1 + *stack + 1;
	for (p = start->envp; *p != 0; p++)
		;
	for (start->auxv = ++p; *p != AT_NULL; p += 2) {
		if (*p == AT_SYSINFO_EHDR)
			start->vdso = p + 1;
		else if (*p == AT_BASE)
			start->base = p + 1;
		else if (*p == AT_ENTRY)
			start->entry = p + 1;
		else if (*p == AT_PHDR)
			start->phdr = p[1];
		else if (*p == AT_PHNUM)
			start->phnum = p[1];
		else if (*p == AT_SECURE)
			start->secure = p[1];
	}
	start->auxv_end = p + 2;
}

/* The kernel's own image, and the one that the launcher knew? */
static int is_kernels(const uint64_t *vdso, const struct follow *config)
{
	const uint64_t *known = (const uint64_t *)(const void *)config->vdso_head;
	const uint64_t *here;
	unsigned i;

	if (vdso == 0 || *vdso == 0 || *vdso % PAGE != 0)
		return 0;
	here = (const uint64_t *)(*vdso + sizeof(Elf64_Ehdr));
	for (i = 0; i < FOLLOW_HEAD / 8; i++)
		if (here[i] != known[i])
			return 0;
	return 1;
}

/* A filter that came later may kill for a system call that a loader does not make. */
static int may_be_killed(const struct follow *config)
{
	return !config->is_filtered &&
	       raw_call(FOLLOW_SYS_PRCTL, PR_GET_SECCOMP_, 0, 0, 0, 0, 0) != 0;
}

static long map_file(const char *path, uint64_t at, uint64_t size, int prot, int flags)
{
	long fd = raw_call(FOLLOW_SYS_OPENAT, AT_FDCWD_, (long)path, O_CLOEXEC_, 0, 0, 0), r;

	if (failed(fd))
		return fd;
	r = raw_call(FOLLOW_SYS_MMAP, (long)at, (long)size, prot, flags | MAP_FIXED_, fd, 0);
	raw_call(FOLLOW_SYS_CLOSE, fd, 0, 0, 0, 0, 0);
	return r;
}

static void fill_process(struct process_page *process, const struct process_page *from,
			 uint64_t vdso)
{
	unsigned i;

	process->magic = from->magic;
	process->version = from->version;
	process->size = from->size;
	process->flags = from->flags;
	for (i = 0; i < PROCESS_FUNCTIONS; i++)
		process->function[i] = from->function[i] != 0 ? vdso + from->function[i] : 0;
}

/* Where the image is, or 0. */
static uint64_t map_image(const struct follow *config, uint64_t vdso)
{
	const uint64_t unit = FOLLOW_UNIT, front = PROCESS_UNITS * unit;
	uint64_t total = front + ((config->image_size + PAGE - 1) & -PAGE), area;
	long r = raw_call(FOLLOW_SYS_MMAP, 0, (long)total, PROT_READ_ | PROT_WRITE_,
			  MAP_PRIVATE_ | MAP_ANONYMOUS_, NO_FD, 0);

	if (failed(r))
		return 0;
	area = (uint64_t)r;
	r = map_file(config->page, area, unit, PROT_READ_, MAP_SHARED_);
	if (!failed(r))
		r = map_file(config->image, area + front, config->image_size, FOLLOW_PROT,
			     MAP_PRIVATE_);
	if (!failed(r))
		r = raw_call(FOLLOW_SYS_MADVISE, (long)(area + 2 * unit), (long)unit,
			     MADV_WIPEONFORK_, 0, 0, 0);
	if (!failed(r)) {
		fill_process((struct process_page *)(area + unit), &config->process, vdso);
		r = raw_call(FOLLOW_SYS_MPROTECT, (long)(area + unit), (long)unit, PROT_READ_, 0, 0,
			     0);
	}
	if (!failed(r))
		return area + front;
	raw_call(FOLLOW_SYS_MUNMAP, (long)area, (long)total, 0, 0, 0, 0);
	return 0;
}

/* The kernel's figures of code and data, as it makes them of the program's headers at execve. */
static int read_program(const struct start *start, struct mm_map *mm)
{
	const Elf64_Phdr *phdr = (const Elf64_Phdr *)start->phdr;
	uint64_t bias = 0, i, end;
	int has_bias = 0;

	mm->start_code = ~0ul;
	mm->end_code = mm->start_data = mm->end_data = 0;
	for (i = 0; i < start->phnum; i++)
		if (phdr[i].p_type == PT_PHDR) {
			bias = start->phdr - phdr[i].p_vaddr;
			has_bias = 1;
		}
	for (i = 0; has_bias && i < start->phnum; i++) {
		if (phdr[i].p_type != PT_LOAD)
			continue;
		end = bias + phdr[i].p_vaddr + phdr[i].p_filesz;
		if ((phdr[i].p_flags & PF_X) && bias + phdr[i].p_vaddr < mm->start_code)
			mm->start_code = bias + phdr[i].p_vaddr;
		if ((phdr[i].p_flags & PF_X) && end > mm->end_code)
			mm->end_code = end;
		if (bias + phdr[i].p_vaddr > mm->start_data)
			mm->start_data = bias + phdr[i].p_vaddr;
		if (end > mm->end_data)
			mm->end_data = end;
	}
	return mm->end_code != 0;
}

static uint64_t end_of_text(const char *text)
{
	while (*text != '\0')
		text++;
	return (uint64_t)(text + 1);
}

/* Debuggers and core files read the kernel's copy of the vector. */
static void tell_kernel(const struct start *start)
{
	uint64_t argc = *start->argc;
	uint64_t *last = start->auxv - 2; /* of the environment */
	struct mm_map mm;

	if (argc == 0 || !read_program(start, &mm))
		return;
	mm.brk = mm.start_brk = (uint64_t)raw_call(FOLLOW_SYS_BRK, 0, 0, 0, 0, 0, 0);
	mm.start_stack = (uint64_t)start->argc;
	mm.arg_start = start->argc[1];
	mm.arg_end = mm.env_start = mm.env_end = end_of_text((const char *)start->argc[argc]);
	if (last >= start->envp)
		mm.env_end = end_of_text((const char *)*last);
	mm.auxv = (uint64_t)start->auxv;
	mm.auxv_size = (uint32_t)((uint64_t)start->auxv_end - (uint64_t)start->auxv);
	mm.exe_fd = ~0u; /* unchanged */
	raw_call(FOLLOW_SYS_PRCTL, PR_SET_MM_, PR_SET_MM_MAP_, (long)&mm, sizeof(mm), 0, 0);
}

/* Returns where the loader's own entry is. */
uint64_t follow_main(uint64_t *stack)
{
	const struct follow *config = &follow_config;
	uint64_t base = (uint64_t)follow_begin - config->segment, image;
	struct start start;

	read_start(stack, &start);
	/* The loader as a command: it knows that by its entry's address. */
	if (start.entry != 0 && (start.base == 0 || *start.base == 0))
		*start.entry = base + config->entry;
	if (start.secure != 0 || !is_kernels(start.vdso, config) || may_be_killed(config))
		return base + config->entry;
	image = map_image(config, *start.vdso);
	if (image != 0) {
		*start.vdso = image;
		tell_kernel(&start);
	}
	return base + config->entry;
}
