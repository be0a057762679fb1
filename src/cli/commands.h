/* SPDX-License-Identifier: MIT */
/*
 * commands.h - the commands of the tools' program, in the order of `vclock --help`.
 *
 * ROW(name, "one line of help"): the function is cmd_name(), argv[0] its name. It returns an exit
 * code of cli.h.
 */
#ifndef COMMANDS_H
#define COMMANDS_H

/* clang-format off */
#define TOOL_COMMANDS(ROW)                                                     \
	ROW(info, "every clock of this machine: route, cost, and why")         \
	ROW(bench, "what a call costs: libc, vDSO, system call, vclock")       \
	ROW(verify, "are the clocks right? every route, judged by the kernel") \
	ROW(page, "what is on a time page, and how far it is from the kernel") \
	ROW(vdso, "what a vDSO image holds, of a process or a file")
/* clang-format on */

#define COMMAND_DECLARE(name, help) int cmd_##name(int argc, char **argv);
TOOL_COMMANDS(COMMAND_DECLARE)
#undef COMMAND_DECLARE

#endif /* COMMANDS_H */
