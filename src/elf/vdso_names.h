/* SPDX-License-Identifier: MIT */
/*
 * vdso_names.h - what each architecture's kernel calls the functions of its vDSO.
 *
 * The names and versions are the kernel's ABI. Text stands in the rows themselves, so that the
 * table needs no relocation. An empty name: that architecture's vDSO never has the function.
 */
#ifndef VDSO_NAMES_H
#define VDSO_NAMES_H

#include <elf.h>
#include <stdint.h>

struct vdso_names {
	uint16_t machine; /* e_machine */
	uint8_t is_64;
	char version[16];
	char clock_gettime[28]; /* with 64-bit time */
	char clock_gettime32[28];
	char gettimeofday[28];
	char time[28];
	char clock_getres[28];
	char getcpu[28];
};

static const struct vdso_names vdso_names[] = {
	{
		.machine = EM_X86_64,
		.is_64 = 1,
		.version = "LINUX_2.6",
		.clock_gettime = "__vdso_clock_gettime",
		.gettimeofday = "__vdso_gettimeofday",
		.time = "__vdso_time",
		.clock_getres = "__vdso_clock_getres",
		.getcpu = "__vdso_getcpu",
	},
	{
		.machine = EM_386,
		.is_64 = 0,
		.version = "LINUX_2.6",
		.clock_gettime = "__vdso_clock_gettime64",
		.clock_gettime32 = "__vdso_clock_gettime",
		.gettimeofday = "__vdso_gettimeofday",
		.time = "__vdso_time",
		.clock_getres = "__vdso_clock_getres",
		.getcpu = "__vdso_getcpu",
	},
	{
		.machine = EM_AARCH64,
		.is_64 = 1,
		.version = "LINUX_2.6.39",
		.clock_gettime = "__kernel_clock_gettime",
		.gettimeofday = "__kernel_gettimeofday",
		.clock_getres = "__kernel_clock_getres",
	},
	{
		.machine = EM_RISCV,
		.is_64 = 1,
		.version = "LINUX_4.15",
		.clock_gettime = "__vdso_clock_gettime",
		.gettimeofday = "__vdso_gettimeofday",
		.clock_getres = "__vdso_clock_getres",
		.getcpu = "__vdso_getcpu",
	},
};

/* NULL: an architecture that is not in the table. */
static inline const struct vdso_names *vdso_names_of(uint16_t machine, int is_64)
{
	for (unsigned int i = 0; i < sizeof(vdso_names) / sizeof(vdso_names[0]); i++)
		if (vdso_names[i].machine == machine && vdso_names[i].is_64 == (is_64 != 0))
			return &vdso_names[i];
	return (const struct vdso_names *)0;
}

#endif /* VDSO_NAMES_H */
