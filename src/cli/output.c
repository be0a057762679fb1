/* SPDX-License-Identifier: MIT */
/* output.c - see output.h. */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"

static int first_error;

static void note(bool has_failed)
{
	if (has_failed && first_error == 0)
		first_error = errno != 0 ? errno : EIO;
}

void output_begin(void)
{
	int fd;

	do {
		fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

void output(const char *fmt, ...)
{
	va_list ap;

	errno = 0;
	va_start(ap, fmt);
	note(vprintf(fmt, ap) < 0);
	va_end(ap);
}

bool output_flush(void)
{
	errno = 0;
	note(fflush(stdout) != 0);
	return first_error == 0;
}

/* Whether stdout is a pipe whose reader has gone. */
static bool reader_has_gone(void)
{
	struct pollfd pollfd = {.fd = STDOUT_FILENO, .events = POLLOUT};

	return poll(&pollfd, 1, 0) == 1 && (pollfd.revents & POLLERR) != 0;
}

int output_finish(int status)
{
	bool is_quiet = reader_has_gone();

	(void)output_flush();
	errno = 0;
	note(fclose(stdout) != 0);
	if (first_error == 0)
		return status;
	if (!is_quiet && first_error != EPIPE)
		cli_error(CLI_FAILURE, "stdout: %s", strerror(first_error));
	return CLI_FAILURE;
}
