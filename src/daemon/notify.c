/* SPDX-License-Identifier: MIT */
/* notify.c - see notify.h. Must never wait: the datagram is dropped when the socket is full. */
#include "daemon/notify.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static int notify_fd = -1;
static struct sockaddr_un notify_address;
static socklen_t notify_length;
static uint64_t watchdog_ns;

static void read_watchdog(void)
{
	const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");

	if (usec == NULL || (pid != NULL && strtol(pid, NULL, 10) != (long)getpid()))
		return;
	/* Half of the limit, as sd_watchdog_enabled(3) advises. */
	watchdog_ns = strtoull(usec, NULL, 10) * 1000 / 2;
}

static void read_socket(void)
{
	const char *path = getenv("NOTIFY_SOCKET");
	size_t length = path != NULL ? strlen(path) : 0;

	if (length < 2 || length >= sizeof(notify_address.sun_path) ||
	    (path[0] != '/' && path[0] != '@'))
		return;
	notify_address.sun_family = AF_UNIX;
	memcpy(notify_address.sun_path, path, length);
	notify_length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length);
	if (path[0] == '@') /* the abstract name space */
		notify_address.sun_path[0] = '\0';
	notify_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

void notify_init(void)
{
	read_socket();
	read_watchdog();
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
	unsetenv("WATCHDOG_PID");
}

void notify_send(const char *state)
{
	if (notify_fd >= 0)
		(void)sendto(notify_fd, state, strlen(state), MSG_NOSIGNAL,
			     (const struct sockaddr *)&notify_address, notify_length);
}

uint64_t notify_watchdog_ns(void)
{
	return watchdog_ns;
}
