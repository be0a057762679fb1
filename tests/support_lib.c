/* SPDX-License-Identifier: MIT */
/* support_lib.c - see support_lib.h. */
#include "support_lib.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check/oracle.h"
#include "vclock/counter.h"
#include "vclock/publish.h"

#define CHILD_LIMIT_MS 20000

int support_wait(pid_t pid)
{
	int status = 0, waited = 0;

	while (waitpid(pid, &status, WNOHANG) == 0) {
		if (waited++ >= CHILD_LIMIT_MS)
			kill(pid, SIGKILL);
		usleep(1000);
	}
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

int support_child(int (*body)(void *arg), void *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(body(arg));
	return pid < 0 ? 255 : support_wait(pid);
}

int support_is_emulated(void)
{
	const char *emulator = getenv("VCLOCK_EMULATOR");

	return emulator != NULL && *emulator != '\0';
}

/* The emulator's own words, then path and what. */
static void exec_again(const char *path, const char *what)
{
	static char words[256];
	char *argv[16], *save = NULL, *word;
	const char *emulator = getenv("VCLOCK_EMULATOR");
	int n = 0;

	snprintf(words, sizeof(words), "%s", emulator != NULL ? emulator : "");
	for (word = strtok_r(words, " ", &save); word != NULL && n < 12;
	     word = strtok_r(NULL, " ", &save))
		argv[n++] = word;
	argv[n++] = (char *)path;
	argv[n++] = (char *)what;
	argv[n] = NULL;
	execvp(argv[0], argv);
	_exit(254);
}

int support_again(const char *what, const char *env)
{
	static char path[4096];
	ssize_t length;
	pid_t pid;

	if (path[0] == '\0') {
		length = readlink("/proc/self/exe", path, sizeof(path) - 1);
		path[length > 0 ? length : 0] = '\0';
	}
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		if (env != NULL)
			putenv((char *)env);
		exec_again(path, what);
	}
	return pid < 0 ? 255 : support_wait(pid);
}

const char *support_what(int argc, char **argv)
{
	return argc > 1 ? argv[1] : NULL;
}

int support_deny(const struct support_denial *denials, unsigned count, int result)
{
	struct sock_filter code[64], *at = code;
	struct sock_fprog program;
	uint32_t verdict = result != 0 ? SECCOMP_RET_ERRNO | (uint32_t)-result
				       : SECCOMP_RET_KILL_PROCESS;
	unsigned i;

	for (i = 0; i < count && i < 10; i++) {
		int has_arg = denials[i].arg >= 0;
		uint32_t where = (uint32_t)offsetof(struct seccomp_data, args) +
				 8 * (uint32_t)(has_arg ? denials[i].arg : 0);

		*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						     offsetof(struct seccomp_data, nr));
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
						     (uint32_t)denials[i].nr, 0, has_arg ? 3 : 1);
		if (has_arg) {
			*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, where);
			*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							     denials[i].value, 0, 1);
		}
		*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict);
	}
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	program.len = (unsigned short)(at - code);
	program.filter = code;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return -errno;
	return 0;
}

int support_wait_for_route(uint32_t clk, enum vclock_route route)
{
	int i;

	for (i = 0; i < 5000; i++) {
		if (support_route(clk) == route)
			return 0;
		usleep(1000);
	}
	return -ETIME;
}

int support_publish(const char *path)
{
	struct vclock_publisher_options options = {
		.size = sizeof(options),
		.trust_counter = 1,
		.wait_ms = 5000,
		.path = path,
	};
	int r = vclock_publisher_start(&options);

	return r != 0 ? r : support_wait_for_route(VCLOCK_MONOTONIC, VCLOCK_ROUTE_PAGE);
}

struct vclock_status support_status(void)
{
	struct vclock_status status = {.size = sizeof(status)};

	if (vclock_status(&status) != 0)
		abort();
	return status;
}

enum vclock_route support_route(uint32_t clk)
{
	return (enum vclock_route)support_status().clock[clk].route;
}

static uint64_t counter_hz(void)
{
	static uint64_t hz;
	struct vclock_counter_status status = {.size = sizeof(status)};

	if (hz == 0 && vclock_counter_status(NULL, &status) == 0)
		hz = status.hz;
	return hz;
}

static void split(int64_t ns, int64_t *ret_sec, int64_t *ret_nsec)
{
	*ret_sec = ns / 1000000000;
	*ret_nsec = ns % 1000000000;
	if (*ret_nsec < 0) {
		*ret_nsec += 1000000000;
		(*ret_sec)--;
	}
}

/* The file's boot id as its bytes, as a reader compares it. */
static void read_boot_id(uint8_t id[16])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "r");
	unsigned byte;
	int i;

	for (i = 0; file != NULL && i < 16; i++) {
		if (fscanf(file, "%2x", &byte) != 1)
			break;
		id[i] = (uint8_t)byte;
		if (i == 3 || i == 5 || i == 7 || i == 9)
			(void)fgetc(file);
	}
	if (file != NULL)
		fclose(file);
}

