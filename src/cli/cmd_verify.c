/* SPDX-License-Identifier: MIT */
/*
 * cmd_verify.c - `vclock verify`: proves that the clocks are right here, on every route there is.
 *
 * It reads clocks and nothing else: no clock is set, nothing of the system is changed.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/json.h"
#include "cli/verify.h"

enum { OPTION_SECONDS, OPTION_ROUTE, OPTION_TRUST, OPTION_SYSCALL, OPTION_JSON };

static const struct cli_option options[] = {
	[OPTION_SECONDS] = {"seconds", "N", "how long to read clocks, in all; 5 if not given"},
	[OPTION_ROUTE] = {"route", "ROUTE", "page, vdso or syscall: that one only"},
	[OPTION_TRUST] = {"trust-counter", NULL,
			  "verify the page also where the kernel does not trust the counter"},
	[OPTION_SYSCALL] = {"by-syscall", NULL,
			    "judge by the system call only, never by the kernel's vDSO"},
	[OPTION_JSON] = {"json", NULL, "one JSON object; docs/json.md describes it"},
	{NULL, NULL, NULL},
};

/* The names in notes are those of the table in suites.c; tests/cli_verify.t holds them together. */
static const struct cli_usage usage = {
	.command = "verify",
	.operands = "[SUITE...]",
	.summary =
		"Judges the clocks of this machine against the kernel's, on each route: the time "
		"page,\nthe kernel's vDSO, the system call.",
	.options = options,
	.notes = "Suites, all if none is named: bracket causality monotonicity coarse skew "
		 "resolution\n"
		 "getres errors fork.\n\n"
		 "Exit status 1 on a violation, 3 where a route cannot be verified here.",
};

static const char *const route_names[] = {"syscall", "vdso", "page"};

static int take_route(struct verify *verify, const char *value)
{
	int route;

	for (route = VCLOCK_ROUTE_SYSCALL; route <= VCLOCK_ROUTE_PAGE; route++)
		if (strcmp(value, route_names[route]) == 0) {
			verify->route = route;
			return CLI_GOOD;
		}
	return cli_error(CLI_USAGE, "verify: --route: %s: not one of page, vdso, syscall", value);
}

static int take_option(struct verify *verify, int option, const char *value)
{
	switch (option) {
	case OPTION_SECONDS:
		return cli_number("verify: --seconds", value, 1, 86400, &verify->seconds);
	case OPTION_ROUTE:
		return take_route(verify, value);
	case OPTION_TRUST:
		verify->trust_counter = true;
		return CLI_GOOD;
	case OPTION_SYSCALL:
		verify->run.syscall_oracle = true;
		return CLI_GOOD;
	default:
		verify->json = true;
		return json_refuse();
	}
}

static int take_suites(struct verify *verify, int argc, char **argv)
{
	const struct check_suite *suite;
	int i;

	for (i = 0; i < argc; i++) {
		suite = check_suite_find(argv[i]);
		if (suite == NULL)
			return cli_error(CLI_USAGE,
					 "verify: %s: unknown suite; see `vclock verify --help`",
					 argv[i]);
		verify->wanted |= 1u << (suite - check_suites);
	}
	if (argc == 0)
		verify->wanted = (1u << check_suites_count) - 1;
	return CLI_GOOD;
}

static struct vclock_status status_now(void)
{
	struct vclock_status status;

	memset(&status, 0, sizeof(status));
	status.size = sizeof(status);
	vclock_status(&status);
	return status;
}

/*
 * The library takes its routes from $VCLOCK_ROUTE when it is loaded, so another one needs another
 * image of this program. Where the variable already says so and was ignored, that would not end.
 */
static int limit_route(const struct verify *verify, char **argv)
{
	const char *wanted, *have = getenv("VCLOCK_ROUTE");
	struct vclock_status status = status_now();

	if (verify->route == VERIFY_ALL_ROUTES || status.route_limit == (uint32_t)verify->route)
		return CLI_GOOD;
	wanted = route_names[verify->route];
	if (have != NULL && strcmp(have, wanted) == 0)
		return cli_error(CLI_IMPOSSIBLE, "verify: %s: VCLOCK_ROUTE is ignored here",
				 wanted);
	setenv("VCLOCK_ROUTE", wanted, 1);
	execv("/proc/self/exe", argv);
	return cli_error(CLI_IMPOSSIBLE, "verify: %s: cannot start this program again", wanted);
}

static bool page_answers(struct verify *verify)
{
	struct vclock_status status = status_now();

	verify->trust_overridden = (status.page_flags & VCLOCK_PAGE_TRUST_OVERRIDDEN) != 0;
	/* Also at a moment when its writer is late. */
	verify->has_page = status.clock[VCLOCK_MONOTONIC].route == VCLOCK_ROUTE_PAGE ||
			   status.clock[VCLOCK_MONOTONIC].reason == VCLOCK_REASON_NOT_COVERED;

	snprintf(verify->page_path, sizeof(verify->page_path), "%s", status.page_path);
	return verify->has_page;
}

/*
 * Ten seconds of proof, where the trust table asks for it, and what comes before and after. With
 * real-time priority where that is allowed: the suites keep every CPU busy, and a late publisher
 * is not what is looked for here.
 */
#define PAGE_WAIT_MS 13000

static int start_publisher(const struct verify *verify)
{
	struct vclock_publisher_options publisher = {
		.size = sizeof(publisher),
		.trust_counter = verify->trust_counter,
		.wait_ms = PAGE_WAIT_MS,
		.realtime_priority = 1,
	};
	int r = vclock_publisher_start(&publisher);

	if (r == -EPERM) {
		publisher.realtime_priority = 0;
		r = vclock_publisher_start(&publisher);
	}
	return r;
}

