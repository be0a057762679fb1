/* SPDX-License-Identifier: MIT */
/*
 * rawcall_generic.h - what aarch64 and riscv64 share: the kernel's generic table of system calls,
 * which has none of the older ones. Included by their files only.
 */
#ifndef RAWCALL_GENERIC_H
#define RAWCALL_GENERIC_H

#define RAWCALL_CLOCK_GETTIME SYS_clock_gettime
/* The C library's time() asks for the coarse clock. */
#define RAWCALL_TIME RAWCALL_NO_TIME
/* What the library calls here, by name. */
#define RAWCALL_NAMES_GETTIME "clock_gettime"
#define RAWCALL_NAMES_GETRES "clock_getres"
#define RAWCALL_NAMES_GETTIMEOFDAY "gettimeofday"
#define RAWCALL_NAMES_MMAP "mmap"
#define RAWCALL_NAMES_READ "openat, fcntl, read, close"
#define RAWCALL_NAMES_FILE "openat, fcntl, read, newfstatat, fstat, mmap, munmap, close"
#define RAWCALL_NAMES_LSTAT "newfstatat, fstat"
#define RAWCALL_NAMES_LOCK "fcntl"
#define RAWCALL_NAMES_LIMIT "prlimit64"
#define RAWCALL_NAMES_TRUNCATE "ftruncate"
#define RAWCALL_NAMES_UNLINK "unlinkat"
#define RAWCALL_NAMES_RENAME "renameat, renameat2"
#define RAWCALL_NAMES_FUTEX "futex"
#define RAWCALL_NAMES_CPUID ""

#endif /* RAWCALL_GENERIC_H */
