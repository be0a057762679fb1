/* SPDX-License-Identifier: MIT */
/*
 * host.h - the machine that this code is built for, as e_machine has it. Included by vdso_find.c.
 * A new architecture is one line here and one row in vdso_names.h.
 */
#ifndef ELF_ARCH_HOST_H
#define ELF_ARCH_HOST_H

#include <elf.h>

#if defined(__x86_64__)
#define ELF_HOST_MACHINE EM_X86_64
#elif defined(__i386__)
#define ELF_HOST_MACHINE EM_386
#elif defined(__aarch64__)
#define ELF_HOST_MACHINE EM_AARCH64
#elif defined(__riscv)
#define ELF_HOST_MACHINE EM_RISCV
#else
#error "vclock does not know this architecture's vDSO: add it here and to vdso_names.h"
#endif

#endif /* ELF_ARCH_HOST_H */
