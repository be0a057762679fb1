/* SPDX-License-Identifier: MIT */
/*
 * library.c - see library.h.
 */
#include "cli/library.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/own_files.h"
#include "publish/page_fd.h"

#define SONAME "libvclock.so.0"

/* Each function: its place in struct library, and its name. */
#define FUNCTIONS(F)                                     \
	F(gettime, vclock_gettime64)                     \
	F(now, vclock_now64)                             \
	F(gettimeofday, vclock_gettimeofday64)           \
	F(time, vclock_time64)                           \
	F(getcpu, vclock_getcpu)                         \
	F(unordered_ns, vclock_monotonic_unordered_ns)   \
	F(own[VCLOCK_REALTIME], vclock_realtime64)       \
	F(own[VCLOCK_MONOTONIC], vclock_monotonic64)     \
	F(own[VCLOCK_MONOTONIC_RAW], vclock_raw64)       \
	F(own[VCLOCK_BOOTTIME], vclock_boottime64)       \
	F(own[VCLOCK_TAI], vclock_tai64)                 \
	F(own_ns[VCLOCK_REALTIME], vclock_realtime_ns)   \
	F(own_ns[VCLOCK_MONOTONIC], vclock_monotonic_ns) \
	F(own_ns[VCLOCK_MONOTONIC_RAW], vclock_raw_ns)   \
	F(own_ns[VCLOCK_BOOTTIME], vclock_boottime_ns)   \
	F(own_ns[VCLOCK_TAI], vclock_tai_ns)             \
	F(pid_word, vclock_pid_word)                     \
	F(getpid_slow, vclock_getpid_slow)               \
	F(page, vclock_page)                             \
	F(publisher_start, vclock_publisher_start)       \
	F(publisher_stop, vclock_publisher_stop)         \
	F(status, vclock_status)

struct function {
	size_t offset; /* in struct library */
	const char *name;
};

static const struct function functions[] = {
#define FUNCTION_ROW(place, name) {offsetof(struct library, place), #name},
	FUNCTIONS(FUNCTION_ROW)
#undef FUNCTION_ROW
};

static void use_linked_copy(struct library *library)
{
	memset(library, 0, sizeof(*library));
	library->word = "lib";
#define FUNCTION_ASSIGN(place, name) library->place = name;
	FUNCTIONS(FUNCTION_ASSIGN)
#undef FUNCTION_ASSIGN
}

/* All functions or none: a library of another version is not mixed with this one. */
static bool use_shared(struct library *library, const char *path)
{
	struct library found = {.word = "so"};
	void *handle, *address;
	size_t i;

	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	for (i = 0; handle != NULL && i < sizeof(functions) / sizeof(functions[0]); i++) {
		address = dlsym(handle, functions[i].name);
		if (address == NULL) {
			dlclose(handle);
			return false;
		}
		memcpy((char *)&found + functions[i].offset, &address, sizeof(address));
	}
	if (handle == NULL)
		return false;
	found.path = cli_format("%s", path);
	*library = found;
	return true;
}

void library_open(struct library *ret_library)
{
	/* Of build/CELL/vclock-tools, and of lib/vclock/vclock-tools. */
	static const char *const places[] = {SONAME, "../" SONAME, NULL};
	char path[PATH_MAX];

	/* A static program loads none. */
	if (!VCLOCK_HAS_SO || !own_file(places, path, sizeof(path)) ||
	    !use_shared(ret_library, path))
		use_linked_copy(ret_library);
}

/* The loader takes a file of another inode for another library. -1: it cannot be made. */
static int copy_in_memory(const char *path)
{
	struct stat st;
	off_t offset = 0;
	int from = open(path, O_RDONLY | O_CLOEXEC), to = -1;

	if (from >= 0 && fstat(from, &st) == 0 && page_fd_allows((size_t)st.st_size) == 0)
		to = memfd_create(SONAME, MFD_CLOEXEC);
	while (to >= 0 && offset < st.st_size) {
		if (sendfile(to, from, &offset, (size_t)(st.st_size - offset)) > 0)
			continue;
		close(to);
		to = -1;
	}
	if (from >= 0)
		close(from);
	return to;
}

bool library_open_limited(const struct library *library, struct library *ret_limited)
{
	char path[64];
	bool is_loaded;
	int fd;

	if (!VCLOCK_HAS_SO || library->path == NULL || getenv("VCLOCK_ROUTE") != NULL)
		return false;
	fd = copy_in_memory(library->path);
	if (fd < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	setenv("VCLOCK_ROUTE", "vdso", 1);
	is_loaded = use_shared(ret_limited, path);
	unsetenv("VCLOCK_ROUTE");
	close(fd);
	return is_loaded;
}
