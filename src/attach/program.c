/* SPDX-License-Identifier: MIT */
/* program.c - see program.h. Opens files for reading only, and never for long. */
#include "attach/program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "attach/auxv.h"
#include "attach/stub.h"

/* What execvp uses without $PATH. */
#define DEFAULT_PATH "/bin:/usr/bin"
/* The kernel follows so many interpreters of interpreters. */
#define SCRIPT_DEPTH 5
#define SCRIPT_LINE 256

static int may_execute(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EACCES;
	return access(path, X_OK) == 0 ? 0 : -errno;
}

/* Whether the next folder of $PATH is looked into. */
static bool goes_on_after(int error)
{
	return error == -EACCES || error == -ENOENT || error == -ENOTDIR || error == -ESTALE ||
	       error == -ENODEV || error == -ETIMEDOUT;
}

static int search(const char *path, const char *name, char *ret_path, size_t size)
{
	bool may_not = false;
	const char *end;
	int r = -ENOENT;

	for (;; path = end + 1) {
		end = strchrnul(path, ':');
		/* An empty entry is the working folder. */
		if (snprintf(ret_path, size, "%.*s%s%s", (int)(end - path), path,
			     end != path ? "/" : "", name) < (int)size)
			r = may_execute(ret_path);
		if (r == 0 || !goes_on_after(r))
			return r;
		may_not |= r == -EACCES;
		if (*end == '\0')
			return may_not ? -EACCES : r;
	}
}

int program_find(const char *name, char *ret_path, size_t size)
{
	const char *path = getenv("PATH");

	if (strchr(name, '/') != NULL) {
		if (strlen(name) >= size)
			return -ENAMETOOLONG;
		strcpy(ret_path, name);
		return may_execute(name);
	}
	if (*name == '\0')
		return -ENOENT;
	if (strlen(name) > NAME_MAX)
		return -ENAMETOOLONG;
	return search(path != NULL ? path : DEFAULT_PATH, name, ret_path, size);
}

/* The interpreter of a script's first line; false: not a script. */
static int script_interpreter(int fd, char *ret_path)
{
	char line[SCRIPT_LINE + 1], *start, *end;
	ssize_t n = pread(fd, line, SCRIPT_LINE, 0);

	if (n < 2 || line[0] != '#' || line[1] != '!')
		return 0;
	line[n] = '\0';
	start = line + 2 + strspn(line + 2, " \t");
	end = start + strcspn(start, " \t\n");
	*end = '\0';
	memcpy(ret_path, start, (size_t)(end - start) + 1);
	return *start != '\0';
}

/* This process may have been started by one that hides it: then the kernel's copy tells. */
static bool kernel_gives_vdso(void)
{
	unsigned char auxv[4096];
	uint64_t vdso = getauxval(AT_SYSINFO_EHDR);
	ssize_t n;
	int fd;

	if (vdso != 0)
		return true;
	fd = open("/proc/self/auxv", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return true;
	n = read(fd, auxv, sizeof(auxv));
	close(fd);
	return n <= 0 ||
	       (auxv_find(auxv, (size_t)n, sizeof(void *), AT_SYSINFO_EHDR, &vdso) && vdso != 0);
}

/* For programs of the file's word size. */
static const char *word_refusal(int fd)
{
	unsigned char ident[EI_NIDENT];

	if (pread(fd, ident, sizeof(ident), 0) != (ssize_t)sizeof(ident) ||
	    memcmp(ident, ELFMAG, SELFMAG) != 0)
		return NULL;
	if (ident[EI_CLASS] == ELFCLASS32 && stub_arch_of(true) != NULL &&
	    stub_arch_of(false) == NULL)
		return "it is a 32-bit program, which has no image here";
	if (ident[EI_CLASS] == ELFCLASS64 && !kernel_gives_vdso())
		return "the kernel gave it no vDSO";
	return NULL;
}

static const char *file_refusal(int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return "its file cannot be looked at";
	if (st.st_mode & S_ISUID)
		return "it is a set-user-ID program, which would lose its rights";
	if ((st.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP))
		return "it is a set-group-ID program, which would lose its rights";
	if (fgetxattr(fd, "security.capability", NULL, 0) > 0)
		return "its file has capabilities, which it would lose";
	return word_refusal(fd);
}

const char *program_refusal(const char *path)
{
	char interpreter[SCRIPT_LINE + 1];
	const char *words;
	int fd, depth, is_script = 1;

	for (depth = 0; is_script && depth < SCRIPT_DEPTH; depth++) {
		fd = open(depth == 0 ? path : interpreter, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (fd < 0 && (errno == EMFILE || errno == ENFILE))
			return "no descriptor";
		if (fd < 0)
			return depth == 0 ? "its file cannot be read" : NULL;
		words = file_refusal(fd);
		is_script = script_interpreter(fd, interpreter);
		close(fd);
		if (words != NULL)
			return words;
	}
	return NULL;
}
