/* SPDX-License-Identifier: MIT */
/*
 * The system calls that `vclock info` lists are all that the library makes: each function runs in a
 * child under a filter that kills at any other. Once by whatever route there is, once with a page,
 * and once with VCLOCK_ROUTE=syscall, where all of them are needed. Case Q02. The table is a part
 * of the tool, and is compiled in here.
 */
#include "../src/cli/info_calls.c"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support_daemon.h"
#include "tap.h"
#include "vclock/read.h"

/* The kernel's seccomp ABI: its headers are not at hand with every libc. */
struct instruction {
	uint16_t code;
	uint8_t jump_true, jump_false;
	uint32_t k;
};

struct program {
	unsigned short length;
	const struct instruction *instruction;
};

#define LOAD_NUMBER           \
	{                     \
		0x20, 0, 0, 0 \
	}
#define ALLOW_IF_EQUAL(nr)             \
	{0x15, 0, 1, (uint32_t)(nr)},  \
	{                              \
		0x06, 0, 0, 0x7fff0000 \
	}
#define KILL                           \
	{                              \
		0x06, 0, 0, 0x80000000 \
	}
#define FILTER_MODE 2
#define FILTER_MAX 200

static const struct {
	const char *name;
	long nr;
} numbers[] = {
#define NUMBER(name)              \
	{                         \
#name, SYS_##name \
	}
	NUMBER(clock_gettime),
	NUMBER(clock_getres),
	NUMBER(gettimeofday),
	NUMBER(getcpu),
	NUMBER(getpid),
	NUMBER(getppid),
	NUMBER(kcmp),
	NUMBER(openat),
#ifdef SYS_open
	NUMBER(open),
#endif
	NUMBER(fcntl),
	NUMBER(read),
	NUMBER(munmap),
	NUMBER(close),
	NUMBER(sched_yield),
	NUMBER(nanosleep),
	NUMBER(madvise),
	NUMBER(mincore),
	NUMBER(prctl),
	NUMBER(futex),
	NUMBER(fstat),
#ifdef SYS_stat
	NUMBER(stat),
#endif
	NUMBER(mmap),
	NUMBER(rt_sigprocmask),
	NUMBER(rt_sigaction),
	NUMBER(memfd_create),
	NUMBER(ftruncate),
	NUMBER(unlinkat),
#ifdef SYS_renameat
	NUMBER(renameat),
#endif
	NUMBER(renameat2),
#ifdef SYS_unlink
	NUMBER(unlink),
#endif
#ifdef SYS_rename
	NUMBER(rename),
#endif
	NUMBER(pwrite64),
	NUMBER(fchmod),
#ifdef SYS_lstat
	NUMBER(lstat),
#endif
	NUMBER(prlimit64),
#ifdef SYS_arch_prctl
	NUMBER(arch_prctl),
#endif
	NUMBER(clone),
	NUMBER(clone3),
	NUMBER(mprotect),
	NUMBER(membarrier),
	NUMBER(getrandom),
	NUMBER(brk),
	NUMBER(sched_get_priority_min),
	NUMBER(sched_get_priority_max),
	NUMBER(sched_setscheduler),
	NUMBER(rseq),
	NUMBER(set_robust_list),
	NUMBER(exit),
	NUMBER(gettid),
	NUMBER(tgkill),
#ifdef SYS_futex_time64
	NUMBER(futex_time64),
#endif
#ifdef SYS_lstat64
	NUMBER(lstat64),
#endif
#ifdef SYS_ftruncate64
	NUMBER(ftruncate64),
#endif
#ifdef SYS_ugetrlimit
	NUMBER(ugetrlimit),
#endif
#ifdef SYS_fcntl64
	NUMBER(fcntl64),
#endif
#ifdef SYS_newfstatat
	NUMBER(newfstatat),
#endif
#ifdef SYS_clock_gettime64
	NUMBER(clock_gettime64),
#endif
#ifdef SYS_clock_getres_time64
	NUMBER(clock_getres_time64),
#endif
#ifdef SYS_mmap2
	NUMBER(mmap2),
#endif
#ifdef SYS_statx
	NUMBER(statx),
#endif
#ifdef SYS_fstatat64
	NUMBER(fstatat64),
#endif
#ifdef SYS_fstat64
	NUMBER(fstat64),
#endif
};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static char page_path[64];

