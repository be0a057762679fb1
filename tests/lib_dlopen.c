/* SPDX-License-Identifier: MIT */
/*
 * The shared library loaded late, by a program that has moved and emptied its environment, finds
 * the kernel's vDSO, and its calls are right (V03, V05).
 */
#include <libgen.h>
#include <string.h>
#include <unistd.h>

#include "check/oracle.h"
#include "support_lib.h"
#include "tap.h"

#if VCLOCK_HAS_SO
#include <dlfcn.h>

/* Of the loaded library, not of the archive that this program is linked with. */
static void *library;

static void load(void)
{
	char path[4200], *folder;
	ssize_t length = readlink("/proc/self/exe", path, 4000);

	path[length > 0 ? length : 0] = '\0';
	folder = dirname(dirname(path));
	memmove(path, folder, strlen(folder) + 1);
	strcat(path, "/libvclock.so.0");
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
		printf("# %s\n", dlerror());
}

static int by_library(int32_t clk, struct vclock_timespec *ret_ts)
{
	int (*gettime)(int32_t, struct vclock_timespec *);

	*(void **)&gettime = dlsym(library, "vclock_gettime64");
	return gettime(clk, ret_ts);
}

static void *load_and_ask(void *arg)
{
	struct vclock_status status = {.size = sizeof(status)};
	struct vclock_status own = support_status();
	int (*get_status)(struct vclock_status *);
	int32_t (*getpid_slow)(void);
	int i;

	(void)arg;
	for (i = 0; i < 500; i++) {
		char name[32];

		snprintf(name, sizeof(name), "VARIABLE_%d", i);
		setenv(name, "some text that takes room", 1);
	}
	clearenv();
	load();
	tap_ok(library != NULL, "loaded");
	if (library == NULL)
		return NULL;
	*(void **)&get_status = dlsym(library, "vclock_status");
	*(void **)&getpid_slow = dlsym(library, "vclock_getpid_slow");
	tap_ok(get_status != NULL && get_status(&status) == 0 && status.has_vdso == own.has_vdso &&
		       status.clock[1].route == own.clock[1].route &&
		       status.getpid_is_cached == own.getpid_is_cached,
	       "it finds what the archive found at start");
	tap_ok(support_outside(CLOCK_MONOTONIC, 1000, 0, by_library, NULL) == 0 &&
		       support_outside(CLOCK_REALTIME, 1000, 0, by_library, NULL) == 0,
	       "its clocks are the kernel's");
	tap_ok(getpid_slow != NULL && getpid_slow() == getpid(), "its getpid too");
	tap_ok(dlsym(library, "lib_kernel") == NULL && dlsym(library, "publisher_step") == NULL,
	       "nothing of its insides shows");
	tap_ok(dlclose(library) == 0 &&
		       by_library(CLOCK_MONOTONIC, &(struct vclock_timespec){0, 0}) == 0,
	       "it stays when it is closed: a thread, or a page in use, may need it");
	return NULL;
}

int main(void)
{
	load_and_ask(NULL);
	return tap_done();
}
#else
int main(void)
{
	tap_skip("the shared library", "this build has no shared library");
	return tap_done();
}
#endif
