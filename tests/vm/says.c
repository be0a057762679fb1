/* SPDX-License-Identifier: MIT */
/*
 * says.c - runs a command, shows what it prints, and judges its exit status and words:
 *     says STATUS [WORD]... -- COMMAND [ARGUMENT]...
 * Every WORD must stand somewhere in the output; one with '!' before it must not.
 *     says held-up -- vclock verify ...
 * wants status 0, and runs the command again, five times at most, while all that failed is that too
 * little came from the page: a host that holds the machine up makes the publisher late. Whatever
 * else is wrong is wrong at once.
 */
#include "tap.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX 65536
#define TRIES 5

static char output[OUTPUT_MAX];

static int run(char **argv)
{
	size_t length = 0;
	ssize_t count;
	int pipes[2], status;
	pid_t pid;

	if (pipe(pipes) != 0)
		return -1;
	pid = fork();
	if (pid == 0) {
		dup2(pipes[1], 1);
		dup2(pipes[1], 2);
		close(pipes[0]);
		close(pipes[1]);
		execvp(argv[0], argv);
		perror(argv[0]);
		_exit(127);
	}
	close(pipes[1]);
	while ((count = read(pipes[0], output + length, sizeof(output) - 1 - length)) > 0)
		length += (size_t)count;
	close(pipes[0]);
	output[length] = '\0';
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void show(void)
{
	static char text[OUTPUT_MAX];
	char *line, *rest = text;

	memcpy(text, output, sizeof(text));
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0')
			tap_diag("%s", line);
}

/* Whether it names failures, and all of them are of the page's share. */
static bool was_held_up(void)
{
	static const char mark[] = "FAIL: ", share[] = " came from the page";
	const char *line = output, *end, *found;
	bool is_any = false;

	while ((line = strstr(line, mark)) != NULL) {
		end = strchrnul(line, '\n');
		found = strstr(line, share);
		if (found == NULL || found > end)
			return false;
		is_any = true;
		line = end;
	}
	return is_any;
}

static void expect_word(const char *word)
{
	bool is_wanted = *word != '!';

	word += !is_wanted;
	tap_ok((strstr(output, word) != NULL) == is_wanted, "it says%s \"%s\"",
	       is_wanted ? "" : " nothing of", word);
}

int main(int argc, char **argv)
{
	int i, status, words = 2, tries = 1;
	bool is_held_up;

	while (words < argc && strcmp(argv[words], "--") != 0)
		words++;
	if (words + 1 >= argc) {
		fprintf(stderr, "usage: says STATUS [WORD]... -- COMMAND [ARGUMENT]...\n");
		return 2;
	}
	is_held_up = strcmp(argv[1], "held-up") == 0;
	status = run(argv + words + 1);
	show();
	while (is_held_up && status == 1 && was_held_up() && tries++ < TRIES) {
		tap_diag("the host held the machine up: try %d", tries);
		status = run(argv + words + 1);
		show();
	}
	tap_ok(status == (is_held_up ? 0 : atoi(argv[1])), "exit status %d, %s wanted", status,
	       argv[1]);
	for (i = 2; i < words; i++)
		expect_word(argv[i]);
	return tap_done();
}