static long number_of(const char *name)
{
	size_t i;

	for (i = 0; i < NUMBERS; i++) {
		if (strcmp(numbers[i].name, name) == 0)
			return numbers[i].nr;
	}
	tap_diag("%s: no such system call in this test's list", name);
	exit(1);
}

/* False: no filter can be set here. */
static bool allow_only(const char *calls)
{
	struct instruction filter[FILTER_MAX] = {LOAD_NUMBER, ALLOW_IF_EQUAL(SYS_exit_group)};
	const struct instruction kill = KILL;
	struct program program = {3, filter};
	char list[2048], *name, *state;

	snprintf(list, sizeof(list), "%s", calls);
	for (name = strtok_r(list, ", ", &state); name != NULL;
	     name = strtok_r(NULL, ", ", &state)) {
		const struct instruction allow[] = {ALLOW_IF_EQUAL(number_of(name))};

		memcpy(&filter[program.length], allow, sizeof(allow));
		program.length = (unsigned short)(program.length + 2);
	}
	filter[program.length++] = kill;
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
	       prctl(PR_SET_SECCOMP, FILTER_MODE, &program) == 0;
}

static void do_gettime(void)
{
	struct vclock_timespec ts;
	int clk;

	for (clk = -8; clk < 26; clk++)
		vclock_gettime64(clk, &ts);
}

static void do_now(void)
{
	struct vclock_timespec real, mono;

	vclock_now64(&real, &mono);
}

static void do_ns(void)
{
	vclock_realtime_ns();
	vclock_monotonic_ns();
	vclock_raw_ns();
	vclock_boottime_ns();
	vclock_tai_ns();
	vclock_monotonic_unordered_ns();
}

static void do_getres(void)
{
	struct vclock_timespec res;
	int clk;

	for (clk = -8; clk < 26; clk++)
		vclock_getres64(clk, &res);
}

static void do_gettimeofday(void)
{
	struct vclock_timeval tv;
	struct vclock_timezone tz;

	vclock_gettimeofday64(&tv, &tz);
	vclock_gettimeofday64(&tv, NULL);
	vclock_gettimeofday64(NULL, NULL);
}

static void do_time(void)
{
	vclock_time64(NULL);
}

static void do_stamp(void)
{
	vclock_stamp();
}

static uint64_t stamp;

static void do_stamp_ns(void)
{
	uint64_t ns;

	vclock_stamp_ns(stamp, VCLOCK_REALTIME, &ns);
}

static void do_getcpu(void)
{
	unsigned cpu, node;

	vclock_getcpu(&cpu, &node);
}

static void do_getpid(void)
{
	vclock_getpid();
	vclock_getpid();
}

static void do_inlines(void)
{
	const struct vclock_page *page = vclock_page();
	struct vclock_timespec real, mono;
	uint64_t ns;

	vclock_read_ns(page, VCLOCK_MONOTONIC, &ns);
	vclock_read_now(page, &real, &mono);
}

static void do_open(void)
{
	vclock_open("/dev/null");
	vclock_open("/nonexistent");
	vclock_open(page_path);
}

static void do_status(void)
{
	struct vclock_status status = {.size = sizeof(status)};

	vclock_status(&status);
}

static void do_counter_status(void)
{
	struct vclock_counter_status status = {.size = sizeof(status)};

	vclock_counter_status(NULL, &status);
}

