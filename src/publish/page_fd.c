/* SPDX-License-Identifier: MIT */
/* page_fd.c - see page_fd.h. Must be called before a lock is taken: closing a copy lets it go. */
#include "publish/page_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

int page_fd_keep(int fd)
{
	int kept = fd, r;

	if (fd < 0)
		return -errno;
	if (fd <= STDERR_FILENO) {
		kept = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		r = -errno;
		close(fd);
		if (kept < 0)
			return r;
	}
	return kept;
}

int page_fd_allows(size_t bytes)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
		return 0;
	return limit.rlim_cur < bytes ? -EFBIG : 0;
}
