/* SPDX-License-Identifier: MIT */
/*
 * info_pid.c - `vclock info --pid PID`: what another process's clocks are like, as far as /proc
 * shows it. Never stops or touches the process.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/info.h"
#include "cli/page_words.h"
#include "cli/json.h"
#include "cli/proc_maps.h"

#define OFFSETS_MAX 256

struct process {
	pid_t pid;
	int bits; /* 32 or 64; 0: not known */
	struct proc_maps maps;
	bool has_auxv;
	uint64_t ehdr; /* AT_SYSINFO_EHDR; 0: the program was told of none */
	bool timens_known, timens_same;
	char timens_offsets[OFFSETS_MAX]; /* of the namespace for its children; "" */
	bool has_filter;		  /* seccomp */
};

static int open_proc(pid_t pid, const char *name)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Up to size - 1 bytes, terminated. How many; 0 where it cannot be read. */
static size_t read_proc(pid_t pid, const char *name, void *ret_data, size_t size)
{
	int fd = open_proc(pid, name);
	size_t total = 0;
	ssize_t n = 1;

	while (fd >= 0 && n > 0 && total < size - 1) {
		n = read(fd, (char *)ret_data + total, size - 1 - total);
		total += n > 0 ? (size_t)n : 0;
	}
	if (fd >= 0)
		close(fd);
	((char *)ret_data)[total] = '\0';
	return total;
}

static void read_bits(struct process *process)
{
	unsigned char ident[EI_NIDENT + 1];

	if (read_proc(process->pid, "exe", ident, sizeof(ident)) == EI_NIDENT &&
	    memcmp(ident, ELFMAG, SELFMAG) == 0)
		process->bits = ident[EI_CLASS] == ELFCLASS64	? 64
				: ident[EI_CLASS] == ELFCLASS32 ? 32
								: 0;
}

/* Pairs of words of the process's own size. */
static void read_auxv(struct process *process)
{
	char auxv[4096];
	size_t n = read_proc(process->pid, "auxv", auxv, sizeof(auxv)), at, word;
	uint64_t pair[2];

	word = process->bits == 32 ? 4 : 8;
	for (at = 0; process->bits != 0 && at + 2 * word <= n; at += 2 * word) {
		process->has_auxv = true;
		pair[0] = pair[1] = 0;
		memcpy(&pair[0], auxv + at, word);
		memcpy(&pair[1], auxv + at + word, word);
		if (pair[0] == AT_SYSINFO_EHDR)
			process->ehdr = pair[1];
	}
}

/* "monotonic 0 0\nboottime 0 0\n" -> "monotonic 0 0, boottime 0 0" */
static void read_timens(struct process *process)
{
	struct stat own, other;
	char path[64], text[OFFSETS_MAX], *line, *state;
	size_t at = 0;

	snprintf(path, sizeof(path), "/proc/%d/ns/time", (int)process->pid);
	process->timens_known = stat(path, &other) == 0 && stat("/proc/self/ns/time", &own) == 0;
	process->timens_same = process->timens_known && own.st_ino == other.st_ino;
	read_proc(process->pid, "timens_offsets", text, sizeof(text));
	for (line = strtok_r(text, "\n", &state); line != NULL && at < OFFSETS_MAX;
	     line = strtok_r(NULL, "\n", &state)) {
		char name[32];
		long long sec, nsec;

		if (sscanf(line, "%31s %lld %lld", name, &sec, &nsec) == 3)
			at += (size_t)snprintf(process->timens_offsets + at, OFFSETS_MAX - at,
					       "%s%s %lld.%09lld s", at != 0 ? ", " : "", name, sec,
					       nsec);
	}
}

static void read_filter(struct process *process)
{
	char text[8192];
	const char *line;

	read_proc(process->pid, "status", text, sizeof(text));
	line = strstr(text, "\nSeccomp:");
	process->has_filter = line != NULL && atoi(line + 9) == 2;
}

static int read_process(struct process *process)
{
	int fd = open_proc(process->pid, "maps");
	FILE *maps = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (maps == NULL)
		return cli_error(CLI_USAGE, "info: --pid: %d: %s", (int)process->pid,
				 errno == ENOENT ? "no such process" : strerror(errno));
	proc_maps_read(maps, page_words_path(), &process->maps);
	if (ferror(maps)) {
		fclose(maps);
		return cli_error(CLI_USAGE, "info: --pid: %d: maps: not readable",
				 (int)process->pid);
	}
	fclose(maps);
	read_bits(process);
	read_auxv(process);
	read_timens(process);
	read_filter(process);
	return CLI_GOOD;
}

