/* SPDX-License-Identifier: MIT */
/*
 * launch.c - see launch.h. Everything that waits here has an end: the caller for the helper, the
 * helper for the execve, and for the stub. Must never write to stdout, nor keep a descriptor of the
 * program's open in the helper.
 *
 * The helper is made with clone(CLONE_VM): no page is copied, neither then nor at the first write
 * to each, which is most of what a fork costs. So it has the caller's memory together with the
 * caller, errno, malloc and stdio too, until the caller leaves it at its execve or end, and from
 * then on it has it alone. Two rules make that safe:
 *
 * - Until the caller has left, the helper makes system calls by raw_process.h and calls nothing of
 *   libc. The functions that this holds for stand under "The helper, beside the caller".
 * - A caller that goes on without a helper has seen its end, or that nothing of it can run.
 *
 * Not CLONE_VFORK: the caller would wait in the kernel for a child that a signal has stopped. Not
 * CLONE_FS and CLONE_FILES: the helper leaves folder and descriptors, and execve would take a
 * shared folder for a trap and run a set-user-ID program without its rights.
 */
#include "attach/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/arch/raw_process.h"
#include "attach/child.h"
#include "attach/image_arch.h"
#include "attach/image_file.h"
#include "attach/private_page.h"
#include "attach/stub.h"
#include "message/message.h"

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
/* With words of the machine's size, also where that is the older of two calls. */
#if !defined(SYS_timer_settime) && defined(SYS_timer_settime32)
#define SYS_timer_settime SYS_timer_settime32
#endif
#ifndef PR_SET_PTRACER
#define PR_SET_PTRACER 0x59616d61
#endif
#ifndef PR_GET_CHILD_SUBREAPER
#define PR_GET_CHILD_SUBREAPER 37
#endif

/* For the helper to be there, and for the execve: file systems can be slow, a program never is. */
#define HELPER_MS 2000
#define EXEC_MS 10000
#define STUB_MS 2000
/* A helper that has a program in its hands and does not get on, because it is stopped for one. */
#define STALL_MS 5000
#define TURN_MS 500
/* For a helper that was killed. */
#define END_MS 1000
/*
 * The program's descriptors are put here, so that its first own ones are the usual, and below 64,
 * where the kernel would make a larger table, and copy it to each process that is started.
 */
#define FD_HIGH 48

/*
 * The helper's stack; sanitizers make frames some times larger. What starts it needs next to
 * nothing, and has the uppermost bytes.
 */
#define STACK_SIZE ((size_t)256 << 10)
#define STACK_GUARD ((size_t)64 << 10) /* the largest page of an architecture */
#define STACK_TOP ((size_t)4096)
#define TOUCH 4096
#define KERNEL_SIGSET_SIZE 8

/* The caller, as the helper sees it. The kernel writes CALLER_LEFT. */
enum { CALLER_LEFT, CALLER_GETS_READY, CALLER_CAN_BE_TRACED, CALLER_GAVE_UP };
/* The helper, as the caller sees it. The kernel writes HELPER_ENDED. */
enum { HELPER_ENDED, HELPER_STARTS, HELPER_TRACES };
/* What starts the helper. The kernel writes STARTER_ENDED. */
enum { STARTER_ENDED, STARTER_RUNS };

/* What both sides have. */
struct session {
	const struct launch *launch;
	struct private_page area;
	struct inject inject;
	pid_t program; /* the caller */
	/*
	 * Words that one side waits for with a futex. What the kernel writes it writes when that
	 * process lets go of this memory, behind its last instruction, and wakes who waits.
	 */
	int caller, helper, starter;
	pid_t helper_pid;  /* written by the kernel before the helper runs; 0: there is none */
	int error;	   /* the helper's, before it ends itself */
	bool is_orphan;	   /* the helper is nobody's child */
	pid_t starter_pid; /* 0: none, the helper is the caller's child */
	unsigned char *stack;
	/* What the helper says of a program that did not start; NULL: nothing. */
	const char *not_started;
	int say_fd; /* the helper's stderr; -1: silent */
	int pidfd;
	int timer; /* the kernel's number */
};

