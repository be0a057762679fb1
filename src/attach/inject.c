/* SPDX-License-Identifier: MIT */
/*
 * inject.c - see inject.h. Must never leave the program's registers pointing anywhere but at its
 * own entry or at a whole stub.
 */
#include "attach/inject.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/arch/raw_process.h"
#include "attach/arch/tracee_regs.h"
#include "attach/auxv.h"
#include "attach/image_arch.h"
#include "attach/stub.h"
#include "elf/elf_image.h"

/* From linux/prctl.h, which some C libraries' headers lack. */
#ifndef PR_SET_MM
#define PR_SET_MM 35
#endif
#define PR_SET_MM_MAP_ 14
#define MADV_WIPEONFORK_ 18

#define PAGE 4096u
#define VDSO_MAX (16 * PAGE) /* the kernel's images are 2 to 4 pages */
#define VDSO_USUAL (2 * PAGE)
#define SLACK_ALIGN 16u /* more than an instruction's */
#define AUXV_MAX 4096u	/* the kernel's has some 350 to 800 bytes */
/* A stack begins with argc, then pointers: the kernel limits strings and pointers to 6 MiB. */
#define POINTERS_MAX ((uint64_t)8 << 20)

/* As the kernel has it, also for 32-bit programs. */
struct mm_map {
	uint64_t start_code, end_code, start_data, end_data, start_brk, brk, start_stack;
	uint64_t arg_start, arg_end, env_start, env_end;
	uint64_t auxv;
	uint32_t auxv_size;
	uint32_t exe_fd;
};

struct tracee {
	struct inject *inject;
	pid_t pid;
	int mem_fd;
	struct tracee_regs regs;
	const struct stub_arch *stub;
	size_t auxv_size;
	uint64_t auxv_at; /* in the program */
	uint64_t slot_at; /* the value of AT_SYSINFO_EHDR in it */
	uint64_t vdso;
	size_t vdso_size;    /* whole pages */
	size_t slack;	     /* where the zeroes at their end begin, or what may be written over */
	bool drops_sections; /* the latter are the section headers */
	struct vclock_elf elf;
	const struct image_arch *arch;
	struct {
		struct stub_params params;
		struct mm_map mm;
	} below; /* the program's stack */
	bool has_mm;
	bool only_closes;   /* the stub: it maps nothing */
	uint64_t window_at; /* what of the stack is in window */
	size_t window_size;
	/* What is not filled is not touched. */
	unsigned char auxv[AUXV_MAX];
	unsigned char window[AUXV_MAX];
	unsigned char vdso_bytes[VDSO_MAX];
};

static struct tracee tracee;

VCLOCK_STATIC_ASSERT(sizeof(((struct tracee *)0)->below) <= STUB_BELOW - STUB_STACK);

bool inject_step(struct inject *inject, const char *what)
{
	if (inject->fail_step == 0 || ++inject->steps != inject->fail_step)
		return true;
	if (inject->step_signal != 0) {
		(void)raw_call(SYS_kill, raw_call(SYS_getpid, 0, 0, 0, 0, 0, 0),
			       inject->step_signal, 0, 0, 0, 0);
		return true;
	}
	inject->reason = what;
	return false;
}

static void touch(volatile unsigned char *from, size_t size)
{
	size_t i;

	for (i = 0; i < size; i += PAGE)
		from[i] = 0;
}

void inject_prepare(struct inject *inject)
{
	/* Read after the execve it tells of the program. */
	inject->stat_fd = (int)raw_call(SYS_openat, inject->proc_fd, (long)"stat",
					O_RDONLY | O_CLOEXEC, 0, 0, 0);
	touch((unsigned char *)&tracee, offsetof(struct tracee, vdso_bytes) + VDSO_USUAL);
}

static int fail(struct tracee *t, int error, const char *reason)
{
	t->inject->reason = reason;
	return error;
}

static bool read_at(const struct tracee *t, uint64_t address, void *to, size_t size)
{
	return pread(t->mem_fd, to, size, (off_t)address) == (ssize_t)size;
}

