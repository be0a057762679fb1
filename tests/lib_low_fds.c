/* SPDX-License-Identifier: MIT */
/*
 * A publisher in a program without standard files, or with a limit on the size of files: its page
 * is never what the program prints to, nothing is killed by SIGXFSZ, and what is in the way of a
 * page stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support_lib.h"
#include "tap.h"

/* How many of 0, 1, 2 the publisher took; 99: it did not start. */
static int without_files(const char *path)
{
	int fd, taken = 0;

	for (fd = 0; fd <= STDERR_FILENO; fd++)
		close(fd);
	if (support_publish(path) != 0)
		return 99;
	for (fd = 0; fd <= STDERR_FILENO; fd++)
		taken += fcntl(fd, F_GETFD) >= 0;
	vclock_publisher_stop();
	return taken;
}

static int with_small_files(const char *path)
{
	struct rlimit limit = {VCLOCK_PAGE_SIZE - 1, RLIM_INFINITY};

	if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
		return 99;
	if (support_publish(path) != -EFBIG)
		return 1;
	limit.rlim_cur = VCLOCK_PAGE_SIZE;
	return setrlimit(RLIMIT_FSIZE, &limit) != 0 || support_publish(path) != 0;
}

static int run(const char *what)
{
	const char *path = strchr(what, ' ');

	if (path != NULL)
		path++;
	return what[0] == 'f' ? without_files(path) : with_small_files(path);
}

static int again(const char *what, const char *path)
{
	char argument[PATH_MAX];

	snprintf(argument, sizeof(argument), "%s%s%s", what, path != NULL ? " " : "",
		 path != NULL ? path : "");
	return support_again(argument, NULL);
}

static void in_the_way(void)
{
	static const char text[] = "some notes";
	char found[sizeof(text)] = "";
	int fd = open(support_write("notes", text, sizeof(text)), O_RDONLY | O_CLOEXEC);

	tap_ok(support_publish(support_path("notes")) == -EEXIST,
	       "a file that is no page: -EEXIST");
	tap_ok(pread(fd, found, sizeof(found), 0) == (ssize_t)sizeof(found) &&
		       memcmp(found, text, sizeof(text)) == 0,
	       "... and it stays");
	tap_ok(access(support_path("notes.lock"), F_OK) != 0, "... without a lock beside it");
	close(fd);
	tap_ok(mkfifo(support_path("fifo"), 0600) == 0 &&
		       support_publish(support_path("fifo")) == -EEXIST,
	       "a FIFO");
	tap_ok(mkdir(support_path("folder"), 0700) == 0 &&
		       support_publish(support_path("folder")) == -EISDIR,
	       "a folder");
	tap_ok(support_publish(support_write("empty", "", 0)) == 0, "an empty file is replaced");
	vclock_publisher_stop();
}

int main(int argc, char **argv)
{
	const char *what = support_what(argc, argv);

	if (what != NULL)
		support_exit(run(what));
	if (support_is_emulated()) {
		tap_skip("low descriptors", "the emulator does not run other programs");
		return tap_done();
	}
	tap_ok(again("files", NULL) == 0, "no standard files: a private page takes none of them");
	tap_ok(again("files", support_path("page")) == 0, "... nor does a page file, or its lock");
	tap_ok(again("small", NULL) == 0, "files that may not be as long as a page: -EFBIG");
	tap_ok(again("small", support_path("small")) == 0, "... in a folder, too");
	in_the_way();
	return tap_done();
}
