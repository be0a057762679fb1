/* SPDX-License-Identifier: MIT */
/*
 * publisher_thread.c - the publisher of this process: one thread that keeps a page in shared
 * memory.
 *
 * Everything but the stop word belongs to the thread from the moment it runs until it is joined. A
 * forked child finds the statics as they were and lib_process.owns_publisher wiped: for it there is
 * no publisher, only a page to read. Must never hold the lock of lib_process while it waits for the
 * thread, which takes it to map the window.
 */
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/guard.h"
#include "lib/kernel.h"
#include "lib/open.h"
#include "publish/machine.h"
#include "publish/page_fd.h"
#include "publish/page_file.h"
#include "publish/publisher.h"
#include "publish/watch.h"
#include "vclock/counter.h"
#include "vclock/read.h"

#define NSEC_PER_MSEC 1000000u
#define INTERVAL_NS_MIN 1000000u
#define INTERVAL_NS_MAX 40000000u
/* The thread looks at least this often whether it may go on. */
#define WATCH_NS UINT64_C(100000000)
/* publisher_step() and what it calls need some 3 KiB; the rest is for libc and for a debugger. */
#define STACK_SIZE (64 * 1024)

/* <linux/futex.h>, which is not at hand with every libc; private to the process. */
#define FUTEX_WAIT_PRIVATE 128
#define FUTEX_WAKE_PRIVATE 129

enum owner { OWNER_NONE = 0, OWNER_RUNS, OWNER_STOPS };

static struct {
	pthread_t thread;
	struct publisher publisher;
	struct page_file file;
	struct vclock_page *page; /* writable; not there in a forked child */
	int fd;			  /* of the page, until it is in the window */
	bool has_file;
	struct watch watch;
	uint32_t stop;	   /* futex; 1: end the thread */
	uint32_t tid;	   /* of the thread, from its first moment on; 0: not yet */
	uint32_t ended;	   /* 1: the thread has nothing more to do */
	uint32_t progress; /* futex; 1: the page is shown, 2: it never will be */
} self;

enum { PROGRESS_NONE = 0, PROGRESS_SHOWN, PROGRESS_ENDED };

/* Waits until *word is not value any more, for ns at most. */
static void futex_wait(const uint32_t *word, uint32_t value, uint64_t ns)
{
	long timeout[2] = {(long)(ns / VCLOCK_NSEC_PER_SEC), (long)(ns % VCLOCK_NSEC_PER_SEC)};

	(void)raw_syscall5(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, (long)value, (long)timeout,
			   0);
}

static void futex_set(uint32_t *word, uint32_t value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	(void)raw_syscall5(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, INT_MAX, 0, 0);
}