/*
 * Descriptors.
 */

/* A copy that outlives execve. */
static int pass_on(int fd)
{
	int high = fcntl(fd, F_DUPFD, FD_HIGH);

	return high >= 0 ? high : fcntl(fd, F_DUPFD, 3);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int open_image(struct inject_image *image, const char *folder, const struct image_arch *arch)
{
	size_t size = 0;
	int fd = image_file_open(folder, arch, &size);

	if (fd < 0)
		return fd;
	image->size = size;
	image->fd = pass_on(fd);
	close(fd);
	return image->fd >= 0 ? 0 : -EMFILE;
}

/* By the word size of the program. 0 or -errno: of the one for 64 bits, which has to be there. */
static int open_images(struct inject *in, const char *folder)
{
	unsigned is_64;
	int r = 0;

	for (is_64 = 0; is_64 < 2; is_64++) {
		const struct stub_arch *stub = stub_arch_of(is_64);

		if (stub != NULL)
			r = open_image(&in->image[is_64], folder,
				       image_arch_of(stub->machine, is_64));
	}
	return r;
}

static void close_session(struct session *s)
{
	close_fd(&s->inject.area_fd);
	close_fd(&s->inject.page_fd);
	close_fd(&s->inject.image[0].fd);
	close_fd(&s->inject.image[1].fd);
	close_fd(&s->inject.result_fd);
	close_fd(&s->inject.proc_fd);
	if (s->area.page != NULL)
		private_page_close(&s->area);
}

/* What a noexec mount, or a policy, would refuse to the program. */
static bool can_execute(const struct inject_image *image, const struct image_arch *arch)
{
	void *memory = mmap(NULL, (size_t)image->size, (int)arch->prot, MAP_PRIVATE, image->fd, 0);

	if (memory == MAP_FAILED)
		return false;
	munmap(memory, (size_t)image->size);
	return true;
}

/* What the helper has too. 0 or -errno. */
static int begin_session(struct session *s, const struct launch *launch, const char **ret_reason)
{
	struct inject *in = &s->inject;
	int event_fd;

	memset(s, 0, sizeof(*s));
	s->launch = launch;
	s->program = getpid();
	s->say_fd = -1;
	in->area_fd = in->page_fd = in->result_fd = in->image[0].fd = in->image[1].fd = -1;
	in->proc_fd = in->stat_fd = -1;
	in->hides_vdso = launch->hides_vdso;
	in->must = launch->must;
	in->fail_step = launch->fail_step;
	in->step_signal = launch->step_signal;
	event_fd = launch->images != NULL ? eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC) : -1;
	if (event_fd >= 0) {
		in->result_fd = pass_on(event_fd);
		close(event_fd);
	}
	*ret_reason = "there is no /proc";
	in->proc_fd = open("/proc/self", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return in->proc_fd >= 0 ? 0 : -errno;
}

/* What the program gets. The helper is started meanwhile. */
static int open_session(struct session *s, const struct launch *launch, const char **ret_reason)
{
	struct inject *in = &s->inject;
	int r;

	if (launch->images == NULL)
		return 0;
	*ret_reason = "it cannot be done on this architecture";
	if (stub_arch_of(true) == NULL)
		return -ENOTSUP;
	r = open_images(in, launch->images);
	if (r == 0 && !can_execute(&in->image[1], image_arch_of(stub_arch_of(true)->machine, true)))
		r = -EACCES;
	*ret_reason = r == -ENOEXEC ? "the image is damaged, or none of vclock's"
				    : "the images cannot be opened, or not be executed where they "
				      "are";
	if (r != 0)
		return r;
	r = launch->area_fd >= 0 ? private_page_adopt(launch->area_fd, &s->area)
				 : private_page_open(&s->area);
	*ret_reason = r == -EFBIG ? "the file size limit does not allow a page"
				  : "no memory for the page";
	if (r != 0)
		return r;
	in->process = s->area.process;
	in->area_fd = pass_on(launch->area_fd >= 0 ? launch->area_read_fd : s->area.fd);
	if (launch->page_fd >= 0)
		in->page_fd = pass_on(launch->page_fd);
	if (in->area_fd < 0 || in->result_fd < 0 || (launch->page_fd >= 0 && in->page_fd < 0))
		return -EMFILE;
	return 0;
}

/* What the stub does, or what a followed program does in its place. */
static bool play_stub(const struct session *s)
{
	const struct inject *in = &s->inject;
	const struct image_arch *arch = image_arch_of(stub_arch_of(true)->machine, true);
	const size_t unit = arch->unit;
	void *memory = mmap(NULL, 2 * unit, PROT_READ, MAP_SHARED, in->area_fd, 0);
	void *image = mmap(NULL, (size_t)in->image[1].size, (int)arch->prot, MAP_PRIVATE,
			   in->image[1].fd, 0);
	uint64_t zero = 0;
	unsigned size;

	if (memory == MAP_FAILED || image == MAP_FAILED)
		return false;
	memory = mmap(NULL, unit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, unit, 18 /* WIPEONFORK */) != 0)
		return false;
	munmap(image, (size_t)in->image[1].size);
	(void)mprotect(memory, unit, PROT_READ);
	(void)prctl(35 /* PR_SET_MM */, 15 /* PR_SET_MM_MAP_SIZE */, &size, 0, 0);
	(void)!write(in->result_fd, &zero, sizeof(zero));
	close(in->area_fd);
	return true;
}