static bool write_at(const struct tracee *t, uint64_t address, const void *from, size_t size)
{
	return pwrite(t->mem_fd, from, size, (off_t)address) == (ssize_t)size;
}

static uint64_t word_of(const struct tracee *t, const void *bytes)
{
	uint64_t value = 0;

	memcpy(&value, bytes, t->stub->word);
	return value;
}

static int open_proc(const struct tracee *t, const char *name, int flags)
{
	return openat(t->inject->proc_fd, name, flags | O_CLOEXEC);
}

/* Of a file of /proc; the helper too has no more than the limit allows the program. */
static const char *unless_limit(const char *reason)
{
	return errno == EMFILE || errno == ENFILE ? "no descriptor" : reason;
}

static int open_tracee(struct tracee *t, struct inject *inject, pid_t pid)
{
	memset(t, 0, offsetof(struct tracee, auxv));
	t->inject = inject;
	t->pid = pid;
	t->mem_fd = -1;
	if (!inject_step(inject, "registers") || !tracee_regs_get(pid, &t->regs))
		return fail(t, -EIO, "its registers cannot be read");
	inject->is_64 = tracee_regs_is_64(&t->regs);
	t->stub = stub_arch_of(inject->is_64);
	if (t->stub == NULL)
		return fail(t, -ENOTSUP, "there is no image for programs of its word size");
	t->mem_fd = inject_step(inject, "memory") ? open_proc(t, "mem", O_RDWR) : -1;
	if (t->mem_fd < 0)
		return fail(t, -EACCES, unless_limit("its memory cannot be opened"));
	return 0;
}

/* The kernel's copy of the auxiliary vector, and what it says. */
static int read_auxv(struct tracee *t)
{
	int fd = inject_step(t->inject, "auxv") ? open_proc(t, "auxv", O_RDONLY) : -1;
	ssize_t n = fd >= 0 ? read(fd, t->auxv, sizeof(t->auxv)) : -1;

	if (fd >= 0)
		close(fd);
	if (n <= 0 || n == sizeof(t->auxv))
		return fail(t, -EACCES, unless_limit("its auxiliary vector cannot be read"));
	t->auxv_size = (size_t)n;
	if (auxv_word_size(t->auxv, t->auxv_size) != t->stub->word)
		return fail(t, -EINVAL, "its auxiliary vector is not of its word size");
	if (!auxv_find(t->auxv, t->auxv_size, t->stub->word, AT_SYSINFO_EHDR, &t->vdso) ||
	    t->vdso == 0 || t->vdso % PAGE != 0)
		return fail(t, -ENOENT, "the kernel gave it no vDSO");
	return 0;
}

static bool is_secure(const struct tracee *t)
{
	uint64_t secure = 0;

	return auxv_find(t->auxv, t->auxv_size, t->stub->word, AT_SECURE, &secure) && secure != 0;
}

/* Size bytes of the stack at address; NULL: not there. Most stacks take one read in all. */
static const unsigned char *look_up(struct tracee *t, uint64_t address, size_t size)
{
	uint64_t skip = address - t->window_at;

	if (skip > t->window_size || size > t->window_size - skip) {
		/* Less where the stack ends. */
		ssize_t n = pread(t->mem_fd, t->window, sizeof(t->window), (off_t)address);

		t->window_at = address;
		t->window_size = n > 0 ? (size_t)n : 0;
		skip = 0;
	}
	return size <= t->window_size - skip ? t->window + skip : NULL;
}

/* Walks words up from address, to the one after the next that is 0. */
static bool skip_pointers(struct tracee *t, uint64_t *address)
{
	uint64_t end = *address + POINTERS_MAX;
	const unsigned char *word;

	while (*address < end && (word = look_up(t, *address, t->stub->word)) != NULL) {
		*address += t->stub->word;
		if (word_of(t, word) == 0)
			return true;
	}
	return false;
}

