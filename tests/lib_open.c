/* SPDX-License-Identifier: MIT */
/*
 * vclock_open(): each thing that a page file can be wrong in has its own error, and after each the
 * route is what it was. A page that a live publisher keeps is taken.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/kernel.h"
#include "support_lib.h"
#include "tap.h"
#include "vclock/read.h"

static struct vclock_page page;

static void expect(const char *path, int want, const char *what)
{
	struct vclock_status status;
	int r;

	errno = 12345;
	r = vclock_open(path);
	status = support_status();
	tap_ok(r == want && errno == 12345 && status.page_source == VCLOCK_PAGE_NONE &&
		       status.clock[1].route != VCLOCK_ROUTE_PAGE,
	       "%s: %d (%d)", what, want, r);
}

static struct vclock_slot *live(void)
{
	return &page.slot[page.generation & 1];
}

/* Opens a fresh page at once: its line lasts some 20 ms. */
#define EXPECT(want, offset_ns, change, what)                                   \
	do {                                                                    \
		if (support_make_page(&page, offset_ns) != 0)                   \
			return 99;                                              \
		change;                                                         \
		expect(support_write("page", &page, sizeof(page)), want, what); \
	} while (0)

static void odd_files(void)
{
	const char *path;

	expect(support_path("nothing"), -ENOENT, "no file");
	expect(support_folder(), -EINVAL, "a folder");
	expect("/dev/null", -EINVAL, "a device");
	path = support_path("fifo");
	mkfifo(path, 0644);
	expect(path, -EINVAL, "a pipe, without waiting for its writer");
	expect(support_write("short", &page, 4095), -EINVAL, "one byte short");
	expect(support_write("empty", &page, 0), -EINVAL, "an empty file");
	path = support_path("link");
	if (symlink(support_path("page"), path) == 0)
		expect(path, -ELOOP, "a symbolic link");
	path = support_write("writable", &page, sizeof(page));
	chmod(path, 0664);
	expect(path, -EPERM, "writable by the group");
	chmod(path, 0646);
	expect(path, -EPERM, "writable by all");
	chmod(path, 0644);
	if (geteuid() == 0 && chown(path, 65534, 65534) == 0)
		expect(path, -EPERM, "of another user");
}

/* In a child: a page that ends before it was compared is let through, for later, and stays. */
static int open_far_off(void *arg)
{
	int r = support_make_page(&page, *(int64_t *)arg);

	if (r == 0)
		r = vclock_open(support_write("page", &page, sizeof(page)));
	if (r == 0)
		return 3; /* too busy a machine */
	return r != -EDOM || support_status().page_source != VCLOCK_PAGE_NONE;
}

static void far_off(int64_t offset_ns, const char *what)
{
	int r = 3, i;

	for (i = 0; i < 50 && r == 3; i++)
		r = support_child(open_far_off, &offset_ns);
	tap_ok(r == 0, "%s: %d", what, -EDOM);
}

/* Every second look at the kernel's clock is 5 ms late, as when the thread loses the CPU. */
static int slow_gettime(int32_t clk, struct vclock_timespec *ret_ts)
{
	static unsigned calls;

	if ((++calls & 1) == 0)
		usleep(5000);
	return raw_clock_gettime(clk, ret_ts);
}

/* In a child: a page that is 3 ms off, opened by a thread that is held up in each comparison. */
static int open_held_up(void *arg)
{
	struct lib_kernel fast = lib_kernel;
	struct vclock_timespec ts, after;
	int r = support_make_page(&page, 3000000);

	(void)arg;
	lib_kernel.gettime = slow_gettime;
	lib_kernel.vdso_clocks |= VCLOCK_PAGE_CLOCKS;
	if (r == 0)
		r = vclock_open(support_write("page", &page, sizeof(page)));
	lib_kernel = fast;
	if (r == -EDOM)
		return 3; /* held up elsewhere */
	if (r != 0 || vclock_gettime64(VCLOCK_MONOTONIC, &ts) != 0 ||
	    kernel_gettime(VCLOCK_MONOTONIC, &after) != 0)
		return 1;
	return (ts.tv_sec - after.tv_sec) * 1000000000 + ts.tv_nsec - after.tv_nsec > 1000000 ? 2
											      : 0;
}

static void held_up(void)
{
	int r = 3, i;

	for (i = 0; i < 50 && r == 3; i++)
		r = support_child(open_held_up, NULL);
	tap_ok(r == 0, "a comparison that was held up shows nothing, and is made again (%d)", r);
}

/*
 * In a child: a page that begins in 5 ms cannot be compared when it is opened. The first call that
 * it covers does so, with all clocks: *arg is what MONOTONIC_RAW is off by, in s.
 */