/*
 * The helper, beside the caller: nothing of libc here, and no call of a function that is said not
 * to return, before which sanitizers look at the stack.
 */

static uint64_t now_ms(void)
{
	struct timespec ts = {0, 0};

	(void)raw_call(SYS_clock_gettime, CLOCK_MONOTONIC, (long)&ts, 0, 0, 0, 0);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

static void set_word(int *word, int value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
	(void)raw_call(SYS_futex, (long)word, FUTEX_WAKE, 1, 0, 0, 0);
}

/*
 * Until the word is another, for ms at most; false: it is not. In slices, see child.h; each looks
 * at the word again, also where the kernel (before 4.9) writes nothing at a death by signal.
 */
static bool wait_word(const int *word, int value, int ms)
{
	const struct timespec slice = {0, CHILD_SLICE_MS * 1000000l};
	bool is_other = __atomic_load_n(word, __ATOMIC_ACQUIRE) != value;

	for (; ms > 0 && !is_other; ms -= CHILD_SLICE_MS) {
		(void)raw_call(SYS_futex, (long)word, FUTEX_WAIT, value, (long)&slice, 0, 0);
		is_other = __atomic_load_n(word, __ATOMIC_ACQUIRE) != value;
	}
	return is_other;
}

/* Where SIGCHLD is ignored a tracer is not told of stops. */
static void ready_signals(void)
{
	const unsigned long by_default[4] = {0}; /* the kernel's struct, whatever is in it */

	(void)raw_call(SYS_rt_sigaction, SIGCHLD, (long)by_default, 0, KERNEL_SIGSET_SIZE, 0, 0);
}

static void become_null(int fd, long null_fd)
{
	if (null_fd < 0)
		(void)raw_call(SYS_close, fd, 0, 0, 0, 0, 0);
	else if (null_fd != fd)
		(void)raw_call(SYS_dup3, null_fd, fd, O_CLOEXEC, 0, 0, 0);
}

/*
 * Nothing of the program's terminal; stderr only as long as it is needed. Takes no descriptor more,
 * however few are allowed.
 */
static void leave_caller(struct session *s)
{
	long null_fd;

	(void)raw_call(SYS_chdir, (long)"/", 0, 0, 0, 0, 0);
	(void)raw_call(SYS_prctl, PR_SET_NAME, (long)"vclock-page", 0, 0, 0, 0);
	(void)raw_call(SYS_close, STDIN_FILENO, 0, 0, 0, 0, 0);
	null_fd = raw_call(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDWR | O_CLOEXEC, 0, 0, 0);
	become_null(STDOUT_FILENO, null_fd);
	if (s->launch->is_loud)
		s->say_fd = STDERR_FILENO;
	else
		become_null(STDERR_FILENO, null_fd);
}

/* All is said. */
static void leave_stderr(struct session *s)
{
	if (s->say_fd >= 0)
		become_null(s->say_fd, STDIN_FILENO);
	s->say_fd = -1;
}

static void close_from(int first, int last)
{
	if (first > last || raw_call(SYS_close_range, first, last, 0, 0, 0, 0) == 0)
		return;
	/* Before 5.9. */
	for (; first <= last && first < 1024; first++)
		(void)raw_call(SYS_close, first, 0, 0, 0, 0, 0);
}

/* The descriptors that the caller had besides ours: pipes whose other end waits for their end. */
static void close_others(const struct session *s)
{
	const int keep[] = {s->pidfd, s->inject.proc_fd, s->inject.result_fd};
	int first = 3, next;
	unsigned i;

	do {
		next = INT_MAX;
		for (i = 0; i < sizeof(keep) / sizeof(keep[0]); i++)
			if (keep[i] >= first && keep[i] < next)
				next = keep[i];
		close_from(first, next - (next != INT_MAX));
		first = next == INT_MAX ? INT_MAX : next + 1;
	} while (next != INT_MAX);
}

/*
 * While a program is traced it depends on us: should we not come to set the timer again within
 * STALL_MS, it ends us. SIGKILL reaches a process that is stopped too.
 */
static bool make_timer(struct session *s)
{
	struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};

	return raw_call(SYS_timer_create, CLOCK_MONOTONIC, (long)&event, (long)&s->timer, 0, 0,
			0) == 0;
}

