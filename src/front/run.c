/* SPDX-License-Identifier: MIT */
/*
 * run.c - `vclock run`: this process becomes the program, which starts with our image.
 *
 * Every reason not to is found before the execve, or takes back what was done: the program runs
 * with the kernel's vDSO then, unless --require says that it shall not.
 */
#include "front/run.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "attach/child.h"
#include "attach/follow_space.h"
#include "attach/launch.h"
#include "attach/private_page.h"
#include "attach/program.h"
#include "cli/cli.h"
#include "cli/own_files.h"
#include "cli/page_words.h"
#include "publish/page_judge.h"
#include "vclock.h"

/* With 64-bit words also where that is the newer of two calls. */
#ifdef SYS_clock_gettime64
#define SYS_CLOCK_GETTIME_64 SYS_clock_gettime64
#else
#define SYS_CLOCK_GETTIME_64 SYS_clock_gettime
#endif

/* As env(1) and its like have them. */
enum { RUN_FAILED = 125, RUN_REFUSED = 126, RUN_NOT_FOUND = 127 };

enum {
	OPTION_VERBOSE,
	OPTION_REQUIRE,
	OPTION_FOLLOW,
	OPTION_TRUST,
	OPTION_IMAGES,
	OPTION_WITHOUT_KERNEL_VDSO,
	OPTION_WITHOUT_IMAGE,
	OPTION_FAIL_STEP,
	OPTION_DIE_STEP,
	OPTION_STOP_STEP
};

static const struct cli_option options[] = {
	[OPTION_VERBOSE] = {"verbose", NULL, "say on stderr what became of it, and why"},
	[OPTION_REQUIRE] = {"require", NULL,
			    "without the image, exit with 126 and do not run PROGRAM"},
	[OPTION_FOLLOW] = {"follow", NULL,
			   "also for the dynamic programs that PROGRAM executes, and\n"
			   "those that they execute"},
	[OPTION_TRUST] = {"trust-counter", NULL,
			  "also where the kernel does not trust the CPU's counter"},
	[OPTION_IMAGES] = {"images", "FOLDER", "where the vDSO images are"},
	[OPTION_WITHOUT_KERNEL_VDSO] =
		{"without-kernel-vdso", NULL,
		 "hide the kernel's vDSO from PROGRAM: what the page does not\n"
		 "answer becomes a system call. For tests and measurements"},
	[OPTION_WITHOUT_IMAGE] = {"without-image", NULL,
				  "with --without-kernel-vdso: do not give it ours either"},
	[OPTION_FAIL_STEP] = {"fail-step", "N", "for tests: let the N-th step fail"},
	[OPTION_DIE_STEP] = {"die-step", "N", "for tests: kill the helper at the N-th step"},
	[OPTION_STOP_STEP] = {"stop-step", "N", "for tests: stop the helper at the N-th step"},
	{NULL, NULL, NULL},
};

static const struct cli_usage usage = {
	.command = "run",
	.operands = "[--] PROGRAM [ARG...]",
	.summary =
		"Runs PROGRAM, unmodified, with vclock's vDSO image in place of the kernel's: its "
		"clocks\nthen come from a time page wherever the page covers the moment.",
	.options = options,
	.notes = "Exit status: PROGRAM's own; 125 wrong usage, 126 --require is not met or PROGRAM "
		 "cannot\nbe executed, 127 PROGRAM not found.",
	.ends_at_operand = 1,
};

struct run {
	struct launch launch;
	bool follows;
	char path[PROGRAM_PATH_MAX]; /* of the program */
	int error;		     /* why there is no path; or 0 */
	char page[PATH_MAX];	     /* the machine's; empty: none */
};

/* By the system call: the vDSO of this process may be an image of ours, which reads a page. */
static int kernel_clock(int32_t clk, struct vclock_timespec *ret_ts)
{
	return syscall(SYS_CLOCK_GETTIME_64, clk, ret_ts) != 0 ? -errno : 0;
}

/* Those of the page that this kernel has. */
static uint32_t clocks_here(void)
{
	uint32_t clks = VCLOCK_PAGE_CLOCKS, clk;
	struct vclock_timespec ts;

	for (clk = 0; clk < VCLOCK_BASES; clk++)
		if ((clk == VCLOCK_REALTIME_ALARM || clk == VCLOCK_BOOTTIME_ALARM) &&
		    kernel_clock((int32_t)clk, &ts) != 0)
			clks &= ~VCLOCK_BIT(clk);
	return clks;
}