/* On the stack: argc, argc pointers and a 0, the environment's and a 0, the vector. */
static bool find_auxv(struct tracee *t)
{
	uint64_t address = tracee_regs_sp(&t->regs), argc;
	const unsigned char *word = look_up(t, address, t->stub->word), *copy;
	size_t i;

	if (word == NULL)
		return false;
	argc = word_of(t, word);
	if (argc > POINTERS_MAX / t->stub->word)
		return false;
	address += (1 + argc) * t->stub->word;
	word = look_up(t, address, t->stub->word);
	if (word == NULL || word_of(t, word) != 0)
		return false;
	address += t->stub->word;
	if (!skip_pointers(t, &address))
		return false;
	/* The stack's copy ends with AT_NULL; behind it the kernel's has zeroes. */
	for (i = 0; i + 2 * t->stub->word <= t->auxv_size; i += 2 * t->stub->word)
		if (word_of(t, t->auxv + i) == AT_NULL)
			break;
	t->auxv_size = i + 2 * t->stub->word;
	copy = look_up(t, address, t->auxv_size);
	if (copy == NULL || memcmp(copy, t->auxv, t->auxv_size) != 0)
		return false;
	t->auxv_at = address;
	for (i = 0; word_of(t, t->auxv + i) != AT_SYSINFO_EHDR; i += 2 * t->stub->word)
		;
	t->slot_at = address + i + t->stub->word;
	return true;
}

/*
 * The kernel maps whole images, but before 6.4 or so its one segment ended before the section
 * headers: by what that says, there would be no room behind.
 */
static size_t end_of_sections(const struct tracee *t)
{
	Elf64_Ehdr ehdr64;
	Elf32_Ehdr ehdr32;
	uint64_t end;

	memcpy(&ehdr64, t->vdso_bytes, sizeof(ehdr64));
	memcpy(&ehdr32, t->vdso_bytes, sizeof(ehdr32));
	if (t->inject->is_64)
		end = ehdr64.e_shoff < VDSO_MAX
			      ? ehdr64.e_shoff + (uint64_t)ehdr64.e_shnum * ehdr64.e_shentsize
			      : 0;
	else
		end = ehdr32.e_shoff + (uint64_t)ehdr32.e_shnum * ehdr32.e_shentsize;
	return end <= VDSO_MAX ? (size_t)end : 0;
}

/*
 * Where there is no room behind, the section headers make some, and the image has none from then
 * on. They lie outside of what is loaded and are for debuggers, which look at the image that the
 * auxiliary vector names.
 */
static void make_room(struct tracee *t, size_t loaded)
{
	Elf64_Ehdr ehdr;
	size_t begin;

	if (t->stub->code_size <= t->vdso_size - t->slack || !t->elf.is_64)
		return;
	memcpy(&ehdr, t->vdso_bytes, sizeof(ehdr));
	begin = (size_t)(ehdr.e_shoff + SLACK_ALIGN - 1) / SLACK_ALIGN * SLACK_ALIGN;
	if (end_of_sections(t) == 0 || ehdr.e_shoff < loaded || begin > t->vdso_size ||
	    t->stub->code_size > t->vdso_size - begin)
		return;
	t->slack = begin;
	t->drops_sections = true;
}