/* 0 ms: no end. */
static void set_timer(const struct session *s, long ms)
{
	const long interval_and_value[4] = {0, 0, ms / 1000, ms % 1000 * 1000000};

	(void)raw_call(SYS_timer_settime, s->timer, 0, (long)interval_and_value, 0, 0, 0);
}

/*
 * The next stop or end of the program: 1 with *ret_status; 0 at the end of time, or where the
 * caller wants no helper any more and was not allowed to kill it; or -errno.
 */
static int wait_program(const struct session *s, uint64_t end_ms, int *ret_status)
{
	const uint64_t child = UINT64_C(1) << (SIGCHLD - 1); /* the kernel's set of signals */

	for (;;) {
		uint64_t now = now_ms(), turn_ms;
		struct timespec left = {0, 0};
		long pid;

		set_timer(s, STALL_MS);
		pid = raw_call(SYS_wait4, s->program, (long)ret_status, __WALL | WNOHANG, 0, 0, 0);
		if (pid == s->program)
			return 1;
		if (pid < 0)
			return (int)pid;
		if (now >= end_ms ||
		    __atomic_load_n(&s->caller, __ATOMIC_ACQUIRE) == CALLER_GAVE_UP)
			return 0;
		turn_ms = end_ms - now < TURN_MS ? end_ms - now : TURN_MS;
		left.tv_nsec = (long)(turn_ms * 1000000);
		(void)raw_call(SYS_rt_sigtimedwait, (long)&child, 0, (long)&left,
			       KERNEL_SIGSET_SIZE, 0, 0);
	}
}

/*
 * Until the program stands at its execve. Its signals go on to it meanwhile; while one of them has
 * it stopped, there is no end of time.
 */
static bool wait_exec(const struct session *s)
{
	uint64_t end_ms = now_ms() + EXEC_MS;
	int status = 0, event, sig;
	bool is_stopped;

	while (wait_program(s, end_ms, &status) == 1) {
		if (!WIFSTOPPED(status))
			return false; /* there was no program to run */
		event = status >> 16;
		sig = WSTOPSIG(status);
		if (event == PTRACE_EVENT_EXEC)
			return true;
		is_stopped = event == PTRACE_EVENT_STOP && sig != SIGTRAP;
		end_ms = is_stopped ? UINT64_MAX : now_ms() + EXEC_MS;
		if (is_stopped)
			(void)raw_call(SYS_ptrace, PTRACE_LISTEN, s->program, 0, 0, 0, 0);
		else
			(void)raw_call(SYS_ptrace, PTRACE_CONT, s->program, 0, event != 0 ? 0 : sig,
				       0, 0);
	}
	return false;
}

