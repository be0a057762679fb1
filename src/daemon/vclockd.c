/* SPDX-License-Identifier: MIT */
/*
 * vclockd.c - keeps one page for the machine.
 *
 * Set-up and the loop: a step of the publisher, a look at the house, a wait. What it knows of
 * pages, files and trust is in src/publish. Must never truncate or unlink a page that readers map.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "daemon/notify.h"
#include "daemon/options.h"
#include "daemon/sandbox.h"
#include "daemon/wake.h"
#include "message/message.h"
#include "publish/machine.h"
#include "publish/page_check.h"
#include "publish/page_file.h"
#include "publish/publisher.h"
#include "publish/skew.h"
#include "publish/watch.h"
#include "vclock.h"
#include "vclock/counter.h"

#define NSEC_PER_SEC UINT64_C(1000000000)
#define NSEC_PER_MSEC 1000000u
/* With real-time priority a step is late by microseconds: lines need no longer head start. */
#define AHEAD_REALTIME_NS (2 * NSEC_PER_MSEC)
/* Where the kernel's clocksource is another, two lines are 20 ms at the most. */
#define INTERVAL_NS_OTHER (10 * NSEC_PER_MSEC)
/* Lines of a page that was deleted may still be read for so long. */
#define NEW_PAGE_WAIT_NS (40 * NSEC_PER_MSEC)
/* Is the file still there, do the CPUs' counters agree: once in this time, and every n-th time. */
#define HOUSEKEEPING_NS NSEC_PER_SEC
#define SKEW_EVERY 60u
/* A counter that is certainly farther off than this on some CPU is not kept (design, Trust). */
#define SKEW_MAX_NS 1000u
/* Files that a shell may leave open, on a kernel before 5.9. */
#define INHERITED_MAX 1024
/* While the kernel does not trust the counter, or after a failure. */
#define IDLE_NS (100 * NSEC_PER_MSEC)

enum { EXIT_OK = 0, EXIT_IMPOSSIBLE = 3, EXIT_FAILURE_ = 4 };

static struct {
	struct daemon_options options;
	struct page_file file;
	struct vclock_page *page; /* writable */
	struct publisher publisher;
	struct watch watch;
	struct vclock_page_config here; /* boot, time namespace and the like, which do not change */
	int parent_fd;	 /* who waits for the first line, when we go into the background; or -1 */
	bool was_ready;	 /* a page has answered once */
	bool has_head;	 /* this page has answered, and stands in its place */
	bool has_page;	 /* false: there is no file to publish in just now */
	bool has_lost;	 /* another process keeps the page now */
	bool is_retired; /* this page has ended */
	unsigned char head[offsetof(struct vclock_page, slot)]; /* as the publisher wrote it */
	uint64_t start_ns;					/* no line before this time */
	uint64_t housekeeping_ns, watchdog_ns;
	unsigned housekeepings;
} self = {.parent_fd = -1};

__attribute__((format(printf, 2, 3))) static int complain(int status, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	message_vprint(STDERR_FILENO, "vclockd", fmt, ap);
	va_end(ap);
	return status;
}

