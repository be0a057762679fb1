/* SPDX-License-Identifier: MIT */
/*
 * The publisher of a process: its options, its one thread, its file, start and stop, and what a
 * forked child may do.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"
#include "vclock/read.h"

static int start(struct vclock_publisher_options options)
{
	options.size = options.size != 0 ? options.size : sizeof(options);
	return vclock_publisher_start(&options);
}

/* An emulator has threads of its own. */
static int threads_before;

static int threads(void)
{
	DIR *dir = opendir("/proc/self/task");
	int count = 0;

	while (dir != NULL && readdir(dir) != NULL)
		count++;
	if (dir != NULL)
		closedir(dir);
	return count - 2 - threads_before;
}

/* The kernel lets who joins a thread go on a moment before it takes the thread off this list. */
static int has_threads(int count)
{
	int i;

	for (i = 0; threads() != count && i < 2000; i++)
		usleep(1000);
	return threads() == count;
}

/* One line of /proc/self/task/TID/status of the thread that is called name. */
static int find_thread(const char *name, const char *field, char ret_value[256])
{
	char path[300], line[256];
	struct dirent *entry;
	int found = 0;
	DIR *dir = opendir("/proc/self/task");

	while (dir != NULL && (entry = readdir(dir)) != NULL) {
		FILE *file;
		int is_it = 0;

		snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
		file = fopen(path, "r");
		while (file != NULL && fgets(line, sizeof(line), file) != NULL) {
			line[strcspn(line, "\n")] = '\0';
			if (strncmp(line, "Name:\t", 6) == 0)
				is_it = strcmp(line + 6, name) == 0;
			if (is_it && strncmp(line, field, strlen(field)) == 0) {
				strcpy(ret_value, line + strlen(field));
				found = 1;
			}
		}
		if (file != NULL)
			fclose(file);
	}
	if (dir != NULL)
		closedir(dir);
	return found;
}

static void options(void)
{
	struct {
		struct vclock_publisher_options options;
		uint32_t later;
	} longer;
	struct vclock_counter_status counter = {.size = sizeof(counter)};
	struct vclock_publisher_options plain = {.trust_counter = 1};
	int r;

	memset(&longer, 0, sizeof(longer));
	longer.options.size = sizeof(longer);
	longer.later = 1;
	tap_ok(vclock_publisher_start(&longer.options) == -E2BIG, "an option that is not known");
	plain.size = 8;
	tap_ok(vclock_publisher_start(&plain) == -EINVAL, "a size below the smallest");
	plain.size = 0;
	plain.interval_ns = 999999;
	tap_ok(start(plain) == -EINVAL, "an interval below 1 ms");
	plain.interval_ns = 40000001;
	tap_ok(start(plain) == -EINVAL, "an interval above 40 ms");
	plain.interval_ns = 5000000;
	plain.ahead_ns = 5000001;
	tap_ok(start(plain) == -EINVAL, "ahead by more than an interval");
	tap_ok(has_threads(0) && support_status().page_source == VCLOCK_PAGE_NONE,
	       "nothing is left behind");

	vclock_counter_status(NULL, &counter);
	r = vclock_publisher_start(NULL);
	tap_ok(counter.trust >= VCLOCK_TRUST_PROVE ? r == 0 : r == -EOPNOTSUPP,
	       "without trust_counter the kernel's list decides: %d, %s", r, counter.reason);
	vclock_publisher_stop();
	longer.later = 0;
	longer.options.trust_counter = 1;
	longer.options.wait_ms = 5000;
	tap_ok(vclock_publisher_start(&longer.options) == 0,
	       "a longer struct with a tail of zeros");
	vclock_publisher_stop();
}

static void thread(void)
{
	char value[256] = "";
	struct timespec a, b;
	int64_t took;

	tap_ok(support_is_emulated() || threads_before == 1, "no thread but this one before");
	tap_ok(support_publish(NULL) == 0 && support_status().page_source == VCLOCK_PAGE_OWN,
	       "started");
	tap_ok(support_publish(NULL) == -EALREADY, "a second one is refused");
	tap_ok(has_threads(1), "one thread");
	tap_ok(find_thread("vclock-publish", "SigBlk:\t", value) &&
		       (strtoull(value, NULL, 16) & (1u << (SIGALRM - 1) | 1u << (SIGTERM - 1))) ==
			       (1u << (SIGALRM - 1) | 1u << (SIGTERM - 1)),
	       "that takes no signal (%s)", value);
	tap_ok(mprotect((void *)(uintptr_t)vclock_page(), 4096, PROT_READ) == 0 &&
		       vclock_page()->writer_pid == (uint32_t)getpid(),
	       "the page is this process's");
	clock_gettime(CLOCK_MONOTONIC, &a);
	vclock_publisher_stop();
	clock_gettime(CLOCK_MONOTONIC, &b);
	took = (b.tv_sec - a.tv_sec) * INT64_C(1000000000) + b.tv_nsec - a.tv_nsec;
	tap_ok(has_threads(0) && took < 2000000000, "stopped, at once (%lld us)",
	       (long long)took / 1000);
	tap_ok(support_status().page_source == VCLOCK_PAGE_NONE && vclock_page()->generation == 0,
	       "the page is gone from the window");
	vclock_publisher_stop();
	tap_ok(support_publish(NULL) == 0, "started again");
	vclock_publisher_stop();
}

static int second_writer(void *path)
{
	return support_publish(path) != -EBUSY;
}

