/* SPDX-License-Identifier: MIT */
/*
 * daemon_life.c - a vclockd from start to end: its page file, its lock, its trust, what it says.
 *
 * The kernel's list of clocksources is a folder of our own (--sysfs): the counter is trusted, or
 * not, as the test writes it. S01, S12, S13, S14, S15, S16 and M18, N09 of the field reports.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support_counter.h"
#include "support_daemon.h"
#include "support_lib.h"
#include "tap.h"
#include "vclock.h"
#include "vclock/read.h"

static struct support_daemon daemon_;
static char sysfs[128], clocksource[256];

static void write_text(const char *folder, const char *name, const char *text)
{
	char path[512];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (file == NULL)
		return;
	fputs(text, file);
	fclose(file);
}

/* '@' is the counter's name. */
static void clocksource_is(const char *current, const char *available)
{
	char words[128];

	write_text(clocksource, "available_clocksource",
		   counter_words(available, words, sizeof(words)));
	write_text(clocksource, "current_clocksource",
		   counter_words(current, words, sizeof(words)));
}

static void make_sysfs(void)
{
	static const char *const parts[] = {"", "/devices", "/devices/system",
					    "/devices/system/clocksource",
					    "/devices/system/clocksource/clocksource0"};
	size_t i;

	snprintf(sysfs, sizeof(sysfs), "%s.sys", daemon_.folder);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(clocksource, sizeof(clocksource), "%s%s", sysfs, parts[i]);
		mkdir(clocksource, 0755);
	}
}

static void remove_sysfs(void)
{
	char command[256];

	snprintf(command, sizeof(command), "rm -rf '%s'", sysfs);
	if (system(command) != 0)
		tap_diag("%s is left behind", sysfs);
}

