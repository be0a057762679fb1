/* SPDX-License-Identifier: MIT */
/*
 * launch.c - see launch.h. Everything that waits here has an end: the caller for the helper, the
 * helper for the execve, and for the stub. Must never write to stdout, nor keep a descriptor of the
 * program's open in the helper.
 */
#include "attach/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "attach/child.h"
#include "attach/image_arch.h"
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
/* The program's descriptors are put here, so that its first own ones are the usual. */
#define FD_HIGH 240

/* What both sides have. */
struct session {
	const struct launch *launch;
	struct private_page area;
	struct inject inject;
	pid_t program; /* the caller */
	int socket;    /* each side's end */
	int say_fd;    /* the helper's stderr; -1: silent */
	int pidfd;
	int timer; /* the kernel's number */
};

static uint64_t now_ms(void)
{
	struct timespec ts = {0, 0};

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000 + (uint64_t)ts.tv_nsec / 1000000;
}

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

static void open_image(struct inject_image *image, const char *folder, const char *name)
{
	char path[1024];
	struct stat st;
	int fd = -1;

	image->fd = -1;
	if (snprintf(path, sizeof(path), "%s/vdso-%s.so", folder, name) < (int)sizeof(path))
		fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0 &&
	    st.st_size < (off_t)1 << 20) {
		image->size = (uint64_t)st.st_size;
		image->fd = pass_on(fd);
	}
	close(fd);
}

/* By the word size of the program. */
static void open_images(struct inject *in, const char *folder)
{
	unsigned is_64;

	for (is_64 = 0; is_64 < 2; is_64++) {
		const struct stub_arch *stub = stub_arch_of(is_64);

		if (stub != NULL)
			open_image(&in->image[is_64], folder,
				   image_arch_of(stub->machine, is_64)->name);
	}
}

static void close_session(struct session *s)
{
	close_fd(&s->inject.area_fd);
	close_fd(&s->inject.page_fd);
	close_fd(&s->inject.image[0].fd);
	close_fd(&s->inject.image[1].fd);
	close_fd(&s->inject.result_fd);
	if (s->area.page != NULL)
		private_page_close(&s->area);
}

/* What a noexec mount, or a policy, would refuse to the program. */
static bool can_execute(const struct inject_image *image)
{
	void *memory;

	if (image->fd < 0)
		return false;
	memory = mmap(NULL, (size_t)image->size, PROT_READ | PROT_EXEC, MAP_PRIVATE, image->fd, 0);
	if (memory == MAP_FAILED)
		return false;
	munmap(memory, (size_t)image->size);
	return true;
}

static int open_session(struct session *s, const struct launch *launch, const char **ret_reason)
{
	struct inject *in = &s->inject;
	int event_fd, r;

	memset(s, 0, sizeof(*s));
	s->launch = launch;
	s->program = getpid();
	s->say_fd = -1;
	in->area_fd = in->page_fd = in->result_fd = in->image[0].fd = in->image[1].fd = -1;
	in->hides_vdso = launch->hides_vdso;
	in->must = launch->must;
	in->fail_step = launch->fail_step;
	in->step_signal = launch->step_signal;
	if (launch->images == NULL)
		return 0;
	*ret_reason = "it cannot be done on this architecture";
	if (stub_arch_of(true) == NULL)
		return -ENOTSUP;
	open_images(in, launch->images);
	*ret_reason = "the images cannot be opened, or not be executed where they are";
	if (!can_execute(&in->image[1]))
		return -EACCES;
	r = launch->area_fd >= 0 ? private_page_adopt(launch->area_fd, &s->area)
				 : private_page_open(&s->area);
	*ret_reason = r == -EFBIG ? "the file size limit does not allow a page"
				  : "no memory or descriptor for the page";
	if (r != 0)
		return r;
	in->process = s->area.process;
	in->area_fd = pass_on(launch->area_fd >= 0 ? launch->area_read_fd : s->area.fd);
	if (launch->page_fd >= 0)
		in->page_fd = pass_on(launch->page_fd);
	event_fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
	if (event_fd >= 0) {
		in->result_fd = pass_on(event_fd);
		close(event_fd);
	}
	if (in->area_fd < 0 || in->result_fd < 0 || (launch->page_fd >= 0 && in->page_fd < 0))
		return -EMFILE;
	return 0;
}

/*
 * A filter that the program will run under may kill it for what the stub does. A child that is
 * under the same filter does it first.
 */
static bool is_filtered(void)
{
	return prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 0;
}

