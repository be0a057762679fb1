/* SPDX-License-Identifier: MIT */
/*
 * bench_plot.c - `vclock bench --plot`: what each row's rounds took, drawn by gnuplot.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/cli.h"

#define ROW_HEIGHT 18 /* pixels */
/* The axis is logarithmic: rows that come out at or below zero stand at its left edge. */
#define LEAST_NS 0.1

extern char **environ;

/* Runs gnuplot with the given descriptors. 0 and its pid, or an errno. */
static int start_gnuplot(char *const *arguments, int in, int out, pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	int r;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, in, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	r = posix_spawnp(ret_pid, "gnuplot", &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	return r;
}

/* Exit status 0, after a wait. */
static bool ended_well(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return false;
	}
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int bench_plot_check(void)
{
	char name[] = "gnuplot", version[] = "--version";
	char *arguments[] = {name, version, NULL};
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	pid_t pid;
	int r;

	if (null < 0)
		return cli_error(CLI_FAILURE, "--plot: /dev/null: %s", strerror(errno));
	r = start_gnuplot(arguments, null, null, &pid);
	close(null);
	if (r != 0 || !ended_well(pid))
		return cli_error(CLI_IMPOSSIBLE, "--plot: gnuplot: %s",
				 r == ENOENT ? "not installed"
				 : r != 0    ? strerror(r)
					     : "does not run");
	return CLI_GOOD;
}

static double on_axis(double ns)
{
	return ns < LEAST_NS ? LEAST_NS : ns;
}

/* Row by row from the top: place, minimum, quartiles, median, p99, label. */
static void write_data(const struct bench *bench, FILE *out)
{
	const struct bench_row *row;
	const struct measure_result *result;
	size_t i;

	fprintf(out, "$rows << END\n");
	for (i = 0; i < bench->rows.count; i++) {
		row = &bench->rows.row[i];
		result = &row->result;
		if (result->rounds == 0 || result->is_gone)
			continue;
		fprintf(out, "%zu %.4f %.4f %.4f %.4f %.4f \"%s %s\"\n", bench->rows.count - i,
			on_axis(result->min_ns),
			on_axis(measure_percentile(result->sorted_ns, result->rounds, 250)),
			on_axis(result->median_ns),
			on_axis(measure_percentile(result->sorted_ns, result->rounds, 750)),
			on_axis(result->p99_ns), row->group, row->way);
	}
	fprintf(out, "END\n");
}

static void write_script(const struct bench *bench, FILE *out)
{
	fprintf(out,
		"set terminal svg size 1000,%zu font 'sans,11' background 'white'\n"
		"set title 'vclock bench: %u rounds, %u thread%s (line: minimum to p99; box: "
		"quartiles; mark: median)' noenhanced\n",
		80 + ROW_HEIGHT * bench->rows.count, bench->rounds, bench->threads,
		bench->threads == 1 ? "" : "s");
	write_data(bench, out);
	fprintf(out,
		"set logscale x\nset xlabel 'ns per call'\nset grid x\nunset key\n"
		"set yrange [0:%zu]\nset ytics noenhanced\n"
		"plot $rows using 2:1:($6-$2):(0):ytic(7) with vectors nohead lc rgb '#7f9fbf', "
		"$rows using 4:1:3:5:($1-0.3):($1+0.3) with boxxyerror fill solid 0.6 lc rgb "
		"'#4f7faf', $rows using 4:1 with points pt 7 ps 0.4 lc rgb '#1f2f3f'\n",
		bench->rows.count + 1);
}

/* Runs gnuplot; what it prints goes to out. */
static int run_gnuplot(const struct bench *bench, int out_fd)
{
	char name[] = "gnuplot";
	char *arguments[] = {name, NULL};
	int fds[2], r;
	FILE *out;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) != 0)
		return cli_error(CLI_FAILURE, "--plot: pipe: %s", strerror(errno));
	r = start_gnuplot(arguments, fds[0], out_fd, &pid);
	close(fds[0]);
	if (r != 0) {
		close(fds[1]);
		return cli_error(CLI_FAILURE, "--plot: gnuplot: %s", strerror(r));
	}
	out = fdopen(fds[1], "w");
	if (out != NULL) {
		write_script(bench, out);
		fclose(out);
	} else {
		close(fds[1]);
	}
	return ended_well(pid) ? CLI_GOOD : cli_error(CLI_FAILURE, "--plot: gnuplot: failed");
}

/* The whole of a picture in picture_fd: its bytes, or NULL after a message. */
static char *read_picture(int picture_fd, size_t *ret_size)
{
	off_t size = lseek(picture_fd, 0, SEEK_END), at = 0;
	char *picture = cli_alloc((size_t)(size < 0 ? 0 : size) + 1);
	ssize_t n = 1;

	for (; n > 0 && at < size; at += n)
		n = pread(picture_fd, picture + at, (size_t)(size - at), at);
	if (n > 0 && strstr(picture, "</svg>") != NULL) {
		*ret_size = (size_t)size;
		return picture;
	}
	free(picture);
	cli_error(CLI_FAILURE, "--plot: gnuplot: its picture is not whole");
	return NULL;
}

static int write_whole(int fd, const char *bytes, size_t size)
{
	ssize_t n;

	for (; size > 0; bytes += n, size -= (size_t)n) {
		n = write(fd, bytes, size);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n <= 0)
			return n < 0 ? errno : EIO;
	}
	return 0;
}

/* gnuplot says nothing of a write that fails: it writes into memory, and the file is ours to write.
 */
static int draw(const struct bench *bench, const char *path, int fd)
{
	int picture_fd = memfd_create("vclock-plot", MFD_CLOEXEC), status, error;
	char *picture = NULL;
	size_t size = 0;

	if (picture_fd < 0)
		return cli_error(CLI_FAILURE, "--plot: memory: %s", strerror(errno));
	status = run_gnuplot(bench, picture_fd);
	if (status == CLI_GOOD)
		picture = read_picture(picture_fd, &size);
	close(picture_fd);
	if (picture == NULL)
		return CLI_FAILURE;
	error = write_whole(fd, picture, size);
	free(picture);
	if (error != 0)
		return cli_error(CLI_FAILURE, "bench: --plot: %s: %s", path, strerror(error));
	return CLI_GOOD;
}

/* A gnuplot that ends early shows in its status, a pipe or a size limit in that of the write. */
int bench_plot(const struct bench *bench, const char *path, int fd)
{
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	struct sigaction pipe, size;
	int status;

	sigaction(SIGPIPE, &ignore, &pipe);
	sigaction(SIGXFSZ, &ignore, &size);
	status = draw(bench, path, fd);
	sigaction(SIGXFSZ, &size, NULL);
	sigaction(SIGPIPE, &pipe, NULL);
	return status;
}
