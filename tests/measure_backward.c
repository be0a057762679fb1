/* SPDX-License-Identifier: MIT */
/* A clock that goes back while a batch is timed: counted, left out, and nothing aborts or hangs. */
#include "measure/measure.h"
#include "tap.h"

struct clock {
	uint64_t now, calls, back_every;
};

/* 100 ns a read; every so often 5 ns before the last one instead, or at every read. */
static uint64_t read_clock(void *arg)
{
	struct clock *clock = arg;

	if (clock->back_every == 1)
		return clock->now -= 5;
	if (clock->back_every != 0 && ++clock->calls % clock->back_every == 0)
		return clock->now - 5;
	return clock->now += 100;
}

static void run(struct clock *clock, struct measure_candidate *candidate)
{
	struct measure_timer timer = {.read = read_clock,
				      .arg = clock,
				      .ns_per_tick = 1,
				      .name = "a clock of the test's own"};
	struct measure_options options = {.rounds = 300, .batch_ns = 1, .timer = &timer};

	tap_ok(measure_run(&options, candidate, 1) == 0, "it runs to its end");
	tap_diag("%zu good, %u negative", candidate->result.rounds, candidate->result.negative);
}

int main(void)
{
	struct measure_candidate candidate = {.loop = measure_empty_loop};
	struct clock always = {.now = 1000000, .back_every = 1};
	struct clock sometimes = {.now = 1000000, .back_every = 31};
	struct clock good = {.now = 1000000};

	run(&always, &candidate);
	tap_ok(candidate.result.negative == 300 && candidate.result.rounds == 0,
	       "t, t - 5 all the time: all counted, no figure");
	measure_result_free(&candidate.result);

	run(&sometimes, &candidate);
	tap_ok(candidate.result.negative > 0 && candidate.result.rounds > 0 &&
		       candidate.result.rounds + candidate.result.negative == 300,
	       "t, t - 5 at times: counted, the others stand");
	/* A batch that begins with the read that went back is 5 ns longer. */
	tap_ok(candidate.result.min_ns * candidate.result.calls > 99 &&
		       candidate.result.sorted_ns[candidate.result.rounds - 1] *
				       candidate.result.calls <
			       106,
	       "and are those of the clock");
	measure_result_free(&candidate.result);

	run(&good, &candidate);
	tap_ok(candidate.result.negative == 0 && candidate.result.rounds == 300,
	       "a clock that goes on: none counted");
	measure_result_free(&candidate.result);
	return tap_done();
}