static void rehearse(const struct session *s)
{
	const struct inject *in = &s->inject;
	const size_t unit = image_arch_of(stub_arch_of(true)->machine, true)->unit;
	void *memory = mmap(NULL, 2 * unit, PROT_READ, MAP_SHARED, in->area_fd, 0);
	void *image = mmap(NULL, (size_t)in->image[1].size, PROT_READ | PROT_EXEC, MAP_PRIVATE,
			   in->image[1].fd, 0);
	uint64_t zero = 0;
	unsigned size;

	if (memory == MAP_FAILED || image == MAP_FAILED)
		_exit(1);
	memory = mmap(NULL, unit, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, unit, 18 /* WIPEONFORK */) != 0)
		_exit(1);
	munmap(image, (size_t)in->image[1].size);
	(void)mprotect(memory, unit, PROT_READ);
	(void)prctl(35 /* PR_SET_MM */, 15 /* PR_SET_MM_MAP_SIZE */, &size, 0, 0);
	(void)!write(in->result_fd, &zero, sizeof(zero));
	close(in->area_fd);
	_exit(0);
}

static bool survives_filter(const struct session *s)
{
	int status = -1;
	pid_t pid;

	if (!is_filtered())
		return true;
	pid = child_start();
	if (pid == 0)
		rehearse(s);
	return pid > 0 && child_end(pid, HELPER_MS, &status) && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

/*
 * The helper.
 */

static void say(const struct session *s, const char *what)
{
	if (s->say_fd >= 0)
		message_print(s->say_fd, "vclock", "run: %s: %s", s->launch->program, what);
}

static void ready_signals(void)
{
	struct sigaction by_default = {.sa_handler = SIG_DFL};

	/* Where SIGCHLD is ignored a tracer is not told of stops. */
	sigaction(SIGCHLD, &by_default, NULL);
}

/* Nothing of the program's terminal or descriptors; stderr only as long as it is needed. */
static void leave_caller(struct session *s)
{
	int null_fd;

	(void)!chdir("/");
	prctl(PR_SET_NAME, "vclock-page", 0, 0, 0);
	s->say_fd = s->launch->is_loud ? fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3) : -1;
	null_fd = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null_fd >= 0) {
		dup2(null_fd, STDIN_FILENO);
		dup2(null_fd, STDOUT_FILENO);
		dup2(null_fd, STDERR_FILENO);
		close(null_fd);
	}
}

static void close_from(int first, int last)
{
	if (first > last || syscall(SYS_close_range, first, last, 0) == 0)
		return;
	/* Before 5.9. */
	for (; first <= last && first < 1024; first++)
		close(first);
}

/* The descriptors that the caller had besides ours: pipes whose other end waits for their end. */
static void close_others(const struct session *s)
{
	const int keep[] = {s->say_fd, s->pidfd, s->area.fd, s->inject.result_fd};
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
	struct sigevent event;

	memset(&event, 0, sizeof(event));
	event.sigev_notify = SIGEV_SIGNAL;
	event.sigev_signo = SIGKILL;
	return syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &s->timer) == 0;
}

/* 0 ms: no end. */
static void set_timer(const struct session *s, long ms)
{
	const long interval_and_value[4] = {0, 0, ms / 1000, ms % 1000 * 1000000};

	syscall(SYS_timer_settime, s->timer, 0, interval_and_value, NULL);
}