/* The page in the window has ended, and another file has its path: see file_of_the_dead(). */
static void do_fall_back(void)
{
	int i;

	for (i = 0; i < 10; i++)
		vclock_monotonic_ns();
}

static const struct {
	const char *function;
	void (*run)(void);
} runs[] = {
	{"vclock_gettime", do_gettime},
	{"vclock_now", do_now},
	{"vclock_*_ns", do_ns},
	{"vclock_getres", do_getres},
	{"vclock_gettimeofday", do_gettimeofday},
	{"vclock_time", do_time},
	{"vclock_stamp", do_stamp},
	{"vclock_stamp_ns", do_stamp_ns},
	{"vclock_getcpu", do_getcpu},
	{"vclock_getpid", do_getpid},
	{"the reader inlines", do_inlines},
	{"vclock_open", do_open},
	{"vclock_status", do_status},
	{"vclock_counter_status", do_counter_status},
};

/* 0: it came back; -1: no filter can be set; else the signal that killed it. A new process in which
 * the library has not been called yet. */
static int run_under(const char *calls, void (*run)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (!allow_only(calls))
			_exit(1);
		run();
		/* Not _exit(): a sanitizer makes calls of its own there. */
		syscall(SYS_exit_group, 0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status) != 0 ? -1 : 0;
}

static const char *calls_of(const char *function)
{
	const struct info_calls *row;

	for (row = info_calls; row->function != NULL; row++) {
		if (strcmp(row->function, function) == 0)
			return row->calls;
	}
	return "";
}

static void check_all(const char *how)
{
	size_t i;
	int r;

	stamp = vclock_stamp();
	for (i = 0; i < sizeof(runs) / sizeof(runs[0]); i++) {
		r = run_under(calls_of(runs[i].function), runs[i].run);
		tap_ok(r == 0, "%s, %s: no call beside: %s", how, runs[i].function,
		       calls_of(runs[i].function));
		if (r != 0)
			tap_diag("signal %d", r);
	}
}

static int publish_until_killed(void)
{
	struct vclock_publisher_options options = {
		.size = sizeof(options), .trust_counter = 1, .wait_ms = 10000, .path = page_path};

	if (vclock_publisher_start(&options) != 0)
		return 1;
	for (;;)
		pause();
}

static bool open_page(void)
{
	int i;

	for (i = 0; i < 15000 && vclock_open(page_path) != 0; i++)
		usleep(1000);
	return i < 15000;
}

/* A copy of the page takes the place of the file, and nobody keeps either. */
static bool replace_file(void)
{
	static unsigned char bytes[VCLOCK_PAGE_SIZE];
	FILE *file = fopen(page_path, "rb");
	bool is_good = file != NULL && fread(bytes, 1, sizeof(bytes), file) == sizeof(bytes);

	if (file != NULL)
		fclose(file);
	unlink(page_path);
	file = fopen(page_path, "wb");
	is_good = is_good && file != NULL && fwrite(bytes, 1, sizeof(bytes), file) == sizeof(bytes);
	return file != NULL && fclose(file) == 0 && is_good;
}

static void file_of_the_dead(void)
{
	const char *calls = calls_of("a call that falls back");
	bool is_good;
	pid_t pid;
	int r;

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(publish_until_killed());
	is_good = open_page();
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	tap_ok(is_good && replace_file(), "a page whose writer is dead, and another file");
	usleep(200000);
	r = run_under(calls, do_fall_back);
	tap_ok(r == 0, "a call that falls back: no call beside: %s (%d)", calls, r);
	r = run_under(calls_of("vclock_gettime"), do_fall_back);
	tap_ok(r == SIGSYS, "... and it is such a call (%d)", r);
	unlink(page_path);
}

static const char *publisher_path;

/* From the start to the end of a thread, which looks at the list of clocksources four times a
 * second. */
