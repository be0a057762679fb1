/* SPDX-License-Identifier: MIT */
/*
 * pid.c - the process's id, remembered in memory that a fork wipes.
 *
 * A child that shares its parent's memory (vfork, CLONE_VM) also shares the word. Stored there is
 * only the id of a process of which we know that it is not such a child. Must never store where
 * that cannot be told.
 */
#include "lib/process.h"

/* <linux/kcmp.h>, which is not at hand with every libc: do two processes share their memory? */
#define KCMP_VM 1

const volatile uint32_t *vclock_pid_word(void)
{
	return &lib_process.pid;
}

enum memory { MEMORY_SHARED, MEMORY_OWN, MEMORY_UNKNOWN };

/*
 * Whose this process's memory is. The one that ran the constructor is known by a word
 * that only it can find: forked children find it wiped, and those that share the memory have
 * another id. Others ask the kernel to compare with the parent, which fails where the parent may
 * not be looked at, or is outside of the PID namespace.
 *
 * What is not seen: a child that shares memory with another process than its parent (made with
 * CLONE_PARENT, or whose parent has died).
 */
static enum memory whose_memory(int32_t pid)
{
	long parent, r;

	if (lib_process.constructed == (uint32_t)pid)
		return MEMORY_OWN;
	parent = raw_syscall2(SYS_getppid, 0, 0);
	r = parent <= 0 ? -ESRCH : raw_syscall5(SYS_kcmp, pid, parent, KCMP_VM, 0, 0);
	if (r < 0)
		return MEMORY_UNKNOWN;
	return r > 0 ? MEMORY_OWN : MEMORY_SHARED;
}

bool process_shares_memory(void)
{
	return whose_memory(raw_getpid()) == MEMORY_SHARED;
}

int32_t vclock_getpid_slow(void)
{
	int32_t pid = raw_getpid();
	enum memory memory;

	if (!lib_program.wipes || __atomic_load_n(&lib_process.no_pid, __ATOMIC_RELAXED) != 0)
		return pid;
	memory = whose_memory(pid);
	if (memory == MEMORY_OWN)
		__atomic_store_n(&lib_process.pid, (uint32_t)pid, __ATOMIC_RELAXED);
	else if (memory == MEMORY_UNKNOWN)
		__atomic_store_n(&lib_process.no_pid, 1, __ATOMIC_RELAXED);
	return pid;
}