static uint32_t futex_get(const uint32_t *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/* 0 where the kernel does not tell. */
static uint64_t now_ns(void)
{
	struct vclock_timespec ts;

	if (kernel_gettime(VCLOCK_MONOTONIC, &ts) != 0)
		return 0;
	return (uint64_t)ts.tv_sec * VCLOCK_NSEC_PER_SEC + (uint64_t)ts.tv_nsec;
}

/*
 * The page's memory.
 */

static int make_memory(void)
{
	int fd = page_fd_allows(VCLOCK_PAGE_SIZE);

	if (fd < 0)
		return fd;
	fd = page_fd_keep(memfd_create("vclock-page", MFD_CLOEXEC | MFD_ALLOW_SEALING));
	if (fd < 0)
		return fd;
	/* Nobody shall cut it under a reader. A memfd is made with mode 0777, and whoever is passed
	 * a descriptor for reading could open it again for writing. */
	if (ftruncate(fd, VCLOCK_PAGE_SIZE) != 0 ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0 || fchmod(fd, 0444) != 0) {
		int r = -errno;

		close(fd);
		return r;
	}
	return fd;
}

static void drop_page(void)
{
	if (self.page != NULL)
		munmap(self.page, VCLOCK_PAGE_SIZE);
	self.page = NULL;
	if (self.has_file)
		page_file_remove(&self.file);
	else if (self.fd >= 0)
		close(self.fd);
	self.fd = -1;
}

static int make_page(const char *path)
{
	void *page;
	int r;

	self.has_file = path != NULL;
	if (self.has_file) {
		r = page_file_create(&self.file, path);
		self.fd = self.file.fd;
	} else {
		r = self.fd = make_memory();
	}
	if (r < 0)
		return r;
	page = mmap(NULL, VCLOCK_PAGE_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, self.fd, 0);
	if (page == MAP_FAILED) {
		r = -errno;
		drop_page();
		return r;
	}
	self.page = page;
	/* A child reads the page in the window, and has nothing to write it with. */
	(void)madvise(page, VCLOCK_PAGE_SIZE, MADV_DONTFORK);
	return 0;
}

/*
 * The thread.
 */

/* Puts the page where this process, and others, read it. */
static int show_page(void)
{
	int r = self.has_file ? page_file_show(&self.file) : 0;

	if (r != 0)
		return r;
	process_lock();
	process_change_begin();
	r = process_map(self.fd);
	if (r == 0) {
		lib_program.page_source = VCLOCK_PAGE_OWN;
		lib_program.is_compared = true; /* by the publisher, all the time */
		process_set_path(self.has_file ? self.file.path : "");
	}
	process_change_end(false);
	process_unlock();
	return r;
}

static void try_to_show(void)
{
	if (futex_get(&self.progress) != PROGRESS_NONE ||
	    VCLOCK_LOAD32(&self.page->generation) == 0)
		return;
	futex_set(&self.progress, show_page() == 0 ? PROGRESS_SHOWN : PROGRESS_ENDED);
}

/*
 * Applies the trust table again. False: the page has to end. A page that is in use cannot be taken
 * back for ten seconds of proof: it ends, too.
 */
static bool may_go_on(void)
{
	enum watch_state state = watch_check(&self.watch, now_ns());

	self.publisher.config.counter_is_clocksource = watch_counter_is_clocksource(&self.watch);
	self.publisher.is_held = state == WATCH_WAITING;
	return state == WATCH_ALLOWED ||
	       (state == WATCH_WAITING && futex_get(&self.progress) == PROGRESS_NONE);
}

/* Returns why the page has to end. */
static enum vclock_retired keep_page(void)
{
	enum vclock_retired reason = VCLOCK_RETIRED_STOPPED;
	uint64_t sleep_ns;

	while (futex_get(&self.stop) == 0) {
		if (!may_go_on())
			return VCLOCK_RETIRED_CLOCKSOURCE;
		if (self.has_file && page_file_is_exposed(&self.file))
			return VCLOCK_RETIRED_EXPOSED;
		if (publisher_step(&self.publisher, &sleep_ns, &reason) != 0)
			return reason;
		try_to_show();
		futex_wait(&self.stop, 0, sleep_ns < WATCH_NS ? sleep_ns : WATCH_NS);
	}
	return VCLOCK_RETIRED_STOPPED;
}

static void *run(void *arg)
{
	(void)arg;
	__atomic_store_n(&self.tid, (uint32_t)raw_syscall2(SYS_gettid, 0, 0), __ATOMIC_RELEASE);
	(void)pthread_setname_np(pthread_self(), "vclock-publish");
	publisher_retire(&self.publisher, keep_page());
	/* Whoever waits for a first line need not wait on. */
	if (futex_get(&self.progress) == PROGRESS_NONE)
		futex_set(&self.progress, PROGRESS_ENDED);
	__atomic_store_n(&self.ended, 1, __ATOMIC_RELEASE);
	return NULL;
}

static int create_with(const pthread_attr_t *attr)
{
	sigset_t all, old;
	int r;

	/* The program's signals are not for this thread. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	r = -pthread_create(&self.thread, attr, run, NULL);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return r;
}

static int create_thread(uint32_t realtime_priority)
{
	struct sched_param param = {.sched_priority = (int)realtime_priority};
	pthread_attr_t attr;
	int r;

	pthread_attr_init(&attr);
	(void)pthread_attr_setstacksize(&attr, STACK_SIZE);
	if (realtime_priority != 0) {
		pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
		pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
		r = -pthread_attr_setschedparam(&attr, &param);
		if (r != 0)
			goto out;
	}
	r = create_with(&attr);
	/* Thread-local storage lies on the stack too, and some programs have plenty. */
	if (r == -EINVAL && realtime_priority == 0)
		r = create_with(NULL);
out:
	pthread_attr_destroy(&attr);
	return r;
}

/*
 * Start and stop.
 */

static int check_options(const struct vclock_publisher_options *options,
			 struct vclock_publisher_options *ret_options)
{
	const unsigned char *bytes = (const unsigned char *)options;
	uint32_t i;

	memset(ret_options, 0, sizeof(*ret_options));
	if (options == NULL)
		return 0;
	if (options->size < sizeof(*options))
		return -EINVAL;
	for (i = sizeof(*options); i < options->size; i++)
		if (bytes[i] != 0)
			return -E2BIG;
	*ret_options = *options;
	if (options->interval_ns != 0 &&
	    (options->interval_ns < INTERVAL_NS_MIN || options->interval_ns > INTERVAL_NS_MAX))
		return -EINVAL;
	return 0;
}

static int init_publisher(const struct vclock_page_config *here,
			  const struct vclock_publisher_options *options)
{
	struct publisher_config config = {
		.counter_is_clocksource = watch_counter_is_clocksource(&self.watch), .page = *here};

	config.page.counter_kind = VCLOCK_COUNTER_KIND;
	config.page.interval_ns = options->interval_ns;
	config.page.ahead_ns = options->ahead_ns;
	if (self.watch.is_overridden && self.watch.trust.verdict < VCLOCK_TRUST_PROVE)
		config.page.flags = VCLOCK_PAGE_TRUST_OVERRIDDEN;
	return publisher_init(&self.publisher, reference_kernel(), self.page, &config);
}

static int start_locked(const struct vclock_publisher_options *options)
{
	struct vclock_page_config here = {0};
	int r;

	memset(&self, 0, sizeof(self));
	self.fd = -1;
	watch_init(&self.watch, NULL, options->trust_counter != 0, now_ns());
	if (watch_check(&self.watch, now_ns()) == WATCH_FORBIDDEN)
		return -EOPNOTSUPP;
	machine_describe(&here);
	/* No reader would take it. */
	if (options->path != NULL && !machine_is_known_boot(here.boot_id))
		return -ESTALE;
	r = make_page(options->path);
	if (r != 0)
		return r;
	r = init_publisher(&here, options);
	if (r == 0)
		r = create_thread(options->realtime_priority);
	if (r != 0) {
		drop_page();
		return r;
	}
	lib_process.publisher_pid = (uint32_t)raw_getpid();
	lib_process.owns_publisher = OWNER_RUNS;
	return 0;
}

/* Whether a machine page answers now. */
static bool has_machine_page(void)
{
	uint64_t ns;

	return lib_program.page_source == VCLOCK_PAGE_FILE &&
	       vclock_read_ns(LIB_PAGE, VCLOCK_MONOTONIC, &ns) == 0;
}

static int wait_for_line(uint32_t wait_ms)
{
	uint64_t end = now_ns() + (uint64_t)wait_ms * NSEC_PER_MSEC, now;

	if (wait_ms == 0)
		return 0;
	while (futex_get(&self.progress) == PROGRESS_NONE) {
		now = now_ns();
		if (now == 0 || now >= end)
			return -ETIME;
		futex_wait(&self.progress, PROGRESS_NONE, end - now);
	}
	return futex_get(&self.progress) == PROGRESS_SHOWN ? 0 : -ETIME;
}

int vclock_publisher_start(const struct vclock_publisher_options *options)
{
	struct guard guard = guard_enter();
	struct vclock_publisher_options given;
	bool is_started = false;
	int r = check_options(options, &given);

	if (r != 0)
		goto out;
	process_lock();
	if (lib_process.owns_publisher != OWNER_NONE) {
		r = -EALREADY;
	} else if (!lib_program.wipes || lib_program.counter_forbidden || process_shares_memory()) {
		r = -EOPNOTSUPP;
	} else if (lib_program.route_limit == VCLOCK_ROUTE_PAGE && !has_machine_page()) {
		r = start_locked(&given);
		is_started = r == 0;
	}
	process_unlock();
	if (is_started)
		r = wait_for_line(given.wait_ms);
out:
	guard_leave(&guard);
	return r;
}

/* The page goes on for a moment after it was retired, so that no clock steps back on its way to the
 * kernel's: some 100 us and the clamp. Then the window goes. */
static void leave_window(void)
{
	long pause[2] = {0, NSEC_PER_MSEC};

	(void)raw_syscall2(SYS_nanosleep, (long)pause, 0);
	process_lock();
	if (lib_program.page_source == VCLOCK_PAGE_OWN) {
		process_change_begin();
		if (process_map(-1) == 0) {
			lib_program.page_source = VCLOCK_PAGE_NONE;
			process_set_path("");
			lib_program.no_page_reason = VCLOCK_REASON_NO_PAGE;
		}
		process_change_end(false);
	}
	drop_page();
	lib_process.owns_publisher = OWNER_NONE;
	process_unlock();
}

/*
 * A child that shares the memory (vfork, CLONE_VM) finds all that its parent has, and has another
 * id. As the first of a PID namespace of its own it may have the same one: there it has no thread
 * of the publisher's.
 */
static bool is_my_publisher(void)
{
	uint32_t tid = futex_get(&self.tid);
	long pid = raw_getpid();

	if (lib_process.owns_publisher != OWNER_RUNS || lib_process.publisher_pid != (uint32_t)pid)
		return false;
	return tid == 0 || raw_syscall5(SYS_tgkill, pid, (long)tid, 0, 0, 0) != -ESRCH ||
	       __atomic_load_n(&self.ended, __ATOMIC_ACQUIRE) != 0;
}

void vclock_publisher_stop(void)
{
	struct guard guard = guard_enter();
	bool is_mine;

	process_lock();
	is_mine = is_my_publisher();
	if (is_mine)
		lib_process.owns_publisher = OWNER_STOPS;
	process_unlock();
	if (is_mine) {
		futex_set(&self.stop, 1);
		pthread_join(self.thread, NULL);
		leave_window();
	}
	guard_leave(&guard);
}