/* The machine's page: a descriptor of what is as good as the library asks for, or -errno. */
static int open_page(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY), r;
	bool is_verified;
	struct stat st;

	if (fd < 0)
		return -errno;
	r = page_judge_file(fd, &st);
	if (r == 0)
		r = page_judge(fd, true, clocks_here(), kernel_clock, &is_verified);
	if (r == 0)
		return fd;
	close(fd);
	return r;
}

static bool is_limited(void)
{
	const char *route = secure_getenv("VCLOCK_ROUTE");

	return route != NULL && (strcmp(route, vclock_route_string(VCLOCK_ROUTE_VDSO)) == 0 ||
				 strcmp(route, vclock_route_string(VCLOCK_ROUTE_SYSCALL)) == 0);
}

/*
 * The machine's page, where it is good; else one of the program's own, where that may be. NULL, or
 * why there is none.
 */
static const char *choose_page(struct run *run)
{
	const char *reason, *named = secure_getenv("VCLOCK_PAGE"), *path = page_words_path();
	int fd, tsc = 0;

	if (is_limited())
		return "VCLOCK_ROUTE limits the routes";
	if (prctl(PR_GET_TSC, &tsc, 0, 0, 0) == 0 && tsc == PR_TSC_SIGSEGV)
		return "the CPU's counter is forbidden to it";
	fd = open_page(path);
	if (fd >= 0) {
		run->launch.page_fd = fd;
		snprintf(run->page, sizeof(run->page), "%s", path);
		return NULL;
	}
	reason = private_page_refusal(run->launch.trusts_counter);
	if (reason != NULL && named != NULL && *named != '\0')
		return cli_format("%s: %s", named, page_words_error(fd));
	return reason;
}

/* NULL, or why it does not follow. */
static const char *follow(struct run *run)
{
	struct follow_space space = {
		.images = run->launch.images,
		.page = run->launch.page_fd >= 0 ? run->page : NULL,
		.hides_vdso = run->launch.hides_vdso,
		.fail_step = run->launch.step_signal != 0 ? 0 : run->launch.fail_step,
	};
	int r = follow_space_enter(&space);

	/* The launch's own steps count on. */
	if (space.fail_step != 0)
		run->launch.fail_step -= space.steps < space.fail_step ? space.steps
								       : space.fail_step;
	if (r != 0)
		return space.reason;
	run->launch.area_fd = space.area_fd;
	run->launch.area_read_fd = space.area_read_fd;
	if (run->launch.is_loud)
		cli_say("run: %s: follows dynamic programs%s", run->launch.program,
			space.is_followed ? " already"
			: space.is_user_ours
				? ", in a user namespace: they get no other user's rights"
				: "");
	return NULL;
}

/* What comes before the helper. NULL, or why there is nothing to start one for. */
static const char *get_ready(struct run *run)
{
	const char *reason = program_refusal(run->path);

	if (reason == NULL && run->launch.images != NULL)
		reason = choose_page(run);
	if (reason != NULL || !run->follows)
		return reason;
	reason = follow(run);
	if (reason != NULL && run->launch.must)
		return reason;
	if (reason != NULL && run->launch.is_loud)
		cli_say("run: %s: does not follow: %s", run->launch.program, reason);
	return NULL;
}

static void rehearse(struct run *run)
{
	static const struct rlimit none = {0, 0};
	bool is_allowed;

	(void)setrlimit(RLIMIT_CORE, &none);
	run->launch.is_loud = false;
	run->launch.fail_step = 0;
	is_allowed = get_ready(run) != NULL || launch_rehearse(&run->launch);
	_exit(is_allowed ? 0 : 1);
}

/*
 * A filter may kill for what a launch does, or for what the program has to do. A child does all of
 * that first; what happens here meanwhile is what everybody does who starts a program.
 */
static bool survives_filter(struct run *run)
{
	int status;
	pid_t pid;

	if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) == 0)
		return true;
	pid = child_start();
	if (pid == 0)
		rehearse(run);
	return pid > 0 && child_outcome(pid, &status) && WIFEXITED(status) &&
	       WEXITSTATUS(status) == 0;
}

/*
 * It takes a process that shares memory for a thread, and then stands still. It is known by what it
 * has a program load, also where the program loads nothing.
 */
static bool is_in_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload != NULL && strstr(preload, "/vgpreload_") != NULL;
}

