/* SPDX-License-Identifier: MIT */
/*
 * sandbox.h - after set-up the daemon may make only the system calls that its loop needs.
 */
#ifndef SANDBOX_H
#define SANDBOX_H

#include <stdbool.h>

/* Whether this build has libseccomp. */
bool sandbox_is_built_in(void);

/*
 * Puts the filter in place, for this process and for good. A call that is not on the list ends the
 * process (SIGSYS). 0, or -errno: not built in, or the kernel has no seccomp or refuses it here.
 */
int sandbox_enter(void);

#endif /* SANDBOX_H */