static void do_publish(void)
{
	struct vclock_publisher_options options = {
		.size = sizeof(options), .trust_counter = 1, .path = publisher_path};
	const long pause[2] = {0, 600000000};

	if (vclock_publisher_start(&options) != 0)
		_exit(1);
	syscall(SYS_nanosleep, pause, NULL);
	vclock_publisher_stop();
}

/* Its thread was there before the filter, which is not the thread's. */
static void stop_alone(void)
{
	struct vclock_publisher_options options = {.size = sizeof(options),
						   .trust_counter = 1,
						   .wait_ms = 10000,
						   .path = publisher_path};
	pid_t pid = fork();
	int status = -1;

	if (pid == 0) {
		if (vclock_publisher_start(&options) != 0 ||
		    !allow_only(calls_of("vclock_publisher_stop")))
			_exit(1);
		vclock_publisher_stop();
		syscall(SYS_exit_group, 0);
	}
	waitpid(pid, &status, 0);
	tap_ok(status == 0, "a page in %s, vclock_publisher_stop: no call beside: %s (%d)",
	       publisher_path != NULL ? "a file" : "memory", calls_of("vclock_publisher_stop"),
	       status);
}

static void a_publisher(const char *path)
{
	const char *where = path != NULL ? "a file" : "memory";
	char calls[2048];
	int r;

	publisher_path = path;
	snprintf(calls, sizeof(calls), "%s, %s, %s", calls_of("vclock_publisher_start"),
		 calls_of("a publisher's thread"), calls_of("vclock_publisher_stop"));
	r = run_under(calls, do_publish);
	tap_ok(r == 0, "a page in %s, a publisher's life: no call beside: %s (%d)", where, calls,
	       r);
	r = run_under(calls_of("vclock_publisher_start"), do_publish);
	tap_ok(r == SIGSYS, "... and its thread makes some of its own (%d)", r);
	stop_alone();
}

static void with_page(void)
{
	struct vclock_publisher_options options = {
		.size = sizeof(options), .trust_counter = 1, .wait_ms = 10000, .path = page_path};
	int r;

	snprintf(page_path, sizeof(page_path), "/tmp/vclock-calls-%d", (int)getpid());
	r = vclock_publisher_start(&options);
	tap_ok(r == 0, "a publisher (%d)", r);
	check_all("page");
	vclock_publisher_stop();
	unlink(page_path);
	file_of_the_dead();
	/* A thread under a sanitizer makes calls of its own. */
	if (!support_is_sanitized()) {
		a_publisher(NULL);
		a_publisher(page_path);
	}
	snprintf(page_path, sizeof(page_path), "/tmp/vclock-calls-%d.lock", (int)getpid());
	unlink(page_path);
}

/* The route is read before main: the second part is the same program again, counting on. */
static void go_on_by_syscall(char **argv)
{
	char count[32], failed[32];

	snprintf(count, sizeof(count), "%d", tap_count);
	snprintf(failed, sizeof(failed), "%d", tap_failed);
	setenv("VCLOCK_CALLS_COUNT", count, 1);
	setenv("VCLOCK_CALLS_FAILED", failed, 1);
	setenv("VCLOCK_ROUTE", "syscall", 1);
	execv("/proc/self/exe", argv);
	tap_ok(0, "the second part starts");
}

int main(int argc, char **argv)
{
	const char *count = getenv("VCLOCK_CALLS_COUNT");

	(void)argc;
	if (count != NULL) {
		tap_count = atoi(count);
		tap_failed = atoi(getenv("VCLOCK_CALLS_FAILED"));
		check_all("VCLOCK_ROUTE=syscall");
		return tap_done();
	}
	if (run_under("", do_inlines) == -1) {
		tap_skip("all", "the emulator has no seccomp filters");
		return tap_done();
	}
	tap_ok(run_under("", do_getpid) == SIGSYS, "a call that is not allowed kills");
	check_all("default route");
	with_page();
	go_on_by_syscall(argv);
	return tap_done();
}