/* The next stop or end of the program: 1 with *ret_status, 0 at the end of time, or -errno. */
static int wait_program(const struct session *s, uint64_t end_ms, int *ret_status)
{
	sigset_t child;
	pid_t pid;

	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	for (;;) {
		uint64_t now = now_ms(), turn_ms;
		struct timespec left = {0, 0};

		set_timer(s, STALL_MS);
		pid = waitpid(s->program, ret_status, __WALL | WNOHANG);
		if (pid == s->program)
			return 1;
		if (pid < 0)
			return -errno;
		if (now >= end_ms)
			return 0;
		turn_ms = end_ms - now < TURN_MS ? end_ms - now : TURN_MS;
		left.tv_nsec = (long)(turn_ms * 1000000);
		(void)sigtimedwait(&child, NULL, &left);
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
			ptrace(PTRACE_LISTEN, s->program, NULL, NULL);
		else
			ptrace(PTRACE_CONT, s->program, NULL, event != 0 ? 0 : sig);
	}
	return false;
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
	int r;

	if (s->launch->images == NULL)
		r = inject_hide(in, s->program);
	else
		r = inject_at_exec(in, s->program);
	if (r != 0 && s->launch->must)
		inject_refuse(s->program);
	if (!inject_step(in, "letting go"))
		return false; /* the end of this process frees the program, or with must ends it */
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

/* The caller has nothing to do but wait until it is traced, so that comes before all else. */
static void seize(struct session *s)
{
	/* With our end, whatever the reason, a program that must have the image ends too. */
	const unsigned long options = PTRACE_O_TRACEEXEC |
				      (s->launch->must ? PTRACE_O_EXITKILL : 0);
	struct pollfd pollfd = {.fd = s->socket};
	char byte = 0;

	ready_signals();
	/* The caller allows us to trace it, where that needs to be said. */
	if (recv(s->socket, &byte, 1, 0) != 1 || !make_timer(s))
		_exit(0);
	set_timer(s, STALL_MS);
	/* It may have given up meanwhile, and its number be another's. */
	if (poll(&pollfd, 1, 0) != 0)
		_exit(0);
	s->pidfd = (int)syscall(SYS_pidfd_open, s->program, 0);
	if (s->pidfd < 0 || !inject_step(&s->inject, "attaching") ||
	    ptrace(PTRACE_SEIZE, s->program, NULL, options) != 0)
		byte = (char)(errno != 0 ? errno : EIO);
	else
		byte = 0;
	if (send(s->socket, &byte, 1, MSG_NOSIGNAL) != 1 || byte != 0)
		_exit(0);
	close_fd(&s->socket);
}

static _Noreturn void helper(struct session *s)
{
	struct sched_param priority = {.sched_priority = 1};
	bool has_page;

	seize(s);
	leave_caller(s);
	close_others(s);
	if (!wait_exec(s)) {
		say(s, "was not started in time, or not at all");
		_exit(0);
	}
	has_page = give_image(s);
	close_fd(&s->say_fd);
	if (has_page && s->launch->page_fd < 0) {
		sched_setscheduler(0, SCHED_FIFO, &priority); /* where that is allowed */
		private_page_keep(&s->area, s->pidfd, s->launch->trusts_counter);
	}
	_exit(0);
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
 * The helper, as nobody's child: its parent is gone. Where the orphan would come back to us, it
 * stays a child without a signal, which wait() does not see. Its pid comes by the socket.
 */
static int start_helper(struct session *s, int sockets[2])
{
	bool is_orphan = !is_reaper();
	pid_t pid = child_start();
	int status;

	if (pid == 0) {
		if (!inject_step(&s->inject, "starting the helper") ||
		    (is_orphan && syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0) != 0))
			_exit(0);
		/* What stops the caller's group shall not stop what the caller waits for. */
		(void)setsid();
		pid = getpid();
		close(sockets[0]);
		s->socket = sockets[1];
		if (send(s->socket, &pid, sizeof(pid), MSG_NOSIGNAL) != (ssize_t)sizeof(pid))
			_exit(0);
		helper(s);
	}
	if (pid < 0)
		return -errno;
	/* Killed or not, the handshake tells whether there is a helper. */
	if (is_orphan)
		(void)child_end(pid, HELPER_MS, &status);
	return 0;
}

static bool receive(int socket, void *to, size_t size)
{
	return child_readable(socket, HELPER_MS) && recv(socket, to, size, 0) == (ssize_t)size;
}

static int handshake(int socket, const char **ret_reason)
{
	char byte = 1;
	pid_t pid = 0;

	*ret_reason = "the helper process did not start";
	if (!receive(socket, &pid, sizeof(pid)))
		return -ETIME;
	(void)prctl(PR_SET_PTRACER, (unsigned long)pid, 0, 0, 0); /* for Yama */
	if (send(socket, &byte, 1, MSG_NOSIGNAL) != 1 || !receive(socket, &byte, 1))
		return -ETIME;
	*ret_reason = byte == EPERM ? "it is traced already, or may not be" : "it cannot be traced";
	return -(int)byte;
}

int launch_start(const struct launch *launch, const char **ret_reason)
{
	static struct session session;
	int sockets[2], r;

	r = open_session(&session, launch, ret_reason);
	if (r == 0 && launch->images != NULL && !survives_filter(&session)) {
		*ret_reason = "its seccomp filter does not allow what has to be done";
		r = -EPERM;
	}
	if (r == 0 && socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0) {
		*ret_reason = "no descriptor";
		r = -errno;
	}
	if (r != 0) {
		close_session(&session);
		return r;
	}
	*ret_reason = "no process";
	r = start_helper(&session, sockets);
	close(sockets[1]);
	if (r == 0)
		r = handshake(sockets[0], ret_reason);
	close(sockets[0]);
	if (r != 0)
		close_session(&session);
	return r;
}
