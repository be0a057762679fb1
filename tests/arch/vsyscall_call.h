/* SPDX-License-Identifier: MIT */
/*
 * vsyscall_call.h - a system call without arguments through a __kernel_vsyscall, where there is
 * one.
 */
#ifndef VSYSCALL_CALL_H
#define VSYSCALL_CALL_H

#if defined(__i386__)
#define HAS_KERNEL_VSYSCALL 1
static inline long call_kernel_vsyscall(const void *entry, long number)
{
	__asm__ __volatile__("call *%1" : "+a"(number) : "r"(entry) : "memory", "cc");
	return number;
}
#else
#define HAS_KERNEL_VSYSCALL 0
static inline long call_kernel_vsyscall(const void *entry, long number)
{
	(void)entry;
	return -number;
}
#endif

#endif /* VSYSCALL_CALL_H */