static int make_page(struct vclock_page *page, int64_t offset_ns)
{
	struct vclock_page_config config = {
		.counter_hz = counter_hz(),
		.counter_kind = VCLOCK_COUNTER_KIND,
		.interval_ns = 20000000,
		.ahead_ns = 10000000,
		.coarse_ns = 4000000,
		.writer_pid = (uint32_t)getpid(),
	};
	struct vclock_timekeeper tk = {.error_ns = 1000, .clock_was_set_seq = 1};
	int64_t mono, nsec;
	struct stat st;
	int r;

	read_boot_id(config.boot_id);
	if (stat("/proc/self/ns/time", &st) == 0)
		config.timens_ino = st.st_ino;
	r = vclock_page_init(page, &config);
	if (r != 0)
		return r;
	tk.shift = page->shift;
	tk.mult = (uint32_t)((UINT64_C(1000000000) << tk.shift) / config.counter_hz);
	tk.raw_mult = tk.mult;
	tk.cycle_last = vclock_counter_ordered();
	mono = oracle_read(oracle_vdso_gettime, CLOCK_MONOTONIC) + offset_ns;
	split(mono + oracle_real_minus_mono(), &tk.xtime_sec, &nsec);
	tk.xtime_nsec = (uint64_t)nsec << tk.shift;
	split(-oracle_real_minus_mono(), &tk.wall_to_monotonic.tv_sec,
	      &tk.wall_to_monotonic.tv_nsec);
	split(oracle_read(oracle_vdso_gettime, CLOCK_BOOTTIME) -
		      oracle_read(oracle_vdso_gettime, CLOCK_MONOTONIC),
	      &tk.monotonic_to_boot.tv_sec, &tk.monotonic_to_boot.tv_nsec);
	/* Whole seconds apart, whatever the two reads cost. */
	tk.tai_offset_sec =
		(int32_t)((oracle_read(oracle_vdso_gettime, CLOCK_TAI) -
			   oracle_read(oracle_vdso_gettime, CLOCK_REALTIME) + 500000000) /
			  1000000000);
	split(oracle_read(oracle_vdso_gettime, CLOCK_MONOTONIC_RAW) + offset_ns, &tk.raw_sec,
	      &nsec);
	tk.raw_nsec = (uint64_t)nsec << tk.shift;
	tk.error_ns = 50000; /* the reads above were one after the other */
	return vclock_page_update(page, &tk);
}

/* A line has to be made within 100 us; a busy machine, or an emulator, sometimes takes longer. */
int support_make_page(struct vclock_page *page, int64_t offset_ns)
{
	int r = -ETIME, i;

	for (i = 0; i < 50 && r == -ETIME; i++)
		r = make_page(page, offset_ns);
	return r;
}

static char folder[64];
static pid_t folder_owner;

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_folder(void)
{
	if (folder_owner != 0 && getpid() == folder_owner)
		nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void support_exit(int status)
{
	fflush(stdout);
	remove_folder();
	_exit(status);
}

const char *support_folder(void)
{
	if (folder[0] == '\0') {
		strcpy(folder, "/tmp/vclock-test-XXXXXX");
		if (mkdtemp(folder) == NULL)
			abort();
		folder_owner = getpid();
		atexit(remove_folder);
	}
	return folder;
}

const char *support_path(const char *name)
{
	static char paths[64][200];
	static unsigned next;
	char *path = paths[next++];

	if (next > sizeof(paths) / sizeof(paths[0]))
		abort();
	snprintf(path, sizeof(paths[0]), "%s/%s", support_folder(), name);
	return path;
}

const char *support_write(const char *name, const void *bytes, size_t size)
{
	const char *path = support_path(name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || write(fd, bytes, size) != (ssize_t)size || fchmod(fd, 0644) != 0)
		abort();
	close(fd);
	return path;
}

unsigned support_outside(int32_t clk, unsigned count, int64_t tolerance_ns,
			 int (*read)(int32_t clk, struct vclock_timespec *ret_ts),
			 int64_t *ret_worst_ns)
{
	struct vclock_timespec ts;
	int64_t before, after, off, worst = 0;
	unsigned outside = 0, i;

	for (i = 0; i < count; i++) {
		before = oracle_read(oracle_vdso_gettime, clk);
		if (read(clk, &ts) != 0) {
			outside++;
			continue;
		}
		after = oracle_read(oracle_vdso_gettime, clk);
		off = before - oracle_ns(&ts) > oracle_ns(&ts) - after ? before - oracle_ns(&ts)
								       : oracle_ns(&ts) - after;
		if (off > worst)
			worst = off;
		outside += off > tolerance_ns;
	}
	if (ret_worst_ns != NULL)
		*ret_worst_ns = worst;
	return outside;
}
