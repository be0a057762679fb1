/* SPDX-License-Identifier: MIT */
/*
 * wake.h - what ends the wait between two steps: the time, a set clock, a signal.
 */
#ifndef WAKE_H
#define WAKE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * SIGTERM and SIGINT are kept for wake_wait() from now on, SIGHUP and SIGPIPE are nobody's. 0 or
 * -errno. Before any sandbox.
 */
int wake_init(void);

/*
 * Waits for ns, or until REALTIME is set, which it also was when it was set since the last wait.
 * *ret_is_over: SIGTERM or SIGINT has come, before or meanwhile. 0 or -errno.
 */
int wake_wait(uint64_t ns, bool *ret_is_over);

#endif /* WAKE_H */
