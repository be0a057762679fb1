/* SPDX-License-Identifier: MIT */
/*
 * init.c - PID 1 of a test machine: runs a list of programs and reports on a serial line of its
 * own.
 *
 * /vm/list holds one program a line: NAME LIMIT_S COMMAND ARGUMENT..., words split at blanks.
 * /vm/env holds lines NAME=VALUE. Programs run in /vm/tree, one after another, each in a session of
 * its own, and everything that one left behind is killed before the next one starts.
 *
 * On the line that the kernel's command line names, report=/dev/... (another one is the kernel's):
 *     begin NAME
 *     |a line of its output
 *     end NAME exit N | signal N | limit N
 *     done COUNT failed FAILED
 * The machine ends with a value that a panic, a power-off or qemu's own failure cannot give, see
 * arch/vm_exit.h: VM_EXIT_GOOD, or VM_EXIT_FAILED + how many failed.
 *
 * Must never return, and must never wait without a limit: the host's limit would have to say which
 * program hung, and it cannot know.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "arch/vm_exit.h"

/* qemu's exit status is (value << 1) | 1: 33 when all is good, 65 + 2n for n failures. */
#define VM_EXIT_GOOD 0x10
#define VM_EXIT_FAILED 0x20
#define VM_EXIT_FAILED_MAX 0x3f

#define LINE_MAX_BYTES 4096
#define WORDS_MAX 64

static FILE *report;

/* One program of the list. */
struct entry {
	const char *name;
	int limit_s;
	char *argv[WORDS_MAX + 1];
};

/* What a program has printed, cut into lines. */
struct output {
	int fd;
	char line[LINE_MAX_BYTES];
	size_t length;
	bool has_plan;
};

static void mount_or_say(const char *type, const char *where)
{
	mkdir(where, 0755);
	if (mount(type, where, type, 0, NULL) != 0)
		fprintf(stderr, "init: mount: %s: %s\n", where, strerror(errno));
}

/* /tmp and /run are as writable as the rest of an initramfs, and may hold the tree. */
static void mount_all(void)
{
	mount_or_say("proc", "/proc");
	mount_or_say("sysfs", "/sys");
	mount_or_say("devtmpfs", "/dev");
	mount_or_say("tmpfs", "/dev/shm");
	mount_or_say("devpts", "/dev/pts");
	mount_or_say("securityfs", "/sys/kernel/security");
	chmod("/tmp", 01777);
	if (symlink("/proc/self/fd", "/dev/fd") != 0 && errno != EEXIST)
		fprintf(stderr, "init: /dev/fd: %s\n", strerror(errno));
}

/* The report goes out as it is: no CR is put before its line ends. */
static int open_report(void)
{
	const char *path = getenv("report");
	struct termios termios;
	int fd = path == NULL ? -1 : open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	unsetenv("report");
	if (tcgetattr(fd, &termios) == 0) {
		cfmakeraw(&termios);
		tcsetattr(fd, TCSANOW, &termios);
	}
	report = fdopen(fd, "w");
	return report == NULL ? -1 : 0;
}

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* A machine whose clocksource is still tsc-early is not what any test wants to see. */
static void wait_for_clocksource(void)
{
	int64_t end_ms = now_ms() + 5000;
	char name[64] = "";

	do {
		FILE *file = fopen(
			"/sys/devices/system/clocksource/clocksource0/current_clocksource", "r");

		if (file == NULL)
			return;
		if (fgets(name, sizeof(name), file) == NULL)
			name[0] = '\0';
		fclose(file);
		if (strcmp(name, "tsc-early\n") != 0)
			break;
		usleep(50000);
	} while (now_ms() < end_ms);
	fprintf(report, "machine clocksource %s", name);
}

static void read_environment(void)
{
	char line[LINE_MAX_BYTES];
	FILE *file = fopen("/vm/env", "r");

	setenv("PATH", "/vm/bin:/bin", 1);
	setenv("HOME", "/tmp", 1);
	setenv("TMPDIR", "/tmp", 1);
	if (file == NULL)
		return;
	while (fgets(line, sizeof(line), file) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (strchr(line, '=') != NULL)
			putenv(strdup(line));
	}
	fclose(file);
}

static bool read_entry(FILE *list, char *line, size_t size, struct entry *ret_entry)
{
	char *word, *rest = line;
	size_t count = 0;

	if (fgets(line, (int)size, list) == NULL)
		return false;
	line[strcspn(line, "\n")] = '\0';
	ret_entry->name = strtok_r(rest, " ", &rest);
	word = strtok_r(NULL, " ", &rest);
	ret_entry->limit_s = word == NULL ? 0 : atoi(word);
	while (count < WORDS_MAX && (word = strtok_r(NULL, " ", &rest)) != NULL)
		ret_entry->argv[count++] = word;
	ret_entry->argv[count] = NULL;
	return true;
}

static void put_line(struct output *output)
{
	output->line[output->length] = '\0';
	if (strncmp(output->line, "1..", 3) == 0)
		output->has_plan = true;
	fprintf(report, "|%s\n", output->line);
	output->length = 0;
}

