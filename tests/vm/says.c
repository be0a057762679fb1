/* SPDX-License-Identifier: MIT */
/*
 * says.c - runs a command, shows what it prints, and judges its exit status and words:
 *     says STATUS [WORD]... -- COMMAND [ARGUMENT]...
 * Every WORD must stand somewhere in the output; one with '!' before it must not.
 *     says held-up -- vclock verify ...
 * wants status 0, and runs the command again, eight times at most, while all that failed is that
 * too little came from the page: a host that holds the machine up makes the publisher late. Each
 * row has to pass in one of the tries. Whatever else is wrong is wrong at once.
 */
#include "tap.h"

#include <stdbool.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define OUTPUT_MAX 65536
#define TRIES 8
#define ROWS_MAX 128
#define ROW_MAX 120

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

/* The rows that had too little of the page in every try so far. */
static char starved[ROWS_MAX][ROW_MAX];
static unsigned starved_count;

static bool is_in(const char *const *lines, unsigned count, const char *row)
{
	unsigned i;

	for (i = 0; i < count; i++)
		if (strncmp(lines[i], row, strlen(row)) == 0)
			return true;
	return false;
}

/*
 * Keeps of the starved rows those that are so again, or in the first try all. False: something
 * else is wrong, or nothing that is named.
 */
static bool was_held_up(bool is_first)
{
	static const char mark[] = "FAIL: ", share[] = ": only ", page[] = " came from the page";
	const char *line = output, *end, *found, *lines[ROWS_MAX];
	unsigned count = 0, kept = 0, i;

	while ((line = strstr(line, mark)) != NULL) {
		line += strlen(mark);
		end = strchrnul(line, '\n');
		found = strstr(line, page);
		if (found == NULL || found > end || count == ROWS_MAX)
			return false;
		found = strstr(line, share);
		if (found == NULL || found > end || found - line >= ROW_MAX)
			return false;
		if (is_first)
			snprintf(starved[starved_count++], ROW_MAX, "%.*s", (int)(found - line),
				 line);
		lines[count++] = line;
	}
	for (i = 0; i < starved_count; i++)
		if (is_in(lines, count, starved[i]))
			memmove(starved[kept++], starved[i], ROW_MAX);
	starved_count = kept;
	return count > 0;
}

/* Runs it until each row had its share of the page once. Returns what the exit status comes to. */
static int run_held_up(char **argv)
{
	int tries, status = 0;

	for (tries = 1; tries <= TRIES; tries++) {
		status = run(argv);
		show();
		if (status != 1)
			return status;
		if (!was_held_up(tries == 1))
			return 1;
		if (starved_count == 0)
			return 0;
		tap_diag("the host held the machine up in try %d: %u rows are left", tries,
			 starved_count);
	}
	return status;
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
	bool is_held_up;

	while (words < argc && strcmp(argv[words], "--") != 0)
		words++;
	if (words + 1 >= argc) {
		fprintf(stderr, "usage: says STATUS [WORD]... -- COMMAND [ARGUMENT]...\n");
		return 2;
	}
	is_held_up = strcmp(argv[1], "held-up") == 0;
	if (is_held_up) {
		status = run_held_up(argv + words + 1);
	} else {
		status = run(argv + words + 1);
		show();
	}
	tap_ok(status == (is_held_up ? 0 : atoi(argv[1])), "exit status %d, %s wanted", status,
	       argv[1]);
	for (i = 2; i < words; i++)
		expect_word(argv[i]);
	return tap_done();
}