/* Its first lines are excused by the stated error; the rate is good after some 64 samples. */
static void let_page_settle(void)
{
	const struct timespec settle = {0, 700000000};

	nanosleep(&settle, NULL);
}

/* Why there is no page, in words. Never NULL. */
static const char *find_page(struct verify *verify)
{
	struct vclock_counter_status counter;
	int r;

	if (page_answers(verify))
		return "";
	memset(&counter, 0, sizeof(counter));
	counter.size = sizeof(counter);
	r = vclock_counter_status(NULL, &counter);
	if (r != 0)
		return strerror(-r);
	if (counter.trust < VCLOCK_TRUST_PROVE && !verify->trust_counter)
		return cli_format("the kernel does not trust the counter (%s)", counter.reason);
	r = start_publisher(verify);
	if (r == 0)
		let_page_settle();
	if (page_answers(verify))
		return "";
	return r != 0 ? cli_format("no publisher: %s", strerror(-r))
		      : "the publisher has not written it";
}

static void add_subject(struct verify *verify, const struct check_subject *subject)
{
	verify->subject[verify->subjects++] = *subject;
}

/* The library first, on the route that it has; then each route's own functions. */
static void choose_subjects(struct verify *verify)
{
	struct check_subject subject;
	int route = verify->route;

	check_subject_library(&subject);
	add_subject(verify, &subject);
	check_subject_library_ns(&subject);
	add_subject(verify, &subject);
	if (verify->has_page && (route == VERIFY_ALL_ROUTES || route == VCLOCK_ROUTE_PAGE)) {
		check_subject_inline(&subject, vclock_page());
		add_subject(verify, &subject);
		check_subject_inline_ns(&subject, vclock_page());
		add_subject(verify, &subject);
	}
	if ((route == VERIFY_ALL_ROUTES || route == VCLOCK_ROUTE_VDSO) &&
	    check_subject_vdso(&subject) == 0)
		add_subject(verify, &subject);
	if (route == VERIFY_ALL_ROUTES || route == VCLOCK_ROUTE_SYSCALL) {
		check_subject_syscall(&subject);
		add_subject(verify, &subject);
	}
}

static void keep_row(void *arg, const struct check_result *result)
{
	struct verify *verify = arg;

	if (verify->rows == VERIFY_ROWS_MAX)
		return;
	verify->row[verify->rows] = *result;
	verify->row_route[verify->rows++] = verify->subject_now->route;
	if ((unsigned)result->verdict < VERIFY_VERDICTS)
		verify->count[result->verdict]++;
}

/* Each suite's share of the time, over each subject. */
static void run_suites(struct verify *verify)
{
	uint64_t weights = 0, total_ns = verify->seconds * 1000000000u;
	unsigned i, s;

	for (i = 0; i < check_suites_count; i++)
		if (verify->wanted & 1u << i)
			weights += check_suites[i].weight;
	if (weights == 0)
		weights = 1;
	for (i = 0; i < check_suites_count; i++) {
		if (!(verify->wanted & 1u << i))
			continue;
		verify->run.time_ns =
			total_ns * check_suites[i].weight / weights / verify->subjects;
		for (s = 0; s < verify->subjects; s++) {
			verify->subject_now = &verify->subject[s];
			check_suites[i].run(&verify->run, verify->subject_now);
		}
	}
}

static int exit_code(const struct verify *verify)
{
	if (verify->count[CHECK_FAIL] > 0)
		return CLI_WRONG;
	if (verify->count[CHECK_UNSTEADY] > 0)
		return cli_error(CLI_IMPOSSIBLE, "verify: the kernel's clock was being steered or "
						 "set too often to judge by it; try again later");
	if (verify->count[CHECK_PASS] == 0)
		return cli_error(CLI_IMPOSSIBLE, "verify: nothing could be judged here");
	return CLI_GOOD;
}

static int verify_all(struct verify *verify)
{
	if (verify->route == VERIFY_ALL_ROUTES || verify->route == VCLOCK_ROUTE_PAGE)
		verify->page_reason = find_page(verify);
	else
		verify->page_reason = "not wanted";
	if (verify->route == VCLOCK_ROUTE_PAGE && !verify->has_page)
		return cli_error(CLI_IMPOSSIBLE, "verify: page: %s", verify->page_reason);
	choose_subjects(verify);
	if (verify->route == VCLOCK_ROUTE_VDSO && verify->subject[0].route != VCLOCK_ROUTE_VDSO)
		return cli_error(CLI_IMPOSSIBLE,
				 "verify: vdso: the kernel gives this process none");
	check_steady_look(&verify->run.steady);
	run_suites(verify);
	vclock_publisher_stop();
	if (verify->json)
		verify_print_json(verify);
	else
		verify_print_text(verify);
	return exit_code(verify);
}

int cmd_verify(int argc, char **argv)
{
	static struct verify verify = {.seconds = 5, .route = VERIFY_ALL_ROUTES};
	const char *value;
	int option, status = CLI_GOOD;

	while ((option = cli_next_option(&usage, argc, argv, &value, &status)) >= 0) {
		status = take_option(&verify, option, value);
		if (status != CLI_GOOD)
			return status;
	}
	if (option == CLI_OPTIONS_STOP)
		return status;
	status = take_suites(&verify, argc - optind, argv + optind);
	if (status != CLI_GOOD)
		return status;
	/* main() took the program's own name away; argv[-1] is it. */
	status = limit_route(&verify, argv - 1);
	if (status != CLI_GOOD)
		return status;
	verify.run.seed = (uint32_t)time(NULL) | 1;
	verify.run.report = keep_row;
	verify.run.report_arg = &verify;
	return verify_all(&verify);
}