/* Runs vclockd to its end and returns its exit status; what it said on stderr goes to text. */
static int run(const char *const *argv, char *text, size_t size)
{
	int pipe_fd[2], status = -1;
	size_t length = 0;
	ssize_t n;
	pid_t pid;

	if (pipe(pipe_fd) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(pipe_fd[1], STDERR_FILENO);
		close(pipe_fd[0]);
		close(pipe_fd[1]);
		alarm(20);
		execv(daemon_.program, (char *const *)argv);
		_exit(127);
	}
	close(pipe_fd[1]);
	while (length + 1 < size && (n = read(pipe_fd[0], text + length, size - 1 - length)) > 0)
		length += (size_t)n;
	text[length] = '\0';
	close(pipe_fd[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int lines(const char *text)
{
	int n = 0;

	for (; *text != '\0'; text++)
		n += *text == '\n';
	return n;
}

static void usage_errors(void)
{
	static const char *const bad[][4] = {
		{"vclockd", "--interval", "0", NULL},
		{"vclockd", "--interval", "21", NULL},
		{"vclockd", "--interval", "ten", NULL},
		{"vclockd", "--interval", "", NULL},
		{"vclockd", "--interval", " 5", NULL},
		{"vclockd", "--interval", "+5", NULL},
		{"vclockd", "--interval", "\t5", NULL},
		{"vclockd", "--interval", "5 ", NULL},
		{"vclockd", "--interval", "05", NULL},
		{"vclockd", "--priority", " 5", NULL},
		{"vclockd", "--priority", "+5", NULL},
		{"vclockd", "--priority", "100", NULL},
		{"vclockd", "--priority", "-1", NULL},
		{"vclockd", "--page", "", NULL},
		{"vclockd", "somewhere", NULL, NULL},
		{"vclockd", "--interval", "99999999999999999999", NULL},
		{"vclockd", "--interval", NULL, NULL},
		{"vclockd", "--bogus", NULL, NULL},
	};
	char text[1024];
	size_t i;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int status = run(bad[i], text, sizeof(text));

		tap_ok(status == 2 && lines(text) == 1, "%s %s: status %d, one line", bad[i][1],
		       bad[i][2] != NULL ? bad[i][2] : "", status);
	}
}

static void distrust(void)
{
	const char *const argv[] = {"vclockd", "--foreground", "--page", daemon_.page,
				    "--sysfs", sysfs,	       NULL};
	char text[1024];
	int status;

	clocksource_is("hpet\n", "hpet acpi_pm \n");
	status = run(argv, text, sizeof(text));
	tap_ok(status == 3 && lines(text) == 1 && strstr(text, "does not list the counter") != NULL,
	       "a counter that the kernel does not list: status %d, says why", status);
	tap_ok(access(daemon_.page, F_OK) != 0, "... and no page");
}

static void bad_places(void)
{
	const char *const argv[] = {"vclockd", "--foreground", "--trust-counter",
				    "--page",  NULL,	       NULL};
	const char *with[6];
	char text[1024], path[128];
	int status;

	memcpy(with, argv, sizeof(argv));
	with[4] = "/nonexistent/page";
	status = run(with, text, sizeof(text));
	tap_ok(status == 4 && lines(text) == 1, "no such folder: status %d, one line", status);
	snprintf(path, sizeof(path), "%s/folder", daemon_.folder);
	mkdir(path, 0755);
	with[4] = path;
	status = run(with, text, sizeof(text));
	tap_ok(status == 4 && lines(text) == 1, "a folder in the page's place: status %d, one line",
	       status);
	rmdir(path);
}

static bool start(const char *more)
{
	const char *const extra[] = {"--sysfs", sysfs, more, NULL};

	clocksource_is("@\n", "@ hpet acpi_pm \n");
	return support_daemon_start(&daemon_, extra) && support_daemon_wait(&daemon_, 5000);
}

static ino_t inode(void)
{
	struct stat st;

	return stat(daemon_.page, &st) == 0 ? st.st_ino : 0;
}

static void modes(void)
{
	static const mode_t masks[] = {077, 0};
	struct stat st;
	size_t i;

	for (i = 0; i < 2; i++) {
		umask(masks[i]);
		start(NULL);
		tap_ok(stat(daemon_.page, &st) == 0 && (st.st_mode & 07777) == 0644 &&
			       st.st_uid == geteuid() && st.st_size == 4096,
		       "the page is 0644 and ours under umask %03o", (unsigned)masks[i]);
		support_daemon_stop(&daemon_, SIGTERM);
		unlink(daemon_.page);
	}
	umask(022);
}

static void a_symlink(void)
{
	char target[128], byte = 0;
	struct stat st;
	int fd;

	snprintf(target, sizeof(target), "%s/target", daemon_.folder);
	fd = open(target, O_RDWR | O_CREAT, 0600);
	(void)!write(fd, "precious", 8);
	if (symlink(target, daemon_.page) != 0)
		tap_diag("symlink: %s", strerror(errno));
	start(NULL);
	tap_ok(pread(fd, &byte, 1, 0) == 1 && byte == 'p',
	       "a symbolic link is not written through");
	tap_ok(lstat(daemon_.page, &st) == 0 && S_ISREG(st.st_mode), "... and is replaced");
	close(fd);
	unlink(target);
	support_daemon_stop(&daemon_, SIGTERM);
	unlink(daemon_.page);
}

static void one_writer(void)
{
	const char *const argv[] = {"vclockd", "--foreground", "--trust-counter",
				    "--page",  daemon_.page,   NULL};
	char text[1024], pid[32];
	ino_t before;
	int status;

	start(NULL);
	before = inode();
	status = run(argv, text, sizeof(text));
	snprintf(pid, sizeof(pid), "%d", (int)daemon_.pid);
	tap_ok(status == 3 && lines(text) == 1 && strstr(text, pid) != NULL,
	       "a second daemon says who holds the page: status %d", status);
	tap_ok(inode() == before && kill(daemon_.pid, 0) == 0, "... and leaves the page alone");
}

static uint64_t kernel_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* The time at which the oldest line that a page still has begins; 0: there is none. */
static uint64_t oldest_ns(const struct vclock_page *page)
{
	const struct vclock_slot *live = &page->slot[page->generation & 1];
	uint64_t least = UINT64_MAX;
	unsigned i;

	for (i = 0; i < 2 + VCLOCK_HISTORY; i++) {
		const struct vclock_line *line = i < 2 ? &live->line[i] : &page->history[i - 2];
		const struct vclock_base *base = &line->base[VCLOCK_MONOTONIC];
		uint64_t ns = (uint64_t)base->sec * 1000000000u + (base->fns >> page->shift);

		if (line->length_cyc != 0 && ns < least)
			least = ns;
	}
	return least == UINT64_MAX ? 0 : least;
}

/* A page that was deleted may still be read where it was mapped: its lines end first. */
static void a_new_page_waits(void)
{
	uint64_t begin = kernel_ns(), first = 0;
	int i;

	start(NULL);
	/* On a busy machine this looks too late for the first line now and then. */
	for (i = 0; i < 20 && first == 0; i++) {
		if (vclock_page()->slot[vclock_page()->generation & 1].history_count <
		    VCLOCK_HISTORY - 1) {
			first = oldest_ns(vclock_page());
			break;
		}
		support_daemon_stop(&daemon_, SIGTERM);
		unlink(daemon_.page);
		begin = kernel_ns();
		start(NULL);
	}
	tap_ok(first >= begin + 40000000u,
	       "without an old page the first line begins 40 ms after the start: %llu ns",
	       (unsigned long long)(first - begin));
	support_daemon_stop(&daemon_, SIGTERM);
	unlink(daemon_.page);
}

static void readers_cannot_write(void)
{
	errno = 0;
	tap_ok(mprotect((void *)(uintptr_t)vclock_page(), 4096, PROT_READ | PROT_WRITE) != 0 &&
		       errno == EACCES,
	       "a reader cannot make its page writable");
}

static uint32_t retired(void)
{
	const struct vclock_page *page = vclock_page();

	return VCLOCK_LOAD32(&page->slot[VCLOCK_LOAD32(&page->generation) & 1].retired);
}

static bool comes_true(bool (*condition)(void), unsigned ms)
{
	for (; ms > 0; ms--) {
		if (condition())
			return true;
		usleep(1000);
	}
	return false;
}

static bool is_answered(void)
{
	uint64_t ns;

	return vclock_read_ns(vclock_page(), VCLOCK_MONOTONIC, &ns) == 0;
}

static bool is_distrusted(void)
{
	return retired() == VCLOCK_RETIRED_CLOCKSOURCE && !is_answered();
}

/* The kernel marks its counter unstable, and somebody chooses it again, while readers run. */
static void clocksource_changes(void)
{
	clocksource_is("hpet\n", "hpet acpi_pm \n");
	tap_ok(comes_true(is_distrusted, 2000), "a counter that the kernel gave up ends the page");
	clocksource_is("@\n", "@ hpet acpi_pm \n");
	tap_ok(comes_true(is_answered, 5000), "... which goes on when the kernel trusts it again");
}

static void restart_keeps_the_file(void)
{
	ino_t before = inode();
	int status = support_daemon_stop(&daemon_, SIGTERM);

	tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "SIGTERM: exit 0");
	tap_ok(retired() == VCLOCK_RETIRED_STOPPED && !is_answered(),
	       "... and readers leave the page at once");
	start("--priority=0");
	tap_ok(inode() == before && is_answered(), "the next one takes the same file over");
}

static bool is_back(void)
{
	return inode() != 0;
}

static bool is_found(void)
{
	return vclock_open(daemon_.page) == 0 && is_answered();
}

static void the_file_is_deleted(void)
{
	ino_t before = inode();

	unlink(daemon_.page);
	tap_ok(comes_true(is_back, 5000) && inode() != before, "a deleted page comes back");
	tap_ok(retired() == VCLOCK_RETIRED_REPLACED, "... and readers of the old one were told");
	tap_ok(comes_true(is_found, 5000), "... and find the new one");
	support_daemon_stop(&daemon_, SIGTERM);
}

/* Longer ones are for where the counter is the clocksource. */
static void intervals(void)
{
	const char *const extra[] = {"--sysfs", sysfs, "--interval=20", NULL};

	start("--interval=20");
	tap_ok(is_answered() && vclock_page()->interval_ns == 20000000, "--interval 20");
	support_daemon_stop(&daemon_, SIGTERM);
	unlink(daemon_.page);
	clocksource_is("hpet\n", "@ hpet acpi_pm \n");
	support_daemon_start(&daemon_, extra);
	tap_ok(support_daemon_wait(&daemon_, 5000) && vclock_page()->interval_ns == 10000000,
	       "... is 10 ms where the kernel's clocksource is another");
	support_daemon_stop(&daemon_, SIGTERM);
	unlink(daemon_.page);
}

static bool hears(int fd, const char *what, int ms)
{
	char text[256];
	struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
	ssize_t n;
	int i;

	for (i = 0; i < 20 && poll(&poll_fd, 1, ms) == 1; i++) {
		n = recv(fd, text, sizeof(text) - 1, 0);
		text[n > 0 ? n : 0] = '\0';
		if (strstr(text, what) == text)
			return true;
	}
	return false;
}

static bool hears_twice(int fd)
{
	bool once = hears(fd, "WATCHDOG=1", 1000);

	return once && hears(fd, "WATCHDOG=1", 1000);
}

static void service_manager(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", daemon_.folder);
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		tap_diag("bind: %s", strerror(errno));
	setenv("NOTIFY_SOCKET", address.sun_path, 1);
	setenv("WATCHDOG_USEC", "200000", 1);
	start(NULL);
	tap_ok(hears(fd, "READY=1", 5000), "a service manager hears READY=1");
	tap_ok(hears_twice(fd), "... and WATCHDOG=1, twice in a second");
	support_daemon_stop(&daemon_, SIGTERM);
	tap_ok(hears(fd, "STOPPING=1", 1000), "... and STOPPING=1");
	close(fd);
	unsetenv("NOTIFY_SOCKET");
	unsetenv("WATCHDOG_USEC");
}

int main(int argc, char **argv)
{
	(void)argc;
	if (support_is_emulated()) {
		tap_skip("a daemon", "the emulator does not run other programs");
		return tap_done();
	}
	if (!tap_ok(support_daemon_begin(&daemon_, argv[0]), "vclockd is there"))
		return tap_done();
	make_sysfs();
	usage_errors();
	distrust();
	bad_places();
	modes();
	a_symlink();
	a_new_page_waits();
	one_writer();
	readers_cannot_write();
	clocksource_changes();
	restart_keeps_the_file();
	the_file_is_deleted();
	intervals();
	service_manager();
	remove_sysfs();
	support_daemon_end(&daemon_);
	return tap_done();
}
