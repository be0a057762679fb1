/* SPDX-License-Identifier: MIT */
/*
 * `vclock vdso --pid` on processes that lie: their auxiliary vector names no vDSO, an address where
 * nothing is mapped, the middle of a mapping, a mapping of zeros, a file called "[vdso]". Each gets
 * a line that says so and its own exit status; an honest process gets its image.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

struct outcome {
	int status; /* exit status; -1: none */
	char out[4096], err[512];
};

static char command[4096];

/* The command lies beside the folder of the tests. */
static int find_command(void)
{
	ssize_t length = readlink("/proc/self/exe", command, sizeof(command) - 16);
	char *slash;

	if (length <= 0)
		return 0;
	command[length] = '\0';
	for (int i = 0; i < 2; i++) {
		slash = strrchr(command, '/');
		if (slash == NULL)
			return 0;
		*slash = '\0';
	}
	strcat(command, "/vclock");
	return access(command, X_OK) == 0;
}

static void read_pipe(int fd, char *text, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size - 1 && (n = read(fd, text + done, size - 1 - done)) > 0)
		done += (size_t)n;
	text[done] = '\0';
	close(fd);
}

static struct outcome run_vclock(pid_t pid)
{
	struct outcome outcome = {.status = -1};
	int out[2], err[2], status;
	char number[16];
	pid_t child;

	snprintf(number, sizeof(number), "%d", (int)pid);
	if (pipe(out) || pipe(err))
		return outcome;
	child = fork();
	if (child == 0) {
		dup2(out[1], 1);
		dup2(err[1], 2);
		execl(command, "vclock", "vdso", "--pid", number, NULL);
		_exit(99);
	}
	close(out[1]);
	close(err[1]);
	/* What is printed fits a pipe. */
	read_pipe(err[0], outcome.err, sizeof(outcome.err));
	read_pipe(out[0], outcome.out, sizeof(outcome.out));
	if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status))
		outcome.status = WEXITSTATUS(status);
	return outcome;
}

/*
 * Fields 26 to 28 and 45 to 51 of /proc/self/stat: where the kernel thinks that code, data and
 * stack are. The command's name before them may hold blanks, but ends with the last ')'.
 */
static int read_layout(struct prctl_mm_map *map)
{
	unsigned long long field[52] = {0};
	char text[2048], *at;
	int fd = open("/proc/self/stat", O_RDONLY);

	if (fd < 0)
		return 0;
	read_pipe(fd, text, sizeof(text));
	at = strrchr(text, ')');
	/* Field 3 is a letter. */
	for (int i = 4; at != NULL && i < 52; i++) {
		at = strchr(at + (i == 4 ? 2 : 0), ' ');
		if (at != NULL)
			field[i] = strtoull(++at, NULL, 10);
	}
	map->start_code = field[26];
	map->end_code = field[27];
	map->start_stack = field[28];
	map->start_data = field[45];
	map->end_data = field[46];
	map->start_brk = field[47];
	map->arg_start = field[48];
	map->arg_end = field[49];
	map->env_start = field[50];
	map->env_end = field[51];
	map->brk = (uintptr_t)sbrk(0);
	map->exe_fd = (uint32_t)-1;
	return at != NULL;
}

/* Needs a capability in the one form; in the other, that the kernel and we agree on a struct. */
static int change_auxv(unsigned long *auxv, size_t size)
{
	struct prctl_mm_map map = {0};

	if (prctl(PR_SET_MM, PR_SET_MM_AUXV, auxv, size, 0) == 0)
		return 0;
	if (!read_layout(&map))
		return -1;
	map.auxv = (void *)auxv;
	map.auxv_size = (uint32_t)size;
	return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0);
}

