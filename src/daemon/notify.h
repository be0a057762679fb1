/* SPDX-License-Identifier: MIT */
/*
 * notify.h - what a service manager wants to know: one datagram to $NOTIFY_SOCKET.
 *
 * The protocol is that of sd_notify(3). Without a service manager nothing happens.
 */
#ifndef NOTIFY_H
#define NOTIFY_H

#include <stdint.h>

/* Reads NOTIFY_SOCKET, WATCHDOG_USEC and WATCHDOG_PID, and takes them out of the environment. Call
 * it once, before any sandbox. */
void notify_init(void);

/* "READY=1", "STOPPING=1", "WATCHDOG=1", "STATUS=...". Failures are nobody's business. */
void notify_send(const char *state);

/* How often WATCHDOG=1 is due, in ns; 0: never. */
uint64_t notify_watchdog_ns(void);

#endif /* NOTIFY_H */
