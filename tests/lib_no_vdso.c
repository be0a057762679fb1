/* SPDX-License-Identifier: MIT */
/*
 * AT_SYSINFO_EHDR missing or 0: every call is still right, through the system call (V01, V02). A
 * small tracer changes the auxiliary vector of a program that starts. What else may stand there is
 * in lib_false_vdso: libc would die of it first.
 */
#include <elf.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ptrace.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "arch/tracee_sp.h"
#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"

/* In the program that starts without a vDSO: libc's own clocks are not asked. */
static int run(void)
{
	struct vclock_timespec ts, mono;
	int32_t clk;
	int wrong = support_status().has_vdso != 0;

	for (clk = 0; clk < 8; clk++)
		wrong += vclock_gettime64(clk, &ts) != 0;
	wrong += support_outside(CLOCK_MONOTONIC, 100, 0, vclock_gettime64, NULL) != 0;
	wrong += support_outside(CLOCK_REALTIME_COARSE, 100, 0, vclock_gettime64, NULL) != 0;
	wrong += vclock_now64(&ts, &mono) != 0 || vclock_monotonic_ns() == 0;
	wrong += vclock_time64(NULL) <= 0 || vclock_getcpu(NULL, NULL) != 0;
	wrong += vclock_gettimeofday64(NULL, NULL) != 0 || vclock_getres64(0, NULL) != 0;
	return wrong;
}

/* The word's address in the tracee at its first instruction. */
static unsigned long find_entry(pid_t pid, unsigned long type)
{
	unsigned long regs[TRACEE_REGS], at, word = sizeof(long);
	struct iovec iov = {regs, sizeof(regs)};

	if (ptrace(PTRACE_GETREGSET, pid, NT_PRSTATUS, &iov) != 0)
		return 0;
	at = regs[TRACEE_SP];
	at += (1 + (unsigned long)ptrace(PTRACE_PEEKDATA, pid, at, NULL) + 1) * word;
	while (ptrace(PTRACE_PEEKDATA, pid, at, NULL) != 0)
		at += word;
	for (at += word; ptrace(PTRACE_PEEKDATA, pid, at, NULL) != 0; at += 2 * word)
		if ((unsigned long)ptrace(PTRACE_PEEKDATA, pid, at, NULL) == type)
			return at;
	return 0;
}

/* Runs this program again with the entry's type and value replaced; its status. */
static int run_with(unsigned long type, unsigned long value)
{
	unsigned long entry;
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		execl("/proc/self/exe", "lib_no_vdso", "run", (char *)NULL);
		_exit(254);
	}
	if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
		return 253;
	entry = find_entry(pid, AT_SYSINFO_EHDR);
	if (entry != 0) {
		ptrace(PTRACE_POKEDATA, pid, entry, type);
		ptrace(PTRACE_POKEDATA, pid, entry + sizeof(long), value);
	}
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return entry != 0 ? support_wait(pid) : 252;
}

int main(int argc, char **argv)
{
	if (support_what(argc, argv) != NULL)
		support_exit(run());
	if (support_is_emulated()) {
		tap_skip("no vDSO", "the emulator has no ptrace");
		return tap_done();
	}
	if (getauxval(AT_SYSINFO_EHDR) == 0) {
		tap_ok(run() == 0, "no vDSO to begin with");
		return tap_done();
	}
	/* AT_IGNORE is for entries that nobody shall look at. */
	tap_ok(run_with(AT_IGNORE, 0) == 0, "the entry is missing");
	tap_ok(run_with(AT_SYSINFO_EHDR, 0) == 0, "the entry is 0");
	tap_ok(run() != 0, "the judge tells when there is one");
	return tap_done();
}
