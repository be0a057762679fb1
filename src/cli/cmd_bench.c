/* SPDX-License-Identifier: MIT */
/*
 * cmd_bench.c - `vclock bench`: what a call costs, each way, before and after.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "cli/bench.h"
#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/own_files.h"

#define ROUNDS 300
#define ROUNDS_MAX 1000000
#define THREADS_MAX 1024
/* The first line comes after some 20 ms on a quiet machine. */
#define PAGE_WAIT_MS 2000

enum { OPTION_JSON, OPTION_FORMAT, OPTION_THREADS, OPTION_PLOT, OPTION_ROUNDS, OPTION_TRUST };

static const struct cli_option options[] = {
	[OPTION_JSON] = {"json", NULL, "one JSON object; docs/json.md describes it"},
	[OPTION_FORMAT] = {"format", "go", "lines that benchstat reads"},
	[OPTION_THREADS] = {"threads", "N", "do each thing in N threads at once"},
	[OPTION_PLOT] = {"plot", "FILE.svg", "also draw the distributions, with gnuplot"},
	[OPTION_ROUNDS] = {"rounds", "N", "so many rounds; default 300"},
	[OPTION_TRUST] = {"trust-counter", NULL,
			  "show the page's rows also where the kernel does not trust\n"
			  "the counter"},
	{NULL, NULL, NULL},
};

static const struct cli_usage usage = {
	.command = "bench",
	.operands = "[CLOCK...]",
	.summary = "Measures what a call costs: by libc, the kernel's vDSO, the system call and "
		   "vclock.",
	.options = options,
	.notes = "CLOCK is a name as in clock_gettime(2), with or without CLOCK_, or a number; "
		 "also\n"
		 "now, gettimeofday, time, getcpu, getpid and raise. Without any, all are "
		 "measured.\n"
		 "Exit status 1 when the timer was seen to go back.",
};

struct request {
	bool json, go, trust_counter;
	const char *plot;
	uint64_t threads, rounds;
	char **wanted;
	int wanted_count;
};

static int take_option(struct request *request, int option, const char *value)
{
	switch (option) {
	case OPTION_JSON:
		request->json = true;
		return json_refuse();
	case OPTION_FORMAT:
		request->go = true;
		return strcmp(value, "go") == 0
			       ? CLI_GOOD
			       : cli_error(CLI_USAGE,
					   "bench: --format: %s: not a format; there is go", value);
	case OPTION_THREADS:
		return cli_number("bench: --threads", value, 1, THREADS_MAX, &request->threads);
	case OPTION_PLOT:
		request->plot = value;
		return CLI_GOOD;
	case OPTION_ROUNDS:
		return cli_number("bench: --rounds", value, 1, ROUNDS_MAX, &request->rounds);
	default:
		request->trust_counter = true;
		return CLI_GOOD;
	}
}

/* False: return *ret_status. */
static bool read_request(int argc, char **argv, struct request *request, int *ret_status)
{
	const char *value;
	int option, i;

	while ((option = cli_next_option(&usage, argc, argv, &value, ret_status)) >= 0) {
		*ret_status = take_option(request, option, value);
		if (*ret_status != CLI_GOOD)
			return false;
	}
	if (option == CLI_OPTIONS_STOP)
		return false;
	request->wanted = argv + optind;
	request->wanted_count = argc - optind;
	*ret_status = CLI_USAGE;
	if (request->json && request->go) {
		cli_error(CLI_USAGE, "bench: --json and --format: one of them");
		return false;
	}
	for (i = 0; i < request->wanted_count; i++) {
		if (!bench_is_group(request->wanted[i])) {
			cli_error(CLI_USAGE, "bench: %s: not a clock; see `vclock bench --help`",
				  request->wanted[i]);
			return false;
		}
	}
	return true;
}

/* A writer that is late just now will be back in a moment, and is no reason to do without. */
static bool page_answers(const struct library *library, bool *ret_overridden)
{
	struct vclock_status status = {.size = sizeof(status)};
	int tries;

	for (tries = 0; tries < 100; tries++) {
		if (library->status(&status) != 0)
			return false;
		if (status.clock[VCLOCK_MONOTONIC].route == VCLOCK_ROUTE_PAGE) {
			*ret_overridden = (status.page_flags & VCLOCK_PAGE_TRUST_OVERRIDDEN) != 0;
			return true;
		}
		if (status.clock[VCLOCK_MONOTONIC].reason != VCLOCK_REASON_NOT_COVERED)
			return false;
		usleep(5000);
	}
	return false;
}

/* Why the library's calls are not answered by a page, or whose page answers them. */
static const char *describe_page(const struct bench *bench, int error, bool trust_counter)
{
	struct vclock_status status = {.size = sizeof(status)};

	if (bench->library.status(&status) != 0)
		return "No page: the library gives no status.";
	if (bench->has_page && status.page_source == VCLOCK_PAGE_FILE)
		return cli_format("Page: %s, of process %u.", status.page_path,
				  status.page_writer_pid);
	if (bench->has_page)
		return bench->trust_overridden
			       ? "Page: a publisher of this process, although the kernel does not "
				 "trust the counter."
			       : "Page: a publisher of this process.";
	if (error == -EOPNOTSUPP && !trust_counter)
		return cli_format("No page: the kernel does not trust the counter (%s); "
				  "--trust-counter shows the rows of a page all the same.",
				  bench->counter.reason);
	if (error != 0)
		return cli_format("No page: %s.", strerror(-error));
	return cli_format("No page: %s.",
			  vclock_reason_string(status.clock[VCLOCK_MONOTONIC].reason));
}

