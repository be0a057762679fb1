/* SPDX-License-Identifier: MIT */
/* image_arch.c - see image_arch.h. Touches nothing but its arguments. */
#include "attach/image_arch.h"

#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* mmap() ignores it where kernel or CPU do not have it. */
#define PROT_BTI_ 0x10

#define VDSO_FUNCTIONS                                    \
	[PROCESS_CLOCK_GETTIME] = "__vdso_clock_gettime", \
	[PROCESS_GETTIMEOFDAY] = "__vdso_gettimeofday",   \
	[PROCESS_CLOCK_GETRES] = "__vdso_clock_getres", [PROCESS_GETCPU] = "__vdso_getcpu"

#define OWN_ENTRIES(prefix)                                            \
	{                                                              \
		[VCLOCK_REALTIME] = prefix "clock_gettime_realtime",   \
		[VCLOCK_MONOTONIC] = prefix "clock_gettime_monotonic", \
		[VCLOCK_BOOTTIME] = prefix "clock_gettime_boottime",   \
		[VCLOCK_TAI] = prefix "clock_gettime_tai",             \
	}

static const struct image_arch arches[] = {
	{
		.machine = EM_X86_64,
		.is_64 = 1,
		.name = "x86_64",
		.loader = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-musl-x86_64.so.1"},
		.unit = PROCESS_UNIT_X86,
		.prot = PROT_READ | PROT_EXEC,
		.own = OWN_ENTRIES("__vdso_"),
		.functions = {VDSO_FUNCTIONS, [PROCESS_TIME] = "__vdso_time",
			      [PROCESS_GETRANDOM] = "__vdso_getrandom"},
	},
	{
		.machine = EM_386,
		.is_64 = 0,
		.name = "i386",
		.unit = PROCESS_UNIT_X86,
		.prot = PROT_READ | PROT_EXEC,
		.own = OWN_ENTRIES("__vdso_"),
		.functions =
			{
				[PROCESS_CLOCK_GETTIME] = "__vdso_clock_gettime64",
				[PROCESS_CLOCK_GETTIME32] = "__vdso_clock_gettime",
				[PROCESS_GETTIMEOFDAY] = "__vdso_gettimeofday",
				[PROCESS_TIME] = "__vdso_time",
				[PROCESS_CLOCK_GETRES] = "__vdso_clock_getres",
				[PROCESS_GETCPU] = "__vdso_getcpu",
				[PROCESS_VSYSCALL] = "__kernel_vsyscall",
				[PROCESS_SIGRETURN] = "__kernel_sigreturn",
				[PROCESS_RT_SIGRETURN] = "__kernel_rt_sigreturn",
			},
	},
	{
		.machine = EM_AARCH64,
		.is_64 = 1,
		.name = "aarch64",
		.loader = {"/lib/ld-linux-aarch64.so.1", "/lib/ld-musl-aarch64.so.1"},
		.unit = PROCESS_UNIT_AARCH64,
		.prot = PROT_READ | PROT_EXEC | PROT_BTI_,
		.own = OWN_ENTRIES("__kernel_"),
		.functions = {[PROCESS_CLOCK_GETTIME] = "__kernel_clock_gettime",
			      [PROCESS_GETTIMEOFDAY] = "__kernel_gettimeofday",
			      [PROCESS_CLOCK_GETRES] = "__kernel_clock_getres",
			      [PROCESS_GETRANDOM] = "__kernel_getrandom"},
	},
	{
		.machine = EM_RISCV,
		.is_64 = 1,
		.name = "riscv64",
		.loader = {"/lib/ld-linux-riscv64-lp64d.so.1", "/lib/ld-musl-riscv64.so.1"},
		.unit = PROCESS_UNIT_RISCV64,
		.prot = PROT_READ | PROT_EXEC,
		.own = OWN_ENTRIES("__vdso_"),
		.functions = {VDSO_FUNCTIONS},
	},
};

const struct image_arch *image_arch_of(uint16_t machine, bool is_64)
{
	unsigned i;

	for (i = 0; i < sizeof(arches) / sizeof(arches[0]); i++)
		if (arches[i].machine == machine && arches[i].is_64 == is_64)
			return &arches[i];
	return NULL;
}

void process_page_fill(struct process_page *process, const struct image_arch *arch,
		       const struct vclock_elf *elf, uint64_t base, uint32_t flags)
{
	const void *address;
	unsigned i;

	memset(process, 0, sizeof(*process));
	process->magic = PROCESS_MAGIC;
	process->version = PROCESS_VERSION;
	process->size = sizeof(*process);
	process->flags = flags;
	for (i = 0; elf != NULL && i < PROCESS_FUNCTIONS; i++) {
		if (arch->functions[i] == NULL ||
		    vclock_elf_lookup(elf, arch->functions[i], NULL, &address) != 0)
			continue;
		process->function[i] =
			base + (uint64_t)((const unsigned char *)address - elf->image);
	}
}

uint32_t process_page_flags(void)
{
	int64_t ts[2];

	return syscall(SYS_clock_gettime, VCLOCK_REALTIME_ALARM, ts) == 0 ? PROCESS_HAS_ALARM : 0;
}
