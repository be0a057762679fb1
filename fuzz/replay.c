/* SPDX-License-Identifier: MIT */
/*
 * replay.c - runs a fuzz target over the files of its corpus, without libFuzzer, and prints TAP.
 *
 * replay_NAME [FILE|FOLDER...]; without arguments the corpus that it was built with. A file that
 * breaks the target ends the program before its plan, with the file's name in the line before.
 */
/* A 32-bit program meets inode numbers that do not fit 32 bits. */
#define _FILE_OFFSET_BITS 64
#include <dirent.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

#define FILE_MAX ((size_t)1 << 24)
/* One input takes microseconds; this ends a hang. */
#define SECONDS_MAX 20

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint8_t *read_file(const char *path, size_t *ret_size)
{
	FILE *file = fopen(path, "rb");
	uint8_t *bytes = NULL;
	struct stat st;

	if (file == NULL)
		return NULL;
	if (fstat(fileno(file), &st) == 0 && (uint64_t)st.st_size <= FILE_MAX) {
		/* No byte more than the file has, so that a sanitizer sees the first one behind. */
		*ret_size = (size_t)st.st_size;
		bytes = malloc(*ret_size ? *ret_size : 1);
		if (bytes && fread(bytes, 1, *ret_size, file) != *ret_size) {
			free(bytes);
			bytes = NULL;
		}
	}
	fclose(file);
	return bytes;
}

static void replay_file(const char *path)
{
	size_t size = 0;
	uint8_t *bytes = read_file(path, &size);

	if (!tap_ok(bytes != NULL, "%s can be read", path))
		return;
	alarm(SECONDS_MAX);
	LLVMFuzzerTestOneInput(bytes, size);
	alarm(0);
	free(bytes);
}

static int is_entry(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

static void replay_folder(const char *path)
{
	struct dirent **entries;
	int count = scandir(path, &entries, is_entry, alphasort);
	char name[4096];

	tap_ok(count > 0, "%s holds inputs (%d)", path, count);
	for (int i = 0; i < count; i++) {
		snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
		replay_file(name);
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
}

static void replay(const char *path)
{
	struct stat st;

	if (stat(path, &st) == 0 && S_ISDIR(st.st_mode))
		replay_folder(path);
	else
		replay_file(path);
}

int main(int argc, char **argv)
{
	/* A machine that the test was brought to has the tree below its working folder. */
	if (argc == 1)
		replay(access(FUZZ_ROOT FUZZ_CORPUS, R_OK) == 0 ? FUZZ_ROOT FUZZ_CORPUS
								: FUZZ_CORPUS);
	for (int i = 1; i < argc; i++)
		replay(argv[i]);
	return tap_done();
}
