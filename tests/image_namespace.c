/* SPDX-License-Identifier: MIT */
/*
 * A process whose clocks are not the page's gets the kernel's: a page of another time namespace is
 * noticed at the first call, also in a child that finds itself in another namespace after fork, and
 * the parent goes on with the page.
 */
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_image.h"
#include "tap.h"

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

#define SECOND INT64_C(1000000000)

static int is_kernels(const struct image_map *map, int32_t clk)
{
	struct vclock_timespec before, ts, after;

	oracle_syscall_gettime(clk, &before);
	map->gettime(clk, &ts);
	oracle_syscall_gettime(clk, &after);
	return oracle_ns(&ts) >= oracle_ns(&before) - 1000 &&
	       oracle_ns(&ts) <= oracle_ns(&after) + 1000;
}

static int all_are_kernels(const struct image_map *map)
{
	int i, good = 1;

	for (i = 0; i < 100; i++)
		good &= is_kernels(map, VCLOCK_MONOTONIC) && is_kernels(map, VCLOCK_BOOTTIME) &&
			is_kernels(map, VCLOCK_REALTIME);
	return good;
}

/* By how much the page is ahead, and whether it may be used. */
static void apart(int64_t offset_ns, int is_within)
{
	int fd = image_start_page_apart(offset_ns);
	struct image_map map;

	image_map(&map, fd, 1);
	/* The first call may have come while no line ran. */
	while (map.state->compared == PROCESS_NOT_COMPARED)
		is_kernels(&map, VCLOCK_MONOTONIC);
	tap_ok(map.state->compared == (is_within ? PROCESS_AGREES : PROCESS_DIFFERS),
	       "a page %lld us ahead is %s", (long long)(offset_ns / 1000),
	       is_within ? "within the tolerance" : "refused");
	if (!is_within)
		tap_ok(all_are_kernels(&map), "and the kernel answers");
	image_stop_page(VCLOCK_RETIRED_STOPPED);
	image_unmap(&map);
	close(fd);
}

static int write_offsets(void)
{
	static const char text[] = "monotonic 100000 0\nboottime 200000 0\n";
	int fd = open("/proc/self/timens_offsets", O_WRONLY), good;

	if (fd < 0)
		return 0;
	good = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return good;
}

enum { CHILD_GOOD = 0, CHILD_WRONG = 1, CHILD_CANNOT = 2 };

/* In a child of its own, since it cannot come back: a fork after unshare is in the new namespace.
 */
static int in_namespace(const struct image_map *map)
{
	struct vclock_timespec before, after;
	int status = 0;
	pid_t pid;

	oracle_syscall_gettime(VCLOCK_MONOTONIC, &before);
	if (unshare(CLONE_NEWTIME) != 0 || !write_offsets())
		return CHILD_CANNOT;
	pid = fork();
	if (pid == 0) {
		oracle_syscall_gettime(VCLOCK_MONOTONIC, &after);
		if (oracle_ns(&after) - oracle_ns(&before) < 100000 * SECOND)
			_exit(CHILD_CANNOT);
		_exit(all_are_kernels(map) ? CHILD_GOOD : CHILD_WRONG);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return CHILD_WRONG;
	return WEXITSTATUS(status);
}

static int fork_wipes(const struct image_map *map)
{
	int status = -1;
	pid_t pid = fork();

	if (pid == 0)
		_exit(map->state->compared != PROCESS_NOT_COMPARED);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void namespaces(void)
{
	int fd = image_start_page(), status = -1, i;
	struct image_map map;
	pid_t pid;

	image_map(&map, fd, 1);
	is_kernels(&map, VCLOCK_MONOTONIC);
	pid = fork();
	if (pid == 0)
		_exit(in_namespace(&map));
	waitpid(pid, &status, 0);
	if (!fork_wipes(&map))
		tap_skip("a child in another time namespace",
			 "the emulator does not wipe pages in a fork");
	else if (WIFEXITED(status) && WEXITSTATUS(status) == CHILD_CANNOT)
		tap_skip("a child in another time namespace",
			 "no time namespaces for this user or on this kernel");
	else
		tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == CHILD_GOOD,
		       "a child in another time namespace has its own clocks");
	/* While a busy machine keeps the page from answering, nothing is compared. */
	for (i = 0; i < 1000 && map.state->compared == PROCESS_NOT_COMPARED; i++) {
		usleep(1000);
		is_kernels(&map, VCLOCK_MONOTONIC);
	}
	tap_ok(map.state->compared == PROCESS_AGREES && is_kernels(&map, VCLOCK_MONOTONIC),
	       "its parent goes on with the page");
	image_unmap(&map);
}

int main(void)
{
	apart(10 * SECOND, 0);
	apart(-10 * SECOND, 0);
	apart(3000000, 0);
	apart(-3000000, 0);
	apart(500000, 1);
	namespaces();
	return tap_done();
}
