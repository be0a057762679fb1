/* SPDX-License-Identifier: MIT */
/* image_folder.c - see image_folder.h. */
#include "cli/image_folder.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Installed: bin/vclock and lib/vclock/; in the tree: build/CELL/vclock and build/images/. */
const char *image_folder(void)
{
	static const char *const places[] = {"../lib/vclock", "../images"};
	static char folder[PATH_MAX];
	char exe[PATH_MAX - 64], *slash;
	ssize_t n = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	unsigned i;

	if (n <= 0)
		return VCLOCK_IMAGES;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	if (slash != NULL)
		slash[1] = '\0';
	for (i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(folder, sizeof(folder), "%s%s", exe, places[i]);
		if (access(folder, X_OK) == 0)
			return folder;
	}
	return VCLOCK_IMAGES;
}