/* A process that names address as its vDSO, and waits. 0: it may not. */
static pid_t start_liar(unsigned long address, int has_entry)
{
	unsigned long auxv[] = {AT_PAGESZ, 4096, AT_SYSINFO_EHDR, address, AT_NULL, 0};
	size_t size = sizeof(auxv);
	int ready[2], error = -1;
	pid_t child;

	if (!has_entry) {
		auxv[2] = AT_NULL;
		auxv[3] = 0;
		size -= 2 * sizeof(auxv[0]);
	}
	if (pipe(ready))
		return 0;
	child = fork();
	if (child == 0) {
		alarm(30);
		error = change_auxv(auxv, size) ? errno : 0;
		if (write(ready[1], &error, sizeof(error)) != sizeof(error))
			_exit(1);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (child > 0 && (read(ready[0], &error, sizeof(error)) != sizeof(error) || error != 0)) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
		child = 0;
	}
	close(ready[0]);
	return child < 0 ? 0 : child;
}

static void end_process(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static int is_one_line(const char *text)
{
	const char *newline = strchr(text, '\n');

	return newline != NULL && newline[1] == '\0';
}

static void expect_lie(unsigned long address, int has_entry, int status, const char *words,
		       const char *what)
{
	pid_t pid = start_liar(address, has_entry);
	struct outcome o;

	if (pid == 0) {
		tap_skip(what, "a process may not change its auxiliary vector here");
		return;
	}
	o = run_vclock(pid);
	end_process(pid);
	if (!tap_ok(o.status == status && o.out[0] == '\0' && is_one_line(o.err) &&
			    strncmp(o.err, "vclock: vdso: process ", 22) == 0 &&
			    strstr(o.err, words) != NULL,
		    "%s: %d, %s", what, o.status, words))
		tap_diag("%s", o.err);
}

/* A mapping of a file whose name ends in [vdso] and which holds text. */
static void *map_fake(void)
{
	char folder[] = "/tmp/vclock-test-XXXXXX", path[64];
	void *map = MAP_FAILED;
	int fd;

	if (mkdtemp(folder) == NULL)
		return map;
	snprintf(path, sizeof(path), "%s/[vdso]", folder);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0 && write(fd, "this is no image", 16) == 16 && ftruncate(fd, 4096) == 0)
		map = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
	if (fd >= 0)
		close(fd);
	unlink(path);
	rmdir(folder);
	return map;
}

/* What forks after this has all of these mapped. */
static void check_lies(void)
{
	void *zeros = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *fake = map_fake();

	if (!tap_ok(zeros != MAP_FAILED && fake != MAP_FAILED, "mappings to lie about"))
		return;
	expect_lie(0, 0, 3, "no vDSO", "no AT_SYSINFO_EHDR");
	expect_lie(0, 1, 3, "no vDSO", "AT_SYSINFO_EHDR 0");
	expect_lie(1, 1, 1, "nothing is mapped at 0x1", "AT_SYSINFO_EHDR 1");
	expect_lie((unsigned long)zeros + 4096, 1, 1, "nothing is mapped at", "inside a mapping");
	expect_lie((unsigned long)zeros, 1, 1, "not an ELF file", "a mapping of zeros");
	expect_lie((unsigned long)fake, 1, 1, "not an ELF file", "a file called [vdso]");
}

static void check_zombie(void)
{
	pid_t pid = fork();
	struct outcome o;
	siginfo_t info;

	if (pid == 0)
		_exit(0);
	waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT);
	o = run_vclock(pid);
	waitpid(pid, NULL, 0);
	tap_ok((o.status == 2 || o.status == 3) && o.out[0] == '\0' && is_one_line(o.err),
	       "a process that has ended and was not waited for: %d", o.status);
}

static void check_honest(void)
{
	struct outcome o = run_vclock(getpid());

	if (!tap_ok(o.status == 0 && o.err[0] == '\0' && strstr(o.out, "\nsoname: linux-") != NULL,
		    "an honest process: its image"))
		tap_diag("%d %s", o.status, o.err);
}

int main(void)
{
	const char *emulator = getenv("VCLOCK_EMULATOR");

	if (emulator != NULL && *emulator != '\0') {
		tap_skip("vclock vdso --pid", "the emulator does not run other programs");
		return tap_done();
	}
	alarm(60);
	if (!tap_ok(find_command(), "the command is at %s", command))
		return tap_done();
	check_honest();
	check_zombie();
	check_lies();
	return tap_done();
}
