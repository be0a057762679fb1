/* SPDX-License-Identifier: MIT */
/*
 * expect.c - whether this machine gets the route that the trust table gives it:
 *     expect CLOCKSOURCE TRUST page|vdso|syscall
 * TRUST is never, watched or full. The route is what a program gets that starts a publisher with
 * all defaults. Where that is the page and the kernel falls back to system calls, the page must be
 * several times faster.
 */
#include "tap.h"
#include "vclock.h"

#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS 20000
#define ROUNDS 20
/* On hpet and acpi_pm; the issue's own figure. */
#define TIMES_FASTER 5
/* For kernels whose system calls take as long as others' programs. */
#define COST_NS_MAX UINT64_C(2000000000)

static enum vclock_trust trust_named(const char *name)
{
	return strcmp(name, "full") == 0      ? VCLOCK_TRUST_FULL
	       : strcmp(name, "watched") == 0 ? VCLOCK_TRUST_WATCHED
	       : strcmp(name, "prove") == 0   ? VCLOCK_TRUST_PROVE
	       : strcmp(name, "wait") == 0    ? VCLOCK_TRUST_WAIT
					      : VCLOCK_TRUST_NEVER;
}

static void expect_trust(const char *clocksource, const char *trust)
{
	struct vclock_counter_status counter = {.size = sizeof(counter)};
	int r = vclock_counter_status(NULL, &counter);

	tap_ok(r == 0, "the counter's status (%d)", r);
	tap_diag("%s of %s, %.3f MHz: %s", counter.current, counter.available,
		 (double)counter.hz / 1e6, counter.reason);
	/* "": the kernel does not say. */
	tap_ok(strcmp(counter.current[0] == '\0' ? "unknown" : counter.current, clocksource) == 0,
	       "the clocksource is %s", clocksource);
	tap_ok(counter.trust == trust_named(trust), "the verdict is %s", trust);
	tap_ok(counter.is_readable == 1, "the counter can be read");
}

static enum vclock_route route_of(uint32_t clk, uint32_t *ret_reason)
{
	struct vclock_status status = {.size = sizeof(status)};

	if (vclock_status(&status) != 0)
		return VCLOCK_ROUTE_SYSCALL;
	*ret_reason = status.clock[clk].reason;
	return status.clock[clk].route;
}

/* A publisher that the host holds up may be late just now: the route is what it comes back to. */
static bool comes_to(enum vclock_route route, uint32_t *ret_reason)
{
	int tries;

	for (tries = 0; tries < 100; tries++) {
		if (route_of(VCLOCK_MONOTONIC, ret_reason) == route)
			return true;
		usleep(10000);
	}
	return false;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A call of the library, whatever its route, or the C library's, which goes to the kernel's vDSO.
 */
static uint64_t cost_ns(bool is_ours)
{
	uint64_t start_ns, ns, best_ns = UINT64_MAX, end_ns = now_ns() + COST_NS_MAX;
	struct timespec ts;
	int round, i;

	for (round = 0; round < ROUNDS && (round == 0 || now_ns() < end_ns); round++) {
		start_ns = now_ns();
		for (i = 0; i < CALLS; i++) {
			if (is_ours)
				vclock_monotonic_ns();
			else
				clock_gettime(CLOCK_MONOTONIC, &ts);
		}
		ns = now_ns() - start_ns;
		if (ns < best_ns)
			best_ns = ns;
	}
	return best_ns;
}

static void expect_speed(uint64_t page_ns, uint64_t kernel_ns)
{
	tap_ok(page_ns * TIMES_FASTER <= kernel_ns, "the page is %d times faster", TIMES_FASTER);
}

static void expect_route(const char *clocksource, const char *trust, const char *name)
{
	struct vclock_publisher_options options = {.size = sizeof(options), .wait_ms = 3000};
	bool is_page = strcmp(name, "page") == 0;
	enum vclock_route want = is_page		     ? VCLOCK_ROUTE_PAGE
				 : strcmp(name, "vdso") == 0 ? VCLOCK_ROUTE_VDSO
							     : VCLOCK_ROUTE_SYSCALL;
	uint32_t reason = VCLOCK_REASON_NONE;
	int r = vclock_publisher_start(&options);
	uint64_t page_ns, kernel_ns;

	tap_ok(r == (is_page ? 0 : -EOPNOTSUPP), "a publisher %s (%d)",
	       is_page ? "starts" : "is refused", r);
	tap_ok(comes_to(want, &reason), "the route is %s", name);
	tap_ok((reason == VCLOCK_REASON_NONE) == is_page, "the reason: %s",
	       vclock_reason_string(reason));
	page_ns = cost_ns(true);
	kernel_ns = cost_ns(false);
	tap_diag("figures clocksource=%s trust=%s route=%s kernel_ns=%llu page_ns=%llu",
		 clocksource, trust, name, (unsigned long long)kernel_ns / CALLS,
		 (unsigned long long)page_ns / CALLS);
	if (is_page && strcmp(trust, "full") != 0)
		expect_speed(page_ns, kernel_ns);
	vclock_publisher_stop();
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fprintf(stderr, "usage: expect CLOCKSOURCE TRUST ROUTE\n");
		return 2;
	}
	expect_trust(argv[1], argv[2]);
	expect_route(argv[1], argv[2], argv[3]);
	return tap_done();
}