static int read_vdso(struct tracee *t)
{
	size_t size = 0, whole, loaded;

	if (!inject_step(t->inject, "vDSO") || !read_at(t, t->vdso, t->vdso_bytes, PAGE) ||
	    elf_mapped_size(t->vdso_bytes, PAGE, VDSO_MAX, &size) != 0)
		return fail(t, -EINVAL, "the kernel's vDSO cannot be read");
	loaded = size;
	t->vdso_size = (size + PAGE - 1) / PAGE * PAGE;
	whole = (end_of_sections(t) + PAGE - 1) / PAGE * PAGE;
	if (whole > t->vdso_size && read_at(t, t->vdso, t->vdso_bytes, whole))
		t->vdso_size = whole;
	else if (!read_at(t, t->vdso, t->vdso_bytes, t->vdso_size))
		t->vdso_size = 0;
	if (t->vdso_size == 0 || vclock_elf_open(t->vdso_bytes, t->vdso_size, 1, &t->elf) != 0)
		return fail(t, -EINVAL, "the kernel's vDSO cannot be read");
	t->arch = image_arch_of(t->elf.machine, t->elf.is_64);
	if (t->arch == NULL || t->elf.is_64 != t->inject->is_64)
		return fail(t, -EINVAL, "the kernel's vDSO is of another machine");
	/* The last section's header may end with zeroes. */
	for (size = t->vdso_size; size > end_of_sections(t) && t->vdso_bytes[size - 1] == 0; size--)
		;
	t->slack = (size + SLACK_ALIGN - 1) / SLACK_ALIGN * SLACK_ALIGN;
	make_room(t, loaded);
	return 0;
}

/* Fields 26 to 28 and 45 to 51 of /proc/PID/stat. The kernel wants them all back. */
static bool read_mm(struct tracee *t)
{
	uint64_t *const to[] = {&t->below.mm.start_code, &t->below.mm.end_code,
				&t->below.mm.start_stack};
	uint64_t *const more[] = {&t->below.mm.start_data, &t->below.mm.end_data,
				  &t->below.mm.start_brk,  &t->below.mm.arg_start,
				  &t->below.mm.arg_end,	   &t->below.mm.env_start,
				  &t->below.mm.env_end};
	char text[1024], *p;
	ssize_t n = pread(t->inject->stat_fd, text, sizeof(text) - 1, 0);
	unsigned field;

	if (n <= 0)
		return false;
	text[n] = '\0';
	p = strrchr(text, ')'); /* a name may hold anything */
	for (field = 2; p != NULL && field <= 51; field++) {
		if (field >= 26 && field <= 28)
			*to[field - 26] = strtoull(p, NULL, 10);
		if (field >= 45)
			*more[field - 45] = strtoull(p, NULL, 10);
		p = strchr(p + 1, ' ');
		if (p != NULL)
			p++;
	}
	/* Nothing has been allocated yet. */
	t->below.mm.brk = t->below.mm.start_brk;
	t->below.mm.auxv = t->auxv_at;
	t->below.mm.auxv_size = (uint32_t)t->auxv_size;
	t->below.mm.exe_fd = UINT32_MAX; /* unchanged */
	return field == 52 && t->below.mm.start_code > 1;
}

static void add_step(struct tracee *t, struct stub_params *params, uint32_t number, uint32_t flags,
		     const uint64_t *arg)
{
	struct stub_step *step = &params->step[params->steps++];

	step->number = number;
	/* A number that no kernel has. */
	if (!(flags & STUB_STORE) && !inject_step(t->inject, "a step of the stub"))
		step->number = 0xffff;
	step->flags = flags;
	memcpy(step->arg, arg, sizeof(step->arg));
}

#define STEP(...) ((const uint64_t[6]){__VA_ARGS__})
#define NO_FD ((uint64_t)-1)

/* Nothing of a program that starts is there. */
static uint64_t below_at(const struct tracee *t)
{
	return tracee_regs_sp(&t->regs) - STUB_BELOW;
}

