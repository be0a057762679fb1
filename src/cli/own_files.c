/* SPDX-License-Identifier: MIT */
/* own_files.c - see own_files.h. */
#include "cli/own_files.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* With the slash at its end. Without /proc the path that it was started by has to do. */
static bool own_folder(char *ret_folder, size_t size)
{
	const char *started =
		(const char *)getauxval(AT_EXECFN); /* NOLINT(performance-no-int-to-ptr) */
	ssize_t n = readlink("/proc/self/exe", ret_folder, size - 1);
	char *slash;

	if (n > 0)
		ret_folder[n] = '\0';
	else if (started == NULL || snprintf(ret_folder, size, "%s", started) >= (int)size)
		return false;
	slash = strrchr(ret_folder, '/');
	if (slash != NULL)
		slash[1] = '\0';
	return slash != NULL;
}

bool own_file(const char *const *places, char *ret_path, size_t size)
{
	char folder[PATH_MAX];

	if (!own_folder(folder, sizeof(folder)))
		return false;
	for (; *places != NULL; places++)
		if (snprintf(ret_path, size, "%s%s", folder, *places) < (int)size &&
		    access(ret_path, X_OK) == 0)
			return true;
	return false;
}

/* Of bin/vclock, of build/CELL/ with both programs, and of lib/vclock/vclock-tools. */
const char *own_images(void)
{
	static const char *const places[] = {"../lib/vclock", "../images", "../vclock", NULL};
	static char folder[PATH_MAX];

	return own_file(places, folder, sizeof(folder)) ? folder : VCLOCK_PARTS;
}
