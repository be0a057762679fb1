/* SPDX-License-Identifier: MIT */
/* own_files.c - see own_files.h. */
#include "cli/own_files.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* The first of the places that is there, seen from the folder of the program. */
static bool is_beside(const char *program, const char *const *places, char *ret_path, size_t size)
{
	const char *slash = strrchr(program, '/');

	if (slash == NULL)
		return false;
	for (; *places != NULL; places++)
		if (snprintf(ret_path, size, "%.*s%s", (int)(slash + 1 - program), program,
			     *places) < (int)size &&
		    access(ret_path, X_OK) == 0)
			return true;
	return false;
}

/*
 * The path that it was started by has to do without /proc, and where the whole path leads through a
 * folder that this user may not look into.
 */
bool own_file(const char *const *places, char *ret_path, size_t size)
{
	const char *started =
		(const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
	char program[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	program[n > 0 ? n : 0] = '\0';
	return is_beside(program, places, ret_path, size) ||
	       (started != NULL && is_beside(started, places, ret_path, size));
}

const char *own_parts(void)
{
	return VCLOCK_PARTS;
}

/* Of bin/vclock, of build/CELL/ with both programs, and of lib/vclock/vclock-tools. */
const char *own_images(void)
{
	static const char *const places[] = {"../lib/vclock", "../images", "../vclock", NULL};
	static char folder[PATH_MAX];

	return own_file(places, folder, sizeof(folder)) ? folder : own_parts();
}