/* The program waits for the injection, and not for this. A page that is new costs some 10 us. */
static void get_ready(struct session *s)
{
	volatile unsigned char *stack = s->stack + STACK_SIZE - STACK_TOP, *process;

	stack[-2 * TOUCH] = stack[-3 * TOUCH] = 0;
	process = (volatile unsigned char *)s->area.process;
	if (process != NULL)
		*process = 0;
	inject_prepare(&s->inject);
}

/* Whether the caller, and nobody else, is traced; else s->error says why not. */
static bool seize(struct session *s)
{
	/* With our end, whatever the reason, a program that must have the image ends too. */
	const unsigned long options = PTRACE_O_TRACEEXEC |
				      (s->launch->must ? PTRACE_O_EXITKILL : 0);
	long r;

	ready_signals();
	s->error = EIO;
	/*
	 * The caller allows us to trace it, where that needs to be said; it may be stopped before
	 * that for as long as somebody likes. Or it has ended, and its number is another's.
	 */
	while (!wait_word(&s->caller, CALLER_GETS_READY, CHILD_SLICE_MS))
		if (raw_call(SYS_kill, s->program, 0, 0, 0, 0, 0) != 0)
			return false;
	if (__atomic_load_n(&s->caller, __ATOMIC_ACQUIRE) != CALLER_CAN_BE_TRACED || !make_timer(s))
		return false;
	set_timer(s, STALL_MS);
	r = raw_call(SYS_pidfd_open, s->program, 0, 0, 0, 0, 0);
	if (r < 0 || !inject_step(&s->inject, "attaching")) {
		s->error = r < 0 ? (int)-r : EIO;
		return false;
	}
	s->pidfd = (int)r;
	r = raw_call(SYS_ptrace, PTRACE_SEIZE, s->program, 0, (long)options, 0, 0);
	s->error = (int)-r;
	return r == 0;
}

/* Not say(): the caller may still be there, or have ended in the middle of something. */
static void say_not_started(const struct session *s)
{
	size_t length = 0;

	if (s->say_fd < 0 || s->not_started == NULL)
		return;
	while (s->not_started[length] != '\0')
		length++;
	(void)raw_call(SYS_write, s->say_fd, (long)s->not_started, (long)length, 0, 0, 0);
}

/*
 * The helper, alone in its memory.
 */

static void say(const struct session *s, const char *what)
{
	if (s->say_fd >= 0)
		message_print(s->say_fd, "vclock", "run: %s: %s", s->launch->program, what);
}

/* How the stub went. Its eventfd is ours too, so nobody can make us wait for ever. */
static const char *stub_result(const struct session *s)
{
	static char words[96];
	struct pollfd pollfd = {.fd = s->inject.result_fd, .events = POLLIN};
	uint64_t value = 0;

	if (poll(&pollfd, 1, STUB_MS) != 1 ||
	    read(s->inject.result_fd, &value, sizeof(value)) != (ssize_t)sizeof(value))
		return "it has not told how the image was mapped";
	if (value == STUB_DONE)
		return NULL;
	if (value == (STUB_DONE | STUB_OPTIONAL_FAILED))
		return "has the image; debuggers will not see it";
	snprintf(words, sizeof(words), "runs with the kernel's vDSO: mapping the image: %s",
		 strerror((int)(value & 0xffff)));
	return words;
}

