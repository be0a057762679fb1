/* SPDX-License-Identifier: MIT */
/*
 * steps.c - each step of `vclock run` fails once, and once its helper is killed there:
 *     steps COMMAND... -- PROGRAM
 * PROGRAM, which is this one with the argument "probe", must run as it would have without, and say
 * so; with --require it must run with the image, or not at all. COMMAND is `vclock run` with
 * options.
 */
#include "saved_auxv.h"
#include "tap.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/wait.h>
#include <unistd.h>

#define STEPS_MAX 60
#define STEPS_LEAST 12
#define WORDS_MAX 32
#define STATUS 7
#define SAYS_MS 4000

static char probe_word[] = "probe";

/* What became of one run. */
struct result {
	int status;	 /* 128 and more: a signal */
	char out[256];	 /* of the program */
	char said[4096]; /* of vclock */
};

static char **command;
static int words;
static int unfollowed; /* the steps of --follow */

static int probe(void)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);
	int fd, fds = 0;

	for (fd = 0; fd < 1024; fd++)
		fds += fcntl(fd, F_GETFD) >= 0;
	printf("%s %d fds saved %s\n",
	       image != NULL && memmem(image, 4096, "clock_gettime_tai", 17) != NULL ? "image"
										     : "kernel",
	       fds, saved_ehdr() == (unsigned long)image ? "same" : "differs");
	return STATUS;
}

/* What comes within ms after the end of what came before, until the pipe ends. */
static void take(int fd, char *text, size_t size, int ms)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	size_t length = 0;
	ssize_t n;

	while (length < size - 1 && poll(&pollfd, 1, ms) > 0) {
		n = read(fd, text + length, size - 1 - length);
		if (n <= 0)
			break;
		length += (size_t)n;
	}
	text[length] = '\0';
}

static _Noreturn void start(char **argv, const int out[2], const int said[2])
{
	dup2(out[1], 1);
	dup2(said[1], 2);
	close(out[0]), close(out[1]), close(said[0]), close(said[1]);
	alarm(60);
	execvp(argv[0], argv);
	_exit(127);
}

/* The helper may say its word after the program has ended. */
static struct result run_argv(char **argv)
{
	struct result result = {.status = -1};
	int out[2], said[2], status;
	pid_t pid;

	if (pipe2(out, 0) != 0 || pipe2(said, 0) != 0)
		return result;
	pid = fork();
	if (pid == 0)
		start(argv, out, said);
	close(out[1]), close(said[1]);
	take(out[0], result.out, sizeof(result.out), 60000);
	take(said[0], result.said, sizeof(result.said), SAYS_MS);
	close(out[0]), close(said[0]);
	if (waitpid(pid, &status, 0) == pid)
		result.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return result;
}

static struct result run(const char *first, const char *second, int step)
{
	char number[16], *argv[WORDS_MAX + 8];
	int i, n = 0;

	snprintf(number, sizeof(number), "%d", step);
	for (i = 0; i < words && strcmp(command[i], "--") != 0; i++)
		argv[n++] = command[i];
	if (first != NULL)
		argv[n++] = (char *)(uintptr_t)first;
	if (second != NULL)
		argv[n++] = (char *)(uintptr_t)second;
	if (second != NULL)
		argv[n++] = number;
	for (; i < words; i++)
		argv[n++] = command[i];
	argv[n++] = probe_word;
	argv[n] = NULL;
	return run_argv(argv);
}

static bool is_image(const struct result *r)
{
	return r->status == STATUS && strncmp(r->out, "image ", 6) == 0;
}

static bool is_kernel(const struct result *r)
{
	return r->status == STATUS && strncmp(r->out, "kernel ", 7) == 0 &&
	       strstr(r->out, "saved same") != NULL;
}

static bool is_refused(const struct result *r)
{
	return (r->status == 126 || r->status == 128 + SIGKILL) && r->out[0] == '\0';
}

static void judge(bool good, const char *what, int step, const struct result *r)
{
	if (!good)
		tap_diag("%s %d: status %d: %s | %s", what, step, r->status, r->out, r->said);
}

/* Returns how many steps there are. */
static int check_fails(const struct result *whole)
{
	int step, good = 0, images = 0, kernels = 0;
	struct result r;

	for (step = 1; step <= STEPS_MAX; step++) {
		r = run("--verbose", "--fail-step", step);
		if (is_image(&r) && strcmp(r.out, whole->out) == 0 &&
		    strcmp(r.said, whole->said) == 0)
			break;
		judge(is_image(&r) || is_kernel(&r), "--fail-step", step, &r);
		images += is_image(&r);
		unfollowed += is_image(&r) && strstr(r.said, "does not follow: ") != NULL;
		kernels += is_kernel(&r) && strstr(r.said, "runs with the kernel's vDSO: ") != NULL;
	}
	good = images + kernels;
	tap_ok(good == step - 1 && kernels >= STEPS_LEAST && images - unfollowed <= 2,
	       "%d of %d steps failed, and the program ran right: %d with the kernel's vDSO and "
	       "the "
	       "reason, %d not followed",
	       good, step - 1, kernels, unfollowed);
	return step - 1;
}

static void check_kind(const char *first, const char *second, int steps,
		       bool (*is_good)(const struct result *),
		       bool (*is_good_too)(const struct result *))
{
	struct result r;
	int step, good = 0;

	for (step = 1; step <= steps; step++) {
		r = run(first, second, step);
		judge(is_good(&r) || is_good_too(&r), second, step, &r);
		good += is_good(&r) || is_good_too(&r);
	}
	tap_ok(good == steps, "%d of %d right%s%s, %s", good, steps, first != NULL ? ", " : "",
	       first != NULL ? first : "", second);
}

int main(int argc, char **argv)
{
	struct result plain, without;
	int steps;

	if (argc == 2 && strcmp(argv[1], probe_word) == 0)
		return probe();
	command = argv + 1;
	words = argc - 1;
	if (words == 0 || words > WORDS_MAX)
		return 2;
	without = run_argv((char *[]){argv[argc - 1], probe_word, NULL});
	plain = run("--verbose", NULL, 0);
	if (!tap_ok(is_image(&plain) && is_kernel(&without) &&
			    strcmp(strchr(plain.out, ' '), strchr(without.out, ' ')) == 0,
		    "no step fails, and nothing is left open"))
		judge(false, "no", 0, &plain);
	steps = check_fails(&plain);
	check_kind("--require", "--fail-step", steps, is_image, is_refused);
	/* Those of --follow do nothing but fail. */
	steps -= unfollowed;
	check_kind(NULL, "--die-step", steps, is_image, is_kernel);
	check_kind("--require", "--die-step", steps, is_refused, is_refused);
	return tap_done();
}