static void fill_steps(struct tracee *t)
{
	struct stub_params *params = &t->below.params;
	const struct inject *in = t->inject;
	const struct inject_image *image = &in->image[in->is_64];
	const uint64_t unit = t->arch->unit, front = PROCESS_UNITS * unit;
	const uint64_t shared = MAP_SHARED | MAP_FIXED, private = MAP_PRIVATE | MAP_FIXED;

	params->total = front + (image->size + PAGE - 1) / PAGE * PAGE;
	add_step(t, params, t->stub->sys_mmap, STUB_BASE,
		 STEP(0, params->total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, NO_FD,
		      0));
	add_step(t, params, t->stub->sys_mmap, STUB_RELATIVE,
		 STEP(0, 2 * unit, PROT_READ, shared, (uint64_t)in->area_fd, 0));
	if (in->page_fd >= 0)
		add_step(t, params, t->stub->sys_mmap, STUB_RELATIVE,
			 STEP(0, VCLOCK_PAGE_SIZE, PROT_READ, shared, (uint64_t)in->page_fd, 0));
	add_step(t, params, t->stub->sys_mmap, STUB_RELATIVE,
		 STEP(front, image->size, t->arch->prot, private, (uint64_t)image->fd, 0));
	add_step(t, params, t->stub->sys_madvise, STUB_RELATIVE,
		 STEP(2 * unit, unit, MADV_WIPEONFORK_, 0, 0, 0));
	add_step(t, params, 0, STUB_STORE, STEP(t->slot_at, front, 0, 0, 0, 0));
	/* Debuggers and core files read the kernel's copy of the vector. */
	if (t->has_mm)
		add_step(t, params, t->stub->sys_prctl, STUB_OPTIONAL,
			 STEP(PR_SET_MM, PR_SET_MM_MAP_,
			      below_at(t) + offsetof(struct tracee, below.mm) -
				      offsetof(struct tracee, below),
			      sizeof(struct mm_map), 0, 0));
}

static void fill_params(struct tracee *t)
{
	struct stub_params *params = &t->below.params;
	const struct inject *in = t->inject;

	params->entry = tracee_regs_pc(&t->regs);
	params->undo_slot = t->slot_at;
	params->undo_value = t->vdso;
	params->must = in->must;
	params->result_fd = t->only_closes ? -1 : in->result_fd;
	params->fd[0] = in->area_fd;
	params->fd[1] = in->page_fd;
	params->fd[2] = in->image[0].fd;
	params->fd[3] = in->image[1].fd;
	params->fd[4] = in->result_fd;
	params->fd[5] = -1;
	if (!t->only_closes)
		fill_steps(t);
}

static bool write_and_look(const struct tracee *t, uint64_t at, const void *bytes, size_t size)
{
	unsigned char back[PAGE];

	return size <= sizeof(back) && write_at(t, at, bytes, size) && read_at(t, at, back, size) &&
	       memcmp(bytes, back, size) == 0;
}

static bool drop_sections(const struct tracee *t)
{
	Elf64_Ehdr ehdr;

	if (!t->drops_sections)
		return true;
	memcpy(&ehdr, t->vdso_bytes, sizeof(ehdr));
	ehdr.e_shoff = 0;
	ehdr.e_shnum = 0;
	ehdr.e_shstrndx = SHN_UNDEF;
	return write_and_look(t, t->vdso, &ehdr, sizeof(ehdr));
}

static int write_stub(struct tracee *t)
{
	if (t->stub->code_size > t->vdso_size - t->slack)
		return fail(t, -ENOSPC, "there is no room behind the kernel's vDSO");
	fill_params(t);
	if (!inject_step(t->inject, "writing the stub") ||
	    !write_and_look(t, below_at(t), &t->below, sizeof(t->below)) || !drop_sections(t) ||
	    !write_and_look(t, t->vdso + t->slack, t->stub->code, t->stub->code_size))
		return fail(t, -EIO, "the stub cannot be written");
	return 0;
}

static int start_stub(struct tracee *t)
{
	tracee_regs_set_pc(&t->regs, t->vdso + t->slack);
	if (!inject_step(t->inject, "setting registers") || !tracee_regs_set(t->pid, &t->regs))
		return fail(t, -EIO, "its registers cannot be set");
	t->inject->has_stub = true;
	return 0;
}

/* What was written may be half a stub; nothing points at it. */
static void take_back(struct tracee *t)
{
	if (t->stub->code_size <= t->vdso_size - t->slack)
		(void)write_at(t, t->vdso + t->slack, t->vdso_bytes + t->slack, t->stub->code_size);
	if (t->drops_sections)
		(void)write_at(t, t->vdso, t->vdso_bytes, sizeof(Elf64_Ehdr));
}