/* At the execve: inject and let go. True when the page is used. */
static bool give_image(struct session *s)
{
	struct inject *in = &s->inject;
	const char *words;
	char text[256];
	bool can_go;
	int r;

	if (s->launch->images == NULL)
		r = inject_hide(in, s->program);
	else
		r = inject_at_exec(in, s->program);
	can_go = r == 0 || !s->launch->must || inject_refuse(in, s->program);
	if (r != 0 && !s->launch->must && s->launch->images != NULL)
		(void)inject_close_only(in, s->program);
	if (!inject_step(in, "letting go"))
		return false; /* the end of this process frees the program, or with must ends it */
	if (can_go)
		ptrace(PTRACE_DETACH, s->program, NULL, 0);
	set_timer(s, 0);
	if (r != 0) {
		snprintf(text, sizeof(text), "%s: %s",
			 s->launch->must ? "does not run" : "runs with the kernel's vDSO",
			 in->reason);
		say(s, text);
		return false;
	}
	if (s->launch->images == NULL) {
		say(s, "runs without a vDSO");
		return false;
	}
	words = stub_result(s);
	if (words == NULL)
		words = s->launch->page_fd >= 0 ? "has the image and the machine's page"
						: "has the image and a page of its own";
	say(s, words);
	return true;
}

static void serve(struct session *s)
{
	struct sched_param priority = {.sched_priority = 1};
	bool has_page = give_image(s);

	leave_stderr(s);
	close_fd(&s->inject.proc_fd);
	close_fd(&s->inject.stat_fd);
	if (has_page && s->launch->page_fd < 0) {
		sched_setscheduler(0, SCHED_FIFO, &priority); /* where that is allowed */
		private_page_keep(&s->area, s->pidfd, s->launch->trusts_counter);
	}
}

static void helper(void *session)
{
	struct session *s = session;

	/* What stops the caller's group shall not stop what the caller waits for. */
	(void)raw_call(SYS_setsid, 0, 0, 0, 0, 0, 0);
	if (!seize(s))
		raw_exit(0);
	set_word(&s->helper, HELPER_TRACES);
	leave_caller(s);
	close_others(s);
	get_ready(s);
	if (wait_exec(s))
		serve(s);
	else
		say_not_started(s);
	raw_exit(0);
}

#define HELPER_FLAGS (CLONE_VM | CLONE_PARENT_SETTID | CLONE_CHILD_CLEARTID)

/*
 * What the caller starts, beside the caller too: the helper, as nobody's child, for its parent ends
 * here; or the helper itself, see is_reaper().
 */
static void start(void *session)
{
	struct session *s = session;

	if (!inject_step(&s->inject, "starting the helper"))
		raw_exit(0);
	if (!s->is_orphan)
		helper(s);
	(void)raw_clone(HELPER_FLAGS | SIGCHLD, s->stack + STACK_SIZE - STACK_TOP, &s->helper_pid,
			&s->helper, helper, s);
	raw_exit(0);
}

/*
 * The caller.
 */

/* Our orphans would become children of the program, which waits for children of its own. */
static bool is_reaper(void)
{
	int is_subreaper = 0;

	return getpid() == 1 ||
	       (prctl(PR_GET_CHILD_SUBREAPER, &is_subreaper, 0, 0, 0) == 0 && is_subreaper);
}

/*
 * The helper is nobody's child. Where the orphan would come back to us it stays a child without a
 * signal, which wait() does not see. 0 or -errno.
 */