/* Takes what is there; false at the end of the pipe. */
static bool take_output(struct output *output)
{
	char bytes[4096];
	ssize_t i, count = read(output->fd, bytes, sizeof(bytes));

	if (count < 0)
		return errno == EAGAIN || errno == EINTR;
	for (i = 0; i < count; i++) {
		if (bytes[i] == '\n' || output->length == sizeof(output->line) - 1)
			put_line(output);
		if (bytes[i] != '\n')
			output->line[output->length++] = bytes[i];
	}
	return count > 0;
}

static pid_t start(const struct entry *entry, int fd)
{
	pid_t pid = fork();
	int null;

	if (pid != 0)
		return pid;
	setsid();
	null = open("/dev/null", O_RDONLY);
	dup2(null, 0);
	dup2(fd, 1);
	dup2(fd, 2);
	if (chdir("/vm/tree") == 0)
		execvp(entry->argv[0], entry->argv);
	fprintf(stderr, "init: %s: %s\n", entry->argv[0], strerror(errno));
	_exit(127);
}

/* Waits for pid, reaping everything else that ends meanwhile. False: it still runs. */
static bool reap(pid_t pid, int *ret_status)
{
	bool has_ended = false;
	int status;
	pid_t ended;

	while ((ended = waitpid(-1, &status, WNOHANG)) > 0) {
		if (ended == pid) {
			*ret_status = status;
			has_ended = true;
		}
	}
	return has_ended;
}

/* Kills what is left and waits, for two seconds at most, until it is gone. */
static void sweep(void)
{
	int i;

	for (i = 0; i < 200; i++) {
		kill(-1, SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			continue;
		if (waitpid(-1, NULL, WNOHANG) < 0)
			return;
		usleep(10000);
	}
}

/* True: it was good. */
static bool run(const struct entry *entry)
{
	struct output output = {.length = 0};
	int64_t end_ms = now_ms() + (int64_t)entry->limit_s * 1000, start_ms = now_ms();
	bool has_ended = false;
	int pipes[2], status = 0;
	pid_t pid;

	fprintf(report, "begin %s\n", entry->name);
	fflush(report);
	if (entry->argv[0] == NULL || pipe2(pipes, O_CLOEXEC | O_NONBLOCK) != 0)
		return fprintf(report, "end %s exit 127\n", entry->name), false;
	/* The program's end is an ordinary pipe. */
	fcntl(pipes[1], F_SETFL, 0);
	pid = start(entry, pipes[1]);
	close(pipes[1]);
	output.fd = pipes[0];
	while (!has_ended && now_ms() < end_ms) {
		struct pollfd pollfd = {.fd = output.fd, .events = POLLIN};

		has_ended = reap(pid, &status);
		if (poll(&pollfd, 1, 20) > 0 && !take_output(&output))
			usleep(20000);
		fflush(report);
	}
	sweep();
	while (take_output(&output) && poll(&(struct pollfd){output.fd, POLLIN, 0}, 1, 0) > 0)
		continue;
	if (output.length > 0)
		put_line(&output);
	close(output.fd);
	fprintf(report, "time %s %lld ms\n", entry->name, (long long)(now_ms() - start_ms));
	if (!has_ended)
		fprintf(report, "end %s limit %d\n", entry->name, entry->limit_s);
	else if (WIFSIGNALED(status))
		fprintf(report, "end %s signal %d\n", entry->name, WTERMSIG(status));
	else
		fprintf(report, "end %s exit %d\n", entry->name, WEXITSTATUS(status));
	fflush(report);
	return has_ended && WIFEXITED(status) && WEXITSTATUS(status) == 0 && output.has_plan;
}

static void run_list(unsigned *ret_count, unsigned *ret_failed)
{
	static char line[LINE_MAX_BYTES];
	struct entry entry;
	FILE *list = fopen("/vm/list", "re");

	if (list == NULL)
		return;
	while (read_entry(list, line, sizeof(line), &entry)) {
		if (entry.name == NULL)
			continue;
		++*ret_count;
		if (!run(&entry))
			++*ret_failed;
	}
	fclose(list);
}

static _Noreturn void leave(unsigned failed)
{
	unsigned value = VM_EXIT_GOOD;

	if (failed > 0)
		value = VM_EXIT_FAILED +
			(failed < 31 ? failed : VM_EXIT_FAILED_MAX - VM_EXIT_FAILED);
	fflush(report);
	tcdrain(fileno(report));
	tcdrain(1);
	vm_exit(value);
	reboot(RB_POWER_OFF);
	for (;;)
		pause();
}

int main(void)
{
	unsigned count = 0, failed = 0;

	mount_all();
	if (open_report() != 0) {
		fprintf(stderr, "init: report=: cannot be opened\n");
		reboot(RB_POWER_OFF);
	}
	read_environment();
	wait_for_clocksource();
	run_list(&count, &failed);
	fprintf(report, "done %u failed %u\n", count, failed);
	leave(count == 0 ? 1 : failed);
}