static int open_early(void *arg)
{
	int64_t off_sec = *(int64_t *)arg;
	struct vclock_timespec ts;
	struct vclock_line *line;
	struct timespec want;
	uint32_t clk;
	int r = support_make_page(&page, 0);

	line = &live()->line[1];
	line->start_cyc += page.counter_hz / 200;
	for (clk = 0; clk < VCLOCK_BASES; clk++) {
		line->base[clk].fns += UINT64_C(5000000) << page.shift;
		if (line->base[clk].fns >> page.shift >= 1000000000)
			return 3;
	}
	line->base[VCLOCK_MONOTONIC_RAW].sec += off_sec;
	if (r == 0)
		r = vclock_open(support_write("early", &page, sizeof(page)));
	if (r != 0)
		return r == -EDOM ? 3 : 1; /* it has begun by now */
	usleep(6000);
	if (vclock_gettime64(VCLOCK_MONOTONIC, &ts) != 0 ||
	    vclock_gettime64(VCLOCK_MONOTONIC_RAW, &ts) != 0)
		return 1;
	clock_gettime(CLOCK_MONOTONIC_RAW, &want);
	if (ts.tv_sec > want.tv_sec + 1)
		return 2;
	/* A right one that is refused was made while this process was held up: every try again. */
	if (support_status().page_source == VCLOCK_PAGE_NONE && off_sec == 0)
		return 3;
	if (support_status().page_source == VCLOCK_PAGE_NONE)
		return support_status().page_error == -EDOM ? 0 : 4;
	/* Not compared: it had ended. */
	return off_sec == 0 && support_status().clock[1].route == VCLOCK_ROUTE_PAGE ? 0 : 3;
}

static void early(int64_t off_sec, const char *what)
{
	int r = 3, i;

	for (i = 0; i < 50 && r == 3; i++)
		r = support_child(open_early, &off_sec);
	tap_ok(r == 0, "%s (%d)", what, r);
}

/* A page that ends while it is looked at is too busy a machine, not a finding: try again. */
static int open_good(const char *path)
{
	int r = -EAGAIN, i;

	for (i = 0; i < 20 && r != 0; i++) {
		r = vclock_open(path);
		usleep(20000);
	}
	return r;
}

static int publish_in_child(const char *path)
{
	if (support_publish(path) != 0)
		return 1;
	for (;;)
		pause();
}

int main(void)
{
	const char *path = support_path("live");
	struct vclock_status status;
	pid_t pid;

	unsetenv("VCLOCK_ROUTE");
	support_make_page(&page, 0);
	odd_files();
	EXPECT(-EINVAL, 0, page.magic = 0, "no magic");
	EXPECT(-EPROTO, 0, page.version = 2, "another version");
	EXPECT(-EINVAL, 0, live()->tai_offset_sec = INT32_MAX, "a field out of range");
	EXPECT(-ESTALE, 0, page.boot_id[3] ^= 1, "another boot");
	EXPECT(-ESTALE, 0, memset(page.boot_id, 0, 16), "no boot named");
	EXPECT(-EXDEV, 0, page.timens_ino ^= 1, "another time namespace");
	EXPECT(-EREMOTE, 0, page.counter_kind = VCLOCK_COUNTER_CALLER, "a counter of its own");
	EXPECT(-ENODATA, 0, page.generation = 0, "never published");
	EXPECT(-ETIME, 0, live()->retired = VCLOCK_RETIRED_STOPPED, "retired");
	EXPECT(-ETIME, 0, live()->line[1].start_cyc -= page.counter_hz * 3 / 2,
	       "ended a second ago");
	far_off(2000000, "two milliseconds ahead of the kernel");
	far_off(-2000000, "two milliseconds behind");
	far_off(INT64_C(86400000000000), "a day ahead");

	early(0, "a page that begins a little later is taken, and compared then");
	early(48, "... and refused then when one clock is far off");
	held_up();

	fflush(stdout);
	pid = fork();
	if (pid == 0)
		_exit(publish_in_child(path));
	tap_ok(open_good(path) == 0 && support_wait_for_route(1, VCLOCK_ROUTE_PAGE) == 0,
	       "a page that is kept by another process");
	status = support_status();
	tap_ok(status.page_source == VCLOCK_PAGE_FILE && strcmp(status.page_path, path) == 0 &&
		       status.page_writer_pid == (uint32_t)pid,
	       "its path and writer show");
	tap_ok(vclock_open(support_path("nothing")) == -ENOENT &&
		       support_status().page_source == VCLOCK_PAGE_FILE,
	       "a failure later on leaves it in use");
	tap_ok(support_publish(NULL) == 0 && support_status().page_source == VCLOCK_PAGE_FILE,
	       "a publisher is not started beside it");
	kill(pid, SIGKILL);
	support_wait(pid);
	tap_ok(support_wait_for_route(1, support_status().has_vdso ? VCLOCK_ROUTE_VDSO
								   : VCLOCK_ROUTE_SYSCALL) == 0 &&
		       support_status().clock[1].reason == VCLOCK_REASON_NOT_COVERED,
	       "its writer dies: the kernel answers");
	usleep(1100000);
	tap_ok(vclock_open(path) == -ETIME, "a second later the file is too old");
	return tap_done();
}