static int start_helper(struct session *s)
{
	struct child_signals before;
	long pid;

	s->stack =
		mmap(NULL, STACK_SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (s->stack == MAP_FAILED || mprotect(s->stack, STACK_GUARD, PROT_NONE) != 0)
		return -errno;
	/* libc's use of it is for threads: this process has one, and will have no other. */
	(void)raw_call(SYS_set_tid_address, (long)&s->caller, 0, 0, 0, 0, 0);
	s->caller = CALLER_GETS_READY;
	s->helper = HELPER_STARTS;
	s->starter = STARTER_RUNS;
	s->is_orphan = !s->launch->is_rehearsal && !is_reaper();
	child_mask(&CHILD_ALL_SIGNALS, &before);
	/* Who starts the helper has ended before the execve. */
	if (s->is_orphan)
		pid = raw_clone(CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_CHILD_CLEARTID,
				s->stack + STACK_SIZE, NULL, &s->starter, start, s);
	else
		pid = raw_clone(HELPER_FLAGS, s->stack + STACK_SIZE - STACK_TOP, &s->helper_pid,
				&s->helper, start, s);
	child_mask(&before, NULL);
	s->starter_pid = s->is_orphan && pid > 0 ? (pid_t)pid : 0;
	return pid < 0 ? (int)pid : 0;
}

/* 0: there is none yet. */
static pid_t helper_pid(const struct session *s)
{
	return __atomic_load_n(&s->helper_pid, __ATOMIC_ACQUIRE);
}

/* Its end is near, but where somebody stops it. */
static void end_starter(struct session *s, int ms)
{
	if (s->starter_pid == 0)
		return;
	if (!wait_word(&s->starter, STARTER_RUNS, ms))
		kill(s->starter_pid, SIGKILL);
	(void)waitpid(s->starter_pid, NULL, __WALL);
}

/* There is none when it returns, or the kernel will not let it run again. */
static void end_helper(struct session *s)
{
	set_word(&s->caller, CALLER_GAVE_UP);
	if (s->helper_pid == 0)
		return;
	if (__atomic_load_n(&s->helper, __ATOMIC_ACQUIRE) != HELPER_ENDED) {
		kill(s->helper_pid, SIGKILL);
		(void)wait_word(&s->helper, HELPER_STARTS, END_MS);
	}
	if (!s->is_orphan)
		(void)waitpid(s->helper_pid, NULL, __WALL);
}

static int handshake(struct session *s, const char **ret_reason)
{
	*ret_reason = "the helper process did not start";
	/* Mostly it has started by now, and nobody is waited for. */
	if (helper_pid(s) == 0)
		(void)wait_word(&s->starter, STARTER_RUNS, HELPER_MS);
	if (helper_pid(s) != 0) {
		(void)prctl(PR_SET_PTRACER, (unsigned long)helper_pid(s), 0, 0, 0); /* for Yama */
		set_word(&s->caller, CALLER_CAN_BE_TRACED);
		(void)wait_word(&s->helper, HELPER_STARTS, HELPER_MS);
		if (__atomic_load_n(&s->helper, __ATOMIC_ACQUIRE) == HELPER_TRACES)
			return 0;
	}
	if (__atomic_load_n(&s->helper, __ATOMIC_ACQUIRE) != HELPER_ENDED || s->error == 0)
		return -ETIME;
	*ret_reason = s->error == EPERM ? "it is traced already, or may not be"
					: "it cannot be traced";
	return -s->error;
}

/* See say_not_started(). */
static const char *not_started(const struct launch *launch)
{
	static const char what[] = "was not started in time, or not at all";
	char *shown = message_shown(MESSAGE_LINE, launch->program), *text = NULL;

	if (shown == NULL || asprintf(&text, "vclock: run: %s: %s\n", shown, what) < 0)
		text = NULL;
	free(shown);
	return text;
}

static struct session session;

int launch_start(const struct launch *launch, const char **ret_reason)
{
	int r;

	*ret_reason = "it cannot be done on this architecture";
	if (!RAW_PROCESS_EXISTS)
		return -ENOTSUP;
	r = begin_session(&session, launch, ret_reason);
	if (launch->is_loud)
		session.not_started = not_started(launch);
	if (r == 0) {
		*ret_reason = "no process, or no memory for one";
		r = start_helper(&session);
	}
	if (r == 0) {
		r = open_session(&session, launch, ret_reason);
		if (r == 0)
			r = handshake(&session, ret_reason);
		end_starter(&session, r == 0 ? HELPER_MS : 0);
		if (r != 0)
			end_helper(&session);
	}
	if (r == -EMFILE || r == -ENFILE)
		*ret_reason = "no descriptor";
	if (r != 0)
		close_session(&session);
	return r;
}

bool launch_rehearse(const struct launch *launch)
{
	struct launch rehearsal = *launch;
	const char *reason;
	bool is_allowed = true;

	rehearsal.is_rehearsal = true;
	rehearsal.must = false; /* this process outlives the helper */
	if (launch_start(&rehearsal, &reason) != 0)
		return true; /* so it will be, and say why */
	if (launch->images != NULL)
		is_allowed = play_stub(&session);
	end_helper(&session);
	return is_allowed;
}