static uint64_t now_ns(void)
{
	struct timespec ts = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/*
 * Set-up.
 */

/* SCHED_FIFO is given to root, and to whom RLIMIT_RTPRIO allows it. */
static int take_priority(void)
{
	struct sched_param param = {.sched_priority = self.options.realtime_priority};

	if (param.sched_priority == 0 || sched_setscheduler(0, SCHED_FIFO, &param) == 0)
		return 0;
	if (self.options.is_priority_wanted)
		return complain(EXIT_FAILURE_, "--priority: %d: %s", param.sched_priority,
				strerror(errno));
	self.options.realtime_priority = 0;
	return 0;
}

/* The default folder is the service manager's to make, or ours when we are started by hand. */
static void make_default_folder(void)
{
	char folder[] = OPTIONS_DEFAULT_PAGE;

	if (strcmp(self.options.page, OPTIONS_DEFAULT_PAGE) != 0)
		return;
	*strrchr(folder, '/') = '\0';
	if (mkdir(folder, 0755) == 0)
		(void)chmod(folder, 0755); /* whatever the umask */
}

static int map_page(void)
{
	void *page =
		mmap(NULL, VCLOCK_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, self.file.fd, 0);

	if (page == MAP_FAILED)
		return -errno;
	if (self.page != NULL)
		munmap(self.page, VCLOCK_PAGE_SIZE);
	self.page = page;
	return 0;
}

static void publisher_settings(struct publisher_config *ret_config)
{
	memset(ret_config, 0, sizeof(*ret_config));
	ret_config->page = self.here;
	ret_config->counter_is_clocksource = watch_counter_is_clocksource(&self.watch);
	ret_config->page.interval_ns = self.options.interval_ns;
	if (!ret_config->counter_is_clocksource && self.options.interval_ns > INTERVAL_NS_OTHER)
		ret_config->page.interval_ns = INTERVAL_NS_OTHER;
	if (self.options.realtime_priority != 0 && self.options.interval_ns > AHEAD_REALTIME_NS)
		ret_config->page.ahead_ns = AHEAD_REALTIME_NS;
	ret_config->page.counter_kind = VCLOCK_COUNTER_KIND;
	if (self.options.trusts_counter && self.watch.trust.verdict == VCLOCK_TRUST_NEVER)
		ret_config->page.flags = VCLOCK_PAGE_TRUST_OVERRIDDEN;
}

/*
 * The page that is there already, when an earlier daemon of this boot left it: same file, so that
 * no reader has to open anything. Any other is replaced.
 */
static int open_page(void)
{
	struct publisher_config config;
	bool is_old = false;
	int r = page_file_take(&self.file, self.options.page, &is_old);

	if (r == -EBUSY)
		return complain(EXIT_IMPOSSIBLE, "%s: process %d keeps this page",
				self.options.page, page_file_holder(self.options.page));
	if (r == 0)
		r = map_page();
	publisher_settings(&config);
	self.start_ns = is_old ? 0 : now_ns() + NEW_PAGE_WAIT_NS;
	if (r == 0 && is_old && !publisher_may_adopt(self.page, &config)) {
		r = page_file_renew(&self.file);
		if (r == 0)
			r = map_page();
	}
	if (r == 0)
		r = publisher_init(&self.publisher, reference_kernel(), self.page, &config);
	if (r != 0)
		return complain(EXIT_FAILURE_, "%s%s: %s", self.options.page, self.file.fault,
				r == -EEXIST && *self.file.fault != '\0' ? "not a regular file"
									 : strerror(-r));
	self.has_page = true;
	return 0;
}

/* What whoever started us had open: a lock of a script, or a pipe whose reader waits for its end.
 */
static void close_inherited(void)
{
	int fd;

#ifdef SYS_close_range
	if (syscall(SYS_close_range, STDERR_FILENO + 1, ~0u, 0) == 0)
		return;
#endif
	for (fd = STDERR_FILENO + 1; fd < INHERITED_MAX; fd++)
		close(fd);
}

/*
 * Into the background: the parent waits for the child's status, so that whoever started us knows
 * that the page is there, or why not. Locks and real-time priority come after this.
 */
static int go_background(void)
{
	unsigned char status = EXIT_FAILURE_;
	int pipe_fd[2], null_fd;
	pid_t pid;

	if (pipe2(pipe_fd, O_CLOEXEC) != 0)
		return complain(EXIT_FAILURE_, "pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		return complain(EXIT_FAILURE_, "fork: %s", strerror(errno));
	if (pid > 0) {
		close(pipe_fd[1]);
		if (read(pipe_fd[0], &status, 1) != 1)
			status = EXIT_FAILURE_;
		_exit(status);
	}
	close(pipe_fd[0]);
	self.parent_fd = pipe_fd[1];
	(void)setsid();
	(void)chdir("/");
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd >= 0) {
		dup2(null_fd, STDIN_FILENO);
		dup2(null_fd, STDOUT_FILENO);
		close(null_fd);
	}
	return 0;
}

static void tell_parent(int status)
{
	unsigned char byte = (unsigned char)status;

	if (self.parent_fd < 0)
		return;
	(void)!write(self.parent_fd, &byte, 1);
	close(self.parent_fd);
	self.parent_fd = -1;
	/* Errors went to whoever started us; nobody reads them from now on. */
	(void)dup2(STDIN_FILENO, STDERR_FILENO);
}

/*
 * The loop.
 */

static void retire(enum vclock_retired reason)
{
	if (!self.is_retired)
		publisher_retire(&self.publisher, reason);
	self.is_retired = true;
}

/* The page answers: it is shown, and whoever waits for it is told. False: it cannot be shown. */
static bool note_ready(void)
{
	int r;

	if (self.has_head || !publisher_is_answering(&self.publisher))
		return true;
	r = page_file_show(&self.file);
	if (r != 0 && !self.was_ready) {
		complain(EXIT_FAILURE_, "%s: %s", self.options.page, strerror(-r));
		return false;
	}
	self.has_page = r == 0; /* else its folder has gone: keep_house() tries again */
	if (r != 0)
		return true;
	memcpy(self.head, self.page, sizeof(self.head));
	self.has_head = true;
	if (!self.was_ready)
		notify_send("READY=1\nSTATUS=The page is kept.");
	self.was_ready = true;
	tell_parent(EXIT_OK);
	return true;
}

/* Starts over on the page as it stands. */
static int restart_publisher(void)
{
	struct publisher_config config;

	publisher_settings(&config);
	self.is_retired = false;
	self.has_head = false; /* it states some of it anew */
	return publisher_init(&self.publisher, reference_kernel(), self.page, &config);
}

/* Somebody wrote into the page: what only the publisher writes is not as it wrote it. */
static bool is_overwritten(void)
{
	const unsigned char *page = (const unsigned char *)self.page;
	const size_t rest = offsetof(struct vclock_page, shift);

	return self.has_head &&
	       (memcmp(page, self.head, offsetof(struct vclock_page, generation)) != 0 ||
		memcmp(page + rest, self.head + rest, sizeof(self.head) - rest) != 0);
}

/* Readers of this page are sent to the kernel, and find the new one when they look. */
static void replace_page(enum vclock_retired reason)
{
	retire(reason);
	self.has_page = page_file_renew(&self.file) == 0 && map_page() == 0;
	if (!self.has_page)
		return;
	self.start_ns = now_ns() + NEW_PAGE_WAIT_NS;
	(void)restart_publisher();
}

/*
 * What others could write is no page of ours any more, whether they did or not: whoever opened the
 * file meanwhile keeps it, and readers must not.
 */
static void check_writers(void)
{
	if (page_file_is_exposed(&self.file)) {
		complain(EXIT_OK,
			 "%s: its owner or mode was changed so that others could write it: "
			 "replaced by a new page",
			 self.options.page);
		replace_page(VCLOCK_RETIRED_EXPOSED);
	} else if (is_overwritten()) {
		complain(EXIT_OK, "%s: somebody wrote into it: replaced by a new page",
			 self.options.page);
		replace_page(VCLOCK_RETIRED_REPLACED);
	}
}

/* Somebody deleted, replaced or cut into the file; or there was no place for one. */
static void check_file(void)
{
	if (self.has_page && (!self.file.is_shown || page_file_is_ours(&self.file)) &&
	    (!self.has_head || page_check(self.page) == 0))
		return;
	if (self.was_ready)
		replace_page(VCLOCK_RETIRED_REPLACED);
}

/*
 * Somebody removed the lock file: a new one is made, unless another process was faster. That one
 * keeps the page now, unless it is about to find out that the page is locked as well.
 */
static void check_lock(void)
{
	if (page_file_keep_lock(&self.file) != -EBUSY || page_file_is_ours(&self.file))
		return;
	complain(EXIT_IMPOSSIBLE, "%s: process %d keeps this page", self.options.page,
		 page_file_holder(self.options.page));
	retire(VCLOCK_RETIRED_REPLACED);
	self.has_lost = true;
}

static void check_skew(void)
{
	uint64_t skew_ns;

	if (self.is_retired || !self.has_head || self.publisher.mono.count < KEEPER_WINDOW / 2)
		return;
	if (skew_measure(&self.publisher.mono.line, &skew_ns) == 0 && skew_ns > SKEW_MAX_NS)
		retire(VCLOCK_RETIRED_SKEW);
}

static void keep_house(uint64_t now)
{
	if (notify_watchdog_ns() != 0 && now >= self.watchdog_ns) {
		notify_send("WATCHDOG=1");
		self.watchdog_ns = now + notify_watchdog_ns();
	}
	if (now < self.housekeeping_ns)
		return;
	self.housekeeping_ns = now + HOUSEKEEPING_NS;
	check_lock();
	if (self.has_lost)
		return;
	check_file();
	if (self.housekeepings++ % SKEW_EVERY == 1)
		check_skew();
}

/* One step. False: the page cannot be shown. */
static bool step(uint64_t now, uint64_t *ret_sleep_ns)
{
	enum watch_state state = watch_check(&self.watch, now);
	enum vclock_retired reason;

	*ret_sleep_ns = IDLE_NS;
	if (self.has_page)
		check_writers();
	if (!self.has_page)
		return true;
	if (state == WATCH_FORBIDDEN) {
		retire(VCLOCK_RETIRED_CLOCKSOURCE);
		return true;
	}
	if (self.is_retired && state == WATCH_ALLOWED && restart_publisher() != 0)
		return true;
	self.publisher.config.counter_is_clocksource = watch_counter_is_clocksource(&self.watch);
	self.publisher.is_held = state != WATCH_ALLOWED || now < self.start_ns;
	if (publisher_step(&self.publisher, ret_sleep_ns, &reason) != 0) {
		retire(reason);
		watch_disagreed(&self.watch, now);
		/* A counter that failed once is not tried again soon. */
		*ret_sleep_ns = NSEC_PER_SEC;
		return true;
	}
	if (*ret_sleep_ns > IDLE_NS)
		*ret_sleep_ns = IDLE_NS;
	return note_ready();
}

static int loop(void)
{
	bool is_over = false;
	uint64_t sleep_ns;
	int r = 0;

	while (r == 0 && !is_over) {
		uint64_t now = now_ns();

		if (!step(now, &sleep_ns))
			return EXIT_FAILURE_;
		keep_house(now);
		if (self.has_lost)
			return EXIT_IMPOSSIBLE;
		r = wake_wait(sleep_ns, &is_over);
	}
	return r != 0 ? complain(EXIT_FAILURE_, "wait: %s", strerror(-r)) : EXIT_OK;
}

static int set_up(void)
{
	int r;

	watch_init(&self.watch, self.options.sysfs, self.options.trusts_counter, now_ns());
	if (watch_check(&self.watch, now_ns()) == WATCH_FORBIDDEN)
		return complain(EXIT_IMPOSSIBLE, "counter: %s", self.watch.trust.reason);
	machine_describe(&self.here);
	if (!machine_is_known_boot(self.here.boot_id))
		return complain(
			EXIT_IMPOSSIBLE,
			"/proc/sys/kernel/random/boot_id: the boot's id cannot be read, and no "
			"reader would take the page: is /proc mounted?");
	make_default_folder();
	r = take_priority();
	if (r == 0)
		r = open_page();
	if (r == 0) {
		r = wake_init();
		if (r != 0)
			r = complain(EXIT_FAILURE_, "timer: %s", strerror(-r));
	}
	if (r == 0 && self.options.is_sandboxed) {
		r = sandbox_enter();
		if (r != 0)
			r = complain(EXIT_FAILURE_, "sandbox: %s (see --no-sandbox)", strerror(-r));
	}
	return r;
}

/* A page or its lock must never be what messages go to. */
static bool open_standard_files(void)
{
	int fd;

	/* Read-only, so that a write to a stdout that was closed still fails. */
	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
	return fd >= 0;
}

int main(int argc, char **argv)
{
	int r;

	if (!open_standard_files())
		return EXIT_FAILURE_;
	r = options_parse(argc, argv, &self.options);
	if (r >= 0)
		return r;
	if (!self.options.is_foreground)
		close_inherited();
	notify_init();
	r = self.options.is_foreground ? 0 : go_background();
	if (r == 0)
		r = set_up();
	if (r == 0) {
		r = loop();
		notify_send("STOPPING=1");
		retire(VCLOCK_RETIRED_STOPPED);
		page_file_release(&self.file);
	}
	tell_parent(r);
	return r;
}
