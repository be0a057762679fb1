/* SPDX-License-Identifier: MIT */
/*
 * vclockd.c - keeps one page for the machine.
 *
 * Set-up and the loop: a timer wakes it for each step of the publisher; a second one, which the
 * kernel cancels whenever REALTIME is set, at every step of the clock; a signal ends it. What it
 * knows of pages, files and trust is in src/publish. Must never truncate or unlink a page that
 * readers map.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "daemon/notify.h"
#include "daemon/options.h"
#include "daemon/sandbox.h"
#include "publish/machine.h"
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
/* Lines of a page that was deleted may still be read for so long. */
#define NEW_PAGE_WAIT_NS (40 * NSEC_PER_MSEC)
/* Is the file still there, do the CPUs' counters agree: once in this time, and every n-th time. */
#define HOUSEKEEPING_NS NSEC_PER_SEC
#define SKEW_EVERY 60u
/* A counter that is certainly farther off than this on some CPU is not kept (design, Trust). */
#define SKEW_MAX_NS 1000u
/* While the kernel does not trust the counter, or after a failure. */
#define IDLE_NS (100 * NSEC_PER_MSEC)

enum { EXIT_OK = 0, EXIT_IMPOSSIBLE = 3, EXIT_FAILURE_ = 4 };

static struct {
	struct daemon_options options;
	struct page_file file;
	struct vclock_page *page; /* writable */
	struct publisher publisher;
	struct watch watch;
	int step_fd; /* timer: the next step */
	int set_fd;  /* timer that the kernel cancels when REALTIME is set */
	int signal_fd;
	int parent_fd; /* who waits for the first line, when we go into the background; or -1 */
	bool is_ready; /* a line was published */
	bool is_retired;
	uint64_t start_ns; /* no line before this time */
	uint64_t housekeeping_ns, watchdog_ns;
	unsigned housekeepings;
} self = {.step_fd = -1, .set_fd = -1, .signal_fd = -1, .parent_fd = -1};

__attribute__((format(printf, 2, 3))) static int complain(int status, const char *fmt, ...)
{
	char text[1200];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	fprintf(stderr, "vclockd: %s\n", text);
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
	machine_describe(&ret_config->page);
	ret_config->page.interval_ns = self.options.interval_ns;
	if (self.options.realtime_priority != 0 && self.options.interval_ns > AHEAD_REALTIME_NS)
		ret_config->page.ahead_ns = AHEAD_REALTIME_NS;
	ret_config->page.counter_kind = VCLOCK_COUNTER_KIND;
	if (self.options.trusts_counter && self.watch.trust.verdict == VCLOCK_TRUST_NEVER)
		ret_config->page.flags = VCLOCK_PAGE_TRUST_OVERRIDDEN;
	ret_config->counter_is_clocksource = watch_counter_is_clocksource(&self.watch);
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
		return complain(EXIT_FAILURE_, "%s: %s", self.options.page, strerror(-r));
	return 0;
}

static int open_wakers(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGINT);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	self.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
	self.step_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	self.set_fd = timerfd_create(CLOCK_REALTIME, TFD_CLOEXEC | TFD_NONBLOCK);
	if (self.signal_fd < 0 || self.step_fd < 0 || self.set_fd < 0)
		return complain(EXIT_FAILURE_, "timers: %s", strerror(errno));
	return 0;
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

static void arm(int fd, clockid_t clock, uint64_t ns)
{
	struct itimerspec spec = {.it_value = {0, 1}};
	int flags = 0;

	if (clock == CLOCK_REALTIME) {
		/* Never expires: only a set clock ends the wait. */
		spec.it_value.tv_sec = (time_t)1 << 40;
		flags = TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET;
	} else if (ns > 0) {
		spec.it_value.tv_sec = (time_t)(ns / NSEC_PER_SEC);
		spec.it_value.tv_nsec = (long)(ns % NSEC_PER_SEC);
	}
	timerfd_settime(fd, flags, &spec, NULL);
}

static void retire(enum vclock_retired reason)
{
	if (!self.is_retired)
		publisher_retire(&self.publisher, reason);
	self.is_retired = true;
}

/* The first line is there: the page is shown. False: it cannot be. */
static bool note_ready(void)
{
	int r;

	if (self.is_ready || VCLOCK_LOAD32(&self.page->generation) == 0)
		return true;
	r = page_file_show(&self.file);
	if (r != 0) {
		complain(EXIT_FAILURE_, "%s: %s", self.options.page, strerror(-r));
		return false;
	}
	self.is_ready = true;
	notify_send("READY=1\nSTATUS=The page is kept.");
	tell_parent(EXIT_OK);
	return true;
}

/* Starts over on the page as it stands. */
static int restart_publisher(void)
{
	struct publisher_config config;

	publisher_settings(&config);
	self.is_retired = false;
	return publisher_init(&self.publisher, reference_kernel(), self.page, &config);
}

/* Somebody deleted, or replaced, the file: readers of the old one are sent to the kernel, and find
 * the new one when they look. */
static void check_file(void)
{
	if (!self.is_ready || page_file_is_ours(&self.file))
		return;
	retire(VCLOCK_RETIRED_REPLACED);
	if (page_file_renew(&self.file) != 0 || map_page() != 0)
		return;
	self.is_ready = false;
	self.start_ns = now_ns() + NEW_PAGE_WAIT_NS;
	(void)restart_publisher();
}

static void check_skew(void)
{
	uint64_t skew_ns;

	if (self.is_retired || !self.is_ready || self.publisher.mono.count < KEEPER_WINDOW / 2)
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
	struct pollfd wakers[] = {
		{.fd = self.step_fd, .events = POLLIN},
		{.fd = self.set_fd, .events = POLLIN},
		{.fd = self.signal_fd, .events = POLLIN},
	};
	uint64_t expirations, sleep_ns;

	arm(self.set_fd, CLOCK_REALTIME, 0);
	for (;;) {
		uint64_t now = now_ns();

		if (!step(now, &sleep_ns))
			return EXIT_FAILURE_;
		arm(self.step_fd, CLOCK_MONOTONIC, sleep_ns);
		keep_house(now);
		if (poll(wakers, 3, -1) < 0 && errno != EINTR)
			return complain(EXIT_FAILURE_, "poll: %s", strerror(errno));
		if (wakers[2].revents != 0)
			return EXIT_OK;
		(void)!read(self.step_fd, &expirations, sizeof(expirations));
		if (wakers[1].revents != 0) {
			/* ECANCELED: REALTIME was set; the step that comes now sees it. */
			(void)!read(self.set_fd, &expirations, sizeof(expirations));
			arm(self.set_fd, CLOCK_REALTIME, 0);
		}
	}
}

static int set_up(void)
{
	int r;

	watch_init(&self.watch, self.options.sysfs, self.options.trusts_counter, now_ns());
	if (watch_check(&self.watch, now_ns()) == WATCH_FORBIDDEN)
		return complain(EXIT_IMPOSSIBLE, "counter: %s", self.watch.trust.reason);
	make_default_folder();
	r = take_priority();
	if (r == 0)
		r = open_page();
	if (r == 0)
		r = open_wakers();
	if (r == 0 && self.options.is_sandboxed) {
		r = sandbox_enter();
		if (r != 0)
			r = complain(EXIT_FAILURE_, "sandbox: %s (see --no-sandbox)", strerror(-r));
	}
	return r;
}

int main(int argc, char **argv)
{
	int r = options_parse(argc, argv, &self.options);

	if (r >= 0)
		return r;
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
