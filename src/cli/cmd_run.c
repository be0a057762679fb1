/* SPDX-License-Identifier: MIT */
/*
 * cmd_run.c - `vclock run`: this process becomes the program, which starts with our image.
 *
 * Every reason not to is found before the execve, or takes back what was done: the program runs
 * with the kernel's vDSO then, unless --require says that it shall not.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "attach/follow_space.h"
#include "attach/launch.h"
#include "attach/private_page.h"
#include "attach/program.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/image_folder.h"
#include "cli/page_words.h"
#include "vclock.h"

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
	char path[PROGRAM_PATH_MAX];
	char page[PATH_MAX]; /* the machine's; empty: none */
};

static const char *counter_refusal(const struct run *run)
{
	int tsc = 0;

	if (prctl(PR_GET_TSC, &tsc, 0, 0, 0) == 0 && tsc == PR_TSC_SIGSEGV)
		return "the CPU's counter is forbidden to it";
	if (run->launch.page_fd >= 0)
		return NULL;
	return private_page_refusal(run->launch.trusts_counter);
}

/*
 * The machine's page, where the library found it good; else one of the program's own, where that
 * may be. NULL, or why there is none.
 */
static const char *choose_page(struct run *run)
{
	struct vclock_status status;
	const char *reason, *named = getenv("VCLOCK_PAGE");

	memset(&status, 0, sizeof(status));
	status.size = sizeof(status);
	if (vclock_status(&status) != 0)
		return "the library does not tell of pages";
	if (status.route_limit != VCLOCK_ROUTE_PAGE)
		return "VCLOCK_ROUTE limits the routes";
	if (status.page_source == VCLOCK_PAGE_FILE && status.page_retired == VCLOCK_RETIRED_NOT) {
		snprintf(run->page, sizeof(run->page), "%s", status.page_path);
		run->launch.page_fd = open(status.page_path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
								     O_NONBLOCK | O_NOCTTY);
	}
	reason = counter_refusal(run);
	if (reason != NULL && named != NULL && *named != '\0' && status.page_error != 0)
		return cli_format("%s: %s", named, page_words_error(status.page_error));
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

/* NULL when a helper is there, or nothing is to be done; else why not. */
static const char *start(struct run *run)
{
	const char *reason;
	int r = program_find(run->launch.program, run->path, sizeof(run->path));

	if (r != 0)
		return NULL; /* execve says why */
	reason = program_refusal(run->path);
	if (reason != NULL)
		return reason;
	if (run->launch.images != NULL)
		reason = choose_page(run);
	if (reason == NULL && run->follows) {
		reason = follow(run);
		if (reason != NULL && run->launch.must)
			return reason;
		if (reason != NULL && run->launch.is_loud)
			cli_say("run: %s: does not follow: %s", run->launch.program, reason);
		reason = NULL;
	}
	if (reason == NULL && launch_start(&run->launch, &reason) == 0)
		return NULL;
	return reason;
}

static int execute(char **argv)
{
	int error;

	execvp(argv[0], argv);
	error = errno;
	cli_say("run: %s: %s", argv[0], strerror(error));
	return error == ENOENT || error == ENOTDIR ? RUN_NOT_FOUND : RUN_REFUSED;
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
		run->launch.images = image_folder();
	return 1;
}

int cmd_run(int argc, char **argv)
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
	return execute(argv + optind);
}