static void file(void)
{
	const char *path = support_path("page");
	const char *fresh = support_path("page.new");
	struct stat st = {.st_mode = 0};

	umask(077);
	tap_ok(support_publish(path) == 0 && stat(path, &st) == 0, "a page in a file");
	tap_ok((st.st_mode & 07777) == 0644 && st.st_size == 4096,
	       "of one page, mode 0644 whatever the umask");
	tap_ok(access(fresh, F_OK) != 0, "nothing else but the lock is left");
	if (support_is_emulated())
		tap_skip("a second writer", "the emulator cannot fork a program with threads");
	else
		tap_ok(support_child(second_writer, (void *)path) == 0,
		       "a second writer gets -EBUSY");
	tap_ok(strcmp(support_status().page_path, path) == 0, "the status tells the path");
	vclock_publisher_stop();
	tap_ok(access(path, F_OK) != 0, "stopped: the file is gone");
	tap_ok(support_publish("/nonexistent/folder/page") == -ENOENT &&
		       support_status().page_source == VCLOCK_PAGE_NONE,
	       "a folder that there is not");
	tap_ok(support_publish(path) == 0, "the same path again");
	vclock_publisher_stop();
	umask(022);
}

static void not_there(const char *path, int error)
{
	char lock[256];

	snprintf(lock, sizeof(lock), "%s.lock", path);
	unlink(lock);
	tap_ok(support_publish(path) == error && access(lock, F_OK) != 0 &&
		       support_status().page_source == VCLOCK_PAGE_NONE && has_threads(0),
	       "in \"%s\" there can be no page: %d at once, and no lock is left", path, error);
}

/* What can only be a folder's name. */
static void no_file_names(void)
{
	char folder[256];

	not_there("", -EINVAL);
	not_there(".", -EISDIR);
	not_there("..", -EISDIR);
	not_there("/", -EISDIR);
	snprintf(folder, sizeof(folder), "%s/", support_path("page"));
	not_there(folder, -EISDIR);
	strcpy(folder, support_path("folder"));
	mkdir(folder, 0755);
	not_there(folder, -EISDIR);
	rmdir(folder);
}

static bool is_retired(void)
{
	int i;

	for (i = 0; i < 3000 && support_status().page_retired == VCLOCK_RETIRED_NOT; i++)
		usleep(1000);
	return support_status().page_retired == VCLOCK_RETIRED_EXPOSED;
}

/* Others could write the page that this process reads. */
static void exposed(mode_t mode)
{
	enum vclock_route kernel = support_status().has_vdso ? VCLOCK_ROUTE_VDSO
							     : VCLOCK_ROUTE_SYSCALL;
	const char *path = support_path("page");

	support_publish(path);
	chmod(path, mode);
	/* The page stands still for a moment before the kernel answers. */
	tap_ok(is_retired() && support_wait_for_route(1, kernel) == 0 &&
		       support_outside(1, 1000, 0, vclock_gettime64, NULL) == 0,
	       "a page whose file has mode %03o ends, and the kernel answers", (unsigned)mode);
	vclock_publisher_stop();
	tap_ok(access(path, F_OK) != 0, "... and is removed");
}

static int child_reads(void *arg)
{
	(void)arg;
	if (support_outside(1, 1000, 1000000, vclock_gettime64, NULL) != 0 ||
	    support_wait_for_route(1, VCLOCK_ROUTE_PAGE) != 0 ||
	    support_status().page_source != VCLOCK_PAGE_INHERITED || !has_threads(0))
		return 1;
	vclock_publisher_stop(); /* not its own */
	if (support_wait_for_route(1, VCLOCK_ROUTE_PAGE) != 0)
		return 2;
	if (support_publish(NULL) != 0 || support_status().page_source != VCLOCK_PAGE_OWN ||
	    vclock_page()->writer_pid != (uint32_t)getpid() || !has_threads(1))
		return 3;
	vclock_publisher_stop();
	return support_outside(1, 1000, 0, vclock_gettime64, NULL) != 0 ? 4 : 0;
}

/* Outlives its parent's publisher. */
static int child_waits(int fd)
{
	enum vclock_route kernel = support_status().has_vdso ? VCLOCK_ROUTE_VDSO
							     : VCLOCK_ROUTE_SYSCALL;
	char byte;

	vclock_monotonic_ns();
	if (read(fd, &byte, 1) < 0 || support_wait_for_route(1, kernel) != 0)
		return 1;
	return support_status().clock[1].reason != VCLOCK_REASON_RETIRED ||
	       support_outside(1, 1000, 0, vclock_gettime64, NULL) != 0 ||
	       support_status().fallbacks_by_reason[VCLOCK_REASON_RETIRED] == 0;
}

static void children(void)
{
	int ends[2];
	pid_t pid;

	if (pipe(ends) != 0 || support_publish(NULL) != 0)
		abort();
	tap_ok(support_child(child_reads, NULL) == 0,
	       "a child reads, cannot stop it, and may have its own");
	tap_ok(support_wait_for_route(1, VCLOCK_ROUTE_PAGE) == 0, "its parent's goes on");
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(ends[1]);
		_exit(child_waits(ends[0]));
	}
	vclock_publisher_stop();
	close(ends[1]);
	tap_ok(support_wait(pid) == 0, "the parent stops: the child sees that, and why");
}

int main(void)
{
	unsetenv("VCLOCK_ROUTE");
	threads_before = threads();
	options();
	thread();
	file();
	no_file_names();
	exposed(0666);
	exposed(0664);
	if (support_is_emulated())
		tap_skip("children", "the emulator cannot fork a program with threads");
	else
		children();
	return tap_done();
}
