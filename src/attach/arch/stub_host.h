/* SPDX-License-Identifier: MIT */
/*
 * stub_host.h - picks what this build can inject into. A new architecture is a file like stub_x86.h
 * and one like tracee_x86_64.h, and a line here and in tracee_regs.h.
 */
#ifndef STUB_HOST_H
#define STUB_HOST_H

#include "attach/stub.h"

#if defined(__x86_64__)
#include "attach/arch/stub_x86.h"
#elif defined(__aarch64__)
#include "attach/arch/stub_aarch64.h"
#elif defined(__riscv) && __riscv_xlen == 64
#include "attach/arch/stub_riscv64.h"
#else
static inline const struct stub_arch *stub_host_arch(bool is_64)
{
	(void)is_64;
	return (const struct stub_arch *)0;
}
#endif

#endif /* STUB_HOST_H */