static int place_stub(struct tracee *t)
{
	int r = write_stub(t);

	if (r == 0)
		r = start_stub(t);
	if (r != 0)
		take_back(t);
	return r;
}

static int inject_open(struct inject *inject, struct tracee *t, pid_t pid)
{
	int r = open_tracee(t, inject, pid);

	if (r == 0)
		r = read_auxv(t);
	if (r == 0 && is_secure(t))
		r = fail(t, -EPERM, "it runs with the rights of another user");
	if (r == 0 && (!inject_step(inject, "stack") || !find_auxv(t)))
		r = fail(t, -EINVAL, "its auxiliary vector is not on its stack");
	return r;
}

static void inject_close(struct tracee *t)
{
	if (t->mem_fd >= 0)
		close(t->mem_fd);
	t->mem_fd = -1;
}

int inject_at_exec(struct inject *inject, pid_t pid)
{
	struct tracee *t = &tracee;
	int r = inject_open(inject, t, pid);
	if (r == 0)
		r = read_vdso(t);
	if (r == 0 && inject->image[inject->is_64].fd < 0)
		r = fail(t, -ENOENT, "there is no image for its architecture");
	if (r == 0) {
		t->has_mm = read_mm(t);
		process_page_fill(inject->process, t->arch, inject->hides_vdso ? NULL : &t->elf,
				  t->vdso, process_page_flags());
		r = place_stub(t);
	}
	inject_close(t);
	return r;
}

bool inject_close_only(const struct inject *inject, pid_t pid)
{
	struct inject plain = *inject;
	struct tracee *t = &tracee;
	int r;

	plain.fail_step = 0;
	r = open_tracee(t, &plain, pid);
	t->only_closes = true;
	if (r == 0)
		r = read_auxv(t);
	if (r == 0)
		r = read_vdso(t);
	if (r == 0)
		r = place_stub(t);
	inject_close(t);
	return r == 0;
}

int inject_hide(struct inject *inject, pid_t pid)
{
	static const unsigned char zero[8];
	struct tracee *t = &tracee;
	int r = inject_open(inject, t, pid);
	if (r == 0 && !write_at(t, t->slot_at, zero, t->stub->word))
		r = fail(t, -EIO, "its stack cannot be written");
	inject_close(t);
	return r;
}

/* A system call instruction in the kernel's vDSO. */
static uint64_t find_syscall(const struct tracee *t)
{
	size_t i;

	for (i = 0; i + TRACEE_SYSCALL_SIZE <= t->vdso_size; i += TRACEE_GRID)
		if (tracee_is_syscall(t->inject->is_64, t->vdso_bytes + i))
			return t->vdso + i;
	return 0;
}

/* To the stop at the end of execve: before it, the kernel would overwrite the result register. */
static bool to_syscall_end(pid_t pid)
{
	const struct timespec pause = {0, 100000};
	int status, i;

	if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0)
		return false;
	for (i = 0; i < 10000; i++) {
		if (waitpid(pid, &status, __WALL | WNOHANG) == pid)
			return WIFSTOPPED(status) && (WSTOPSIG(status) & ~0x80) == SIGTRAP;
		nanosleep(&pause, NULL);
	}
	return false;
}

bool inject_refuse(const struct inject *inject, pid_t pid)
{
	struct inject plain = *inject;
	struct tracee *t = &tracee;
	uint64_t at = 0;
	bool is_set = false;

	plain.fail_step = 0;
	if (open_tracee(t, &plain, pid) == 0 && read_auxv(t) == 0 && read_vdso(t) == 0)
		at = find_syscall(t);
	if (at != 0 && to_syscall_end(pid) && tracee_regs_get(pid, &t->regs)) {
		tracee_regs_exit(&t->regs, at, 126);
		is_set = tracee_regs_set(pid, &t->regs);
	}
	inject_close(t);
	return is_set;
}
