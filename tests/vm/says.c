/* SPDX-License-Identifier: MIT */
/*
 * says.c - runs a command, shows what it prints, and judges its exit status and words:
 *     says STATUS [WORD]... -- COMMAND [ARGUMENT]...
 * Every WORD must stand somewhere in the output; one with '!' before it must not.
 */
#include "tap.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX 65536

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
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return -1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void show(void)
{
	char text[OUTPUT_MAX], *line, *rest = text;

	memcpy(text, output, sizeof(text));
	while ((line = strsep(&rest, "\n")) != NULL)
		if (*line != '\0')
			tap_diag("%s", line);
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
	int i, status, words = 2;

	while (words < argc && strcmp(argv[words], "--") != 0)
		words++;
	if (words + 1 >= argc) {
		fprintf(stderr, "usage: says STATUS [WORD]... -- COMMAND [ARGUMENT]...\n");
		return 2;
	}
	status = run(argv + words + 1);
	show();
	tap_ok(status == atoi(argv[1]), "exit status %d, %s wanted", status, argv[1]);
	for (i = 2; i < words; i++)
		expect_word(argv[i]);
	return tap_done();
}
