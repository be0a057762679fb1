/* SPDX-License-Identifier: MIT */
/*
 * saved_auxv.h - the kernel's copy of this process's auxiliary vector, which debuggers and core
 * files go by; getauxval() tells of the one on the stack.
 */
#ifndef SAVED_AUXV_H
#define SAVED_AUXV_H

/* AT_SYSINFO_EHDR; 0: it has none. */
unsigned long saved_ehdr(void);

#endif /* SAVED_AUXV_H */