/* A page: the machine's, else one of a publisher of our own. */
static void find_page(struct bench *bench, bool trust_counter)
{
	struct vclock_publisher_options publisher = {
		.size = sizeof(publisher), .trust_counter = trust_counter, .wait_ms = PAGE_WAIT_MS};
	int r = 0;

	bench->has_page = page_answers(&bench->library, &bench->trust_overridden);
	if (!bench->has_page) {
		r = bench->library.publisher_start(&publisher);
		bench->has_page = page_answers(&bench->library, &bench->trust_overridden);
	}
	bench->page_message = describe_page(bench, r, trust_counter);
}

/* An address that the library found not to be mapped is not looked at again. */
static void find_vdso(struct bench *bench)
{
	struct vclock_status status = {.size = sizeof(status)};
	bool is_there = bench->library.status(&status) == 0 && status.has_vdso;

	vclock_vdso_find(is_there && bench->may_count ? (const void *)getauxval(AT_SYSINFO_EHDR)
						      : NULL,
			 0, &bench->vdso);
}

/* Without a page too, for what it leaves to the kernel. */
static void find_image(struct bench *bench)
{
	const struct vclock_page *page = bench->has_page ? bench->library.page() : NULL;

	bench->has_image = bench->may_count &&
			   own_image_open(own_images(), page, &bench->vdso, &bench->image) == 0;
}

/* The probe forks, and comes before the publisher's thread. */
static void look_around(struct bench *bench, const struct request *request)
{
	library_open(&bench->library);
	bench->has_limited = library_open_limited(&bench->library, &bench->limited);
	bench->may_count = measure_counter_is_readable();
	find_vdso(bench);
	probe_kernel(&bench->vdso, &bench->probe);
	bench->counter.size = sizeof(bench->counter);
	vclock_counter_status(NULL, &bench->counter);
	bench->timer = measure_timer_best()->name;
	bench->ticks_are_cycles = measure_timer_best()->is_counter;
	bench->rounds = (uint32_t)request->rounds;
	bench->threads = (uint32_t)request->threads;
	find_page(bench, request->trust_counter);
	find_image(bench);
}

static void show_progress(void *arg, uint32_t round, uint32_t rounds)
{
	(void)arg;
	if (round % 10 == 0)
		fprintf(stderr, "\rround %u of %u ", round, rounds);
}

static int measure(struct bench *bench)
{
	static struct measure_candidate candidates[BENCH_ROWS_MAX];
	struct bench_rows *rows = &bench->rows;
	struct measure_options measure = {.rounds = bench->rounds, .threads = bench->threads};
	size_t i;
	int r;

	for (i = 0; i < rows->count; i++) {
		candidates[i].loop = rows->loop[i];
		candidates[i].subject = &rows->row[i].subject;
	}
	if (isatty(STDERR_FILENO))
		measure.progress = show_progress;
	r = measure_run(&measure, candidates, rows->count);
	if (measure.progress != NULL)
		fputs("\r\033[K", stderr);
	for (i = 0; i < rows->count; i++)
		rows->row[i].result = candidates[i].result;
	return r == 0 ? CLI_GOOD : cli_error(CLI_FAILURE, "bench: %s", strerror(-r));
}

static int went_back(const struct bench *bench)
{
	uint64_t negative = 0;
	size_t i;

	for (i = 0; i < bench->rows.count; i++)
		negative += bench->rows.row[i].result.negative;
	if (negative == 0)
		return CLI_GOOD;
	return cli_error(CLI_WRONG, "bench: %s: went back in %llu batches, which were left out",
			 bench->timer, (unsigned long long)negative);
}

static void print(const struct bench *bench, const struct request *request)
{
	if (request->json)
		bench_print_json(bench);
	else if (request->go)
		bench_print_go(bench);
	else
		bench_print_text(bench);
}

static int run(struct bench *bench, const struct request *request, int plot)
{
	int status, plotted = CLI_GOOD;

	look_around(bench, request);
	bench_rows_fill(bench, request->wanted, request->wanted_count);
	if (request->wanted_count != 0 && bench->rows.count <= 3)
		return cli_error(CLI_IMPOSSIBLE, "bench: %s: this kernel has no such clock",
				 request->wanted[0]);
	status = measure(bench);
	if (status != CLI_GOOD)
		return status;
	print(bench, request);
	if (plot >= 0)
		plotted = bench_plot(bench, request->plot, plot);
	status = went_back(bench);
	return status != CLI_GOOD ? status : plotted;
}

int cmd_bench(int argc, char **argv)
{
	static struct bench bench;
	struct request request = {.threads = 1, .rounds = ROUNDS};
	int status, plot = -1;
	size_t i;

	if (!read_request(argc, argv, &request, &status))
		return status;
	if (request.plot != NULL) {
		status = bench_plot_check();
		if (status != CLI_GOOD)
			return status;
		plot = open(request.plot, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (plot < 0)
			return cli_error(CLI_USAGE, "bench: --plot: %s: %s", request.plot,
					 strerror(errno));
	}
	status = run(&bench, &request, plot);
	for (i = 0; i < bench.rows.count; i++)
		measure_result_free(&bench.rows.row[i].result);
	if (bench.has_image)
		own_image_close(&bench.image);
	bench.library.publisher_stop();
	if (plot >= 0 && close(plot) != 0)
		return cli_error(CLI_FAILURE, "bench: --plot: %s: %s", request.plot,
				 strerror(errno));
	return status;
}