/* NULL when a helper is there, or there is no program; else why not. */
static const char *start(struct run *run)
{
	const char *reason;

	run->error = -program_find(run->launch.program, run->path, sizeof(run->path));
	if (run->error != 0)
		return NULL;
	if (is_in_valgrind())
		return "valgrind cannot run what has to be done";
	if (!survives_filter(run))
		return "its seccomp filter does not allow what has to be done";
	reason = get_ready(run);
	if (reason == NULL && launch_start(&run->launch, &reason) == 0)
		return NULL;
	return reason;
}

/* A file that is no program is the shell's, as execvp(3) has it. */
static int execute_by_shell(char *path, char **argv)
{
	char shell[] = "/bin/sh", **words;
	int count = 0;

	while (argv[count] != NULL)
		count++;
	words = cli_alloc(((size_t)count + 2) * sizeof(*words));
	words[0] = shell;
	words[1] = path;
	memcpy(words + 2, argv + 1, (size_t)count * sizeof(*words));
	execv(shell, words);
	return errno;
}

static int execute(struct run *run, char **argv)
{
	int error = run->error;

	if (error == 0) {
		execv(run->path, argv);
		error = errno;
	}
	if (error == ENOEXEC)
		error = execute_by_shell(run->path, argv);
	cli_say("run: %s: %s", argv[0], strerror(error));
	return error == ENOENT ? RUN_NOT_FOUND : RUN_REFUSED;
}

static bool read_step(const char *option, const char *value, uint64_t *ret_step)
{
	char *name = cli_format("run: --%s", option);
	bool is_good = cli_number(name, value, 1, 1000, ret_step) == CLI_GOOD;

	free(name);
	return is_good;
}

static int read_options(struct run *run, int argc, char **argv, int *ret_status)
{
	bool hides_vdso = false, has_image = true;
	const char *value;
	uint64_t step;
	int option;

	while ((option = cli_next_option(&usage, argc, argv, &value, ret_status)) !=
	       CLI_OPTIONS_END) {
		step = 0;
		if (option == CLI_OPTIONS_STOP)
			return 0;
		if (option == OPTION_VERBOSE)
			run->launch.is_loud = true;
		else if (option == OPTION_REQUIRE)
			run->launch.must = true;
		else if (option == OPTION_FOLLOW)
			run->follows = true;
		else if (option == OPTION_TRUST)
			run->launch.trusts_counter = true;
		else if (option == OPTION_IMAGES)
			run->launch.images = value;
		else if (option == OPTION_WITHOUT_KERNEL_VDSO)
			hides_vdso = true;
		else if (option == OPTION_WITHOUT_IMAGE)
			has_image = false;
		else if (!read_step(options[option].name, value, &step))
			return *ret_status = RUN_FAILED, 0;
		if (step != 0) {
			run->launch.fail_step = (unsigned)step;
			run->launch.step_signal = option == OPTION_DIE_STEP    ? SIGKILL
						  : option == OPTION_STOP_STEP ? SIGSTOP
									       : 0;
		}
	}
	run->launch.hides_vdso = hides_vdso;
	if (!has_image && !hides_vdso) {
		cli_error(CLI_USAGE, "run: --without-image: only with --without-kernel-vdso");
		return *ret_status = RUN_FAILED, 0;
	}
	if (!has_image && run->follows) {
		cli_error(CLI_USAGE, "run: --without-image and --follow: one of them");
		return *ret_status = RUN_FAILED, 0;
	}
	if (!has_image)
		run->launch.images = NULL;
	else if (run->launch.images == NULL)
		run->launch.images = own_images();
	return 1;
}

int front_run(int argc, char **argv)
{
	static struct run run;
	const char *reason;
	int status = RUN_FAILED;

	run.launch.page_fd = run.launch.area_fd = run.launch.area_read_fd = -1;
	if (!read_options(&run, argc, argv, &status))
		return status == CLI_USAGE ? RUN_FAILED : status;
	if (optind == argc) {
		cli_error(CLI_USAGE, "run: no program; see `vclock run --help`");
		return RUN_FAILED;
	}
	run.launch.program = argv[optind];
	reason = start(&run);
	if (reason != NULL && (run.launch.is_loud || run.launch.must))
		cli_say("run: %s: %s: %s", argv[optind],
			run.launch.must ? "does not run" : "runs with the kernel's vDSO", reason);
	if (reason != NULL && run.launch.must)
		return RUN_REFUSED;
	return execute(&run, argv + optind);
}