static bool is_own_image(const struct process *process)
{
	return process->ehdr >= process->maps.vdso_start && process->ehdr < process->maps.vdso_end;
}

/* How its C library asks for the time. */
static const char *vdso_words(const struct process *process)
{
	if (!process->has_auxv)
		return process->maps.vdso_end == 0 ? "none is mapped"
						   : "the kernel's is mapped; whether the program "
						     "was told of it cannot be read";
	if (process->ehdr == 0)
		return "the program was told of none: its clocks are system calls";
	if (is_own_image(process))
		return "the kernel's: its clocks are as fast as the kernel makes them";
	return "not the kernel's: the program was told of another image";
}

static void print_text(const struct process *process)
{
	const struct proc_maps *maps = &process->maps;

	info_print_field("Process", "%d, %s", (int)process->pid,
			 process->bits == 64   ? "64-bit"
			 : process->bits == 32 ? "32-bit"
					       : "program not readable");
	info_print_field("vDSO", "%s", vdso_words(process));
	if (maps->vdso_end != 0)
		info_print_field("", "[vdso] at %#llx, %llu bytes; data: %u mappings, %llu bytes",
				 (unsigned long long)maps->vdso_start,
				 (unsigned long long)(maps->vdso_end - maps->vdso_start),
				 maps->data_maps, (unsigned long long)maps->data_bytes);
	if (process->ehdr != 0 && !is_own_image(process))
		info_print_field("", "AT_SYSINFO_EHDR is %#llx", (unsigned long long)process->ehdr);
	if (maps->page_maps != 0)
		info_print_field("Page", "%s", maps->page_name);
	else
		info_print_field("Page", "none is mapped: vclock is not used, or not by a page");
	info_print_field("Namespace", "%s",
			 !process->timens_known ? "time namespace not known"
			 : process->timens_same ? "this one's time namespace"
						: "another time namespace: MONOTONIC and BOOTTIME "
						  "are shifted there, and a page of this one is "
						  "refused");
	if (process->timens_offsets[0] != '\0')
		info_print_field("", "offsets for its children: %s", process->timens_offsets);
	if (process->has_filter)
		info_print_field("seccomp", "a filter is set: system calls may be refused");
}

static void print_json(const struct process *process)
{
	struct json *root = json_new_object(), *vdso = json_new_object();
	const struct proc_maps *maps = &process->maps;

	json_add_string(root, "vclock", VCLOCK_VERSION);
	json_add_string(root, "command", "info");
	json_add_int(root, "pid", process->pid);
	json_add_int(root, "bits", process->bits);
	json_add_bool(vdso, "mapped", maps->vdso_end != 0);
	json_add_uint(vdso, "address", maps->vdso_start);
	json_add_uint(vdso, "bytes", maps->vdso_end - maps->vdso_start);
	json_add_uint(vdso, "data_mappings", maps->data_maps);
	json_add_uint(vdso, "data_bytes", maps->data_bytes);
	json_add_bool(vdso, "auxv_readable", process->has_auxv);
	json_add_uint(vdso, "sysinfo_ehdr", process->ehdr);
	json_add_string(vdso, "means", vdso_words(process));
	json_add(root, "vdso", vdso);
	json_add_uint(root, "page_mappings", maps->page_maps);
	json_add_string(root, "page", maps->page_maps != 0 ? maps->page_name : NULL);
	json_add_bool(root, "time_namespace_known", process->timens_known);
	json_add_bool(root, "time_namespace_same", process->timens_same);
	json_add_string(root, "time_offsets_for_children", process->timens_offsets);
	json_add_bool(root, "seccomp_filter", process->has_filter);
	json_print(root);
}

int info_pid(pid_t pid, bool json)
{
	struct process process = {.pid = pid};
	int status = read_process(&process);

	if (status != CLI_GOOD)
		return status;
	if (json)
		print_json(&process);
	else
		print_text(&process);
	return CLI_GOOD;
}
