/* SPDX-License-Identifier: MIT */
/* publisher.c - one step from sample to page; see publisher.h. Must never sleep or read a clock. */
#include "publish/publisher.h"

#include "keeper/scale.h"
#include "publish/machine.h"
#include "publish/page_check.h"
#include "vclock/read.h"

#include <errno.h>
#include <string.h>

#define INTERVAL_NS 10000000u
#define INTERVAL_NS_MIN 1000000u
#define LINES_NS_MAX 40000000u
#define LINES_NS_MAX_OTHER 20000000u /* where the kernel's clocksource is another */
/*
 * At start the rate is unknown: samples in quick succession. 32 samples over 64 ms give it to some
 * 30 ppb (sample noise of 5 ns), which is below 1 ns over the two lines that are stated ahead.
 */
#define START_INTERVAL_NS 2000000u
#define START_SAMPLES 32u
/* A clock whose rate never rests for that long: what two or more samples say has to do. */
#define START_STEPS_MAX 64u
/* A rate is not known before this has passed between two samples (design, 3.3). */
#define START_SPAN_NS 10000000u
/* A line is published when its predecessor has begun, and a little later, so that no reader still
 * holds a counter value from before. */
#define SLACK_NS 50000u
/* After -ERANGE: the same line a little later, or the first after a gap. */
#define RETRY_NS 2000000u
/* After -ETIME, soon, and then less and less often: on a machine so slow that a step is always too
 * late, up to 3.2 ms. */
#define RETRY_LATE_NS 100000u
#define RETRY_LATE_DOUBLINGS 5u
/* A step that is held up for longer between its sample and the page takes another sample: what the
 * clock did since is not in the stated error. */
#define STALE_NS 1000000u
/* What a page is off by in the steady state: kernel brackets are some 45 ns wide where the vDSO
 * works, and the value lies within. */
#define ERROR_NS 50u
#define ERROR_NS_MAX 999999999u /* what a timekeeper may state */
/* A rate at the very limit is measured by two samples at first: 10 ns of noise over 1 ms, twice. */
#define RATE_NOISE_PPM 20u
/* A change of rate is in the error until the line that was steered by it has been reached. */
#define CHANGE_STEPS 3u
#define NSEC_PER_SEC 1000000000u
/* Counter jumps that a page is published again after; a counter that does this ever again is
 * broken. */
#define JUMPS_MAX 16u
/* A page teaches its rate when this many of its lines have ended, and this many samples agree. */
#define LEARN_LINES_MIN 6u
#define CONFIRMATIONS 8u

static uint64_t read_counter(const struct publisher *publisher)
{
	return publisher->reference->read_counter(publisher->reference);
}

bool publisher_may_adopt(const struct vclock_page *page, const struct publisher_config *config)
{
	return page_check(page) == 0 && page->counter_kind == config->page.counter_kind &&
	       page->timens_ino == config->page.timens_ino &&
	       machine_is_known_boot(page->boot_id) &&
	       memcmp(page->boot_id, config->page.boot_id, sizeof(page->boot_id)) == 0;
}

/*
 * A line's end is where the earlier publisher knew the clock to be: a sample. The width of its
 * bracket is what the page states as its error.
 */
static void learn_line(struct publisher *publisher, const struct vclock_line *line, uint64_t now)
{
	const struct vclock_page *page = publisher->page;
	uint64_t end = line->start_cyc + line->length_cyc;
	uint64_t half = scale_shl_div(ERROR_NS, page->shift, line->mult[0]) / 2 + 1;
	struct keeper_bracket bracket = {end - half, end + half, 0};
	uint64_t mono, raw;

	if (line->length_cyc == 0 || (int64_t)(now - end) < 0)
		return;
	mono = ((uint64_t)line->length_cyc * line->mult[0] + line->base[VCLOCK_MONOTONIC].fns) >>
	       page->shift;
	raw = ((uint64_t)line->length_cyc * line->mult[1] + line->base[VCLOCK_MONOTONIC_RAW].fns) >>
	      page->shift;
	bracket.ns = (uint64_t)line->base[VCLOCK_MONOTONIC].sec * NSEC_PER_SEC + mono;
	keeper_clock_add(&publisher->mono, &bracket);
	bracket.ns = (uint64_t)line->base[VCLOCK_MONOTONIC_RAW].sec * NSEC_PER_SEC + raw;
	keeper_clock_add(&publisher->raw, &bracket);
}

/*
 * The rate and the window of samples from the lines that an earlier publisher of this boot left,
 * when they ended a moment ago. A few samples of our own have to confirm it.
 */
static void learn_from_page(struct publisher *publisher)
{
	const struct vclock_page *page = publisher->page;
	const struct vclock_slot *live = &page->slot[page->generation & 1];
	const struct vclock_line *last = &live->line[live->line[1].length_cyc != 0];
	uint64_t now = read_counter(publisher);
	uint32_t n = live->history_count < VCLOCK_HISTORY ? live->history_count
							  : VCLOCK_HISTORY - 1;

	if (page->generation == 0 || live->retired > VCLOCK_RETIRED_STOPPED ||
	    last->length_cyc == 0 || now - last->start_cyc > 2 * page->counter_hz)
		return;
	for (; n > 0; n--)
		learn_line(publisher, &page->history[(live->history_count - n) % VCLOCK_HISTORY],
			   now);
	learn_line(publisher, &live->line[0], now);
	learn_line(publisher, &live->line[1], now);
	if (publisher->mono.count >= LEARN_LINES_MIN && publisher->raw.count >= LEARN_LINES_MIN)
		publisher->confirmations = CONFIRMATIONS;
}

int publisher_init(struct publisher *publisher, struct reference *reference,
		   struct vclock_page *page, const struct publisher_config *config)
{
	uint64_t limit = config->counter_is_clocksource ? LINES_NS_MAX : LINES_NS_MAX_OTHER;
	struct vclock_page_config *wanted = &publisher->config.page;

	memset(publisher, 0, sizeof(*publisher));
	publisher->config = *config;
	publisher->reference = reference;
	publisher->page = page;
	if (wanted->interval_ns == 0)
		wanted->interval_ns = INTERVAL_NS;
	if (wanted->interval_ns < INTERVAL_NS_MIN || wanted->interval_ns >= limit)
		return -EINVAL;
	if (wanted->ahead_ns == 0) /* the interval, as far as it fits */
		wanted->ahead_ns = (uint32_t)(limit - wanted->interval_ns);
	if (config->page.ahead_ns == 0 && wanted->ahead_ns > wanted->interval_ns)
		wanted->ahead_ns = wanted->interval_ns;
	if (wanted->ahead_ns > wanted->interval_ns ||
	    (uint64_t)wanted->interval_ns + wanted->ahead_ns > limit)
		return -EINVAL;
	publisher->timekeeper.read_counter = reference->read_counter;
	publisher->timekeeper.read_counter_arg = reference;
	if (publisher_may_adopt(page, &publisher->config))
		learn_from_page(publisher);
	return 0;
}

static uint64_t cyc_to_ns(const struct publisher *publisher, uint64_t cyc)
{
	return scale_mul_shr(cyc, publisher->raw.line.rate, KEEPER_RATE_SHIFT);
}

static uint64_t ns_to_cyc(const struct publisher *publisher, uint64_t ns)
{
	return scale_shl_div(ns, KEEPER_RATE_SHIFT - 8, publisher->raw.line.rate >> 8);
}

/* How late this step is, and the worst of the last second or so. */
static void note_lateness(struct publisher *publisher, uint64_t now)
{
	uint64_t late = 0;

	if (publisher->planned_cyc != 0 && now > publisher->planned_cyc)
		late = now - publisher->planned_cyc;
	if (late >= publisher->lateness_cyc ||
	    cyc_to_ns(publisher, now - publisher->lateness_since_cyc) > NSEC_PER_SEC) {
		publisher->lateness_cyc = late;
		publisher->lateness_since_cyc = now;
	}
	publisher->planned_cyc = 0;
}

/* Keeps what the sample could not tell from the one before. True when a clock stepped. */
static bool note_offsets(struct publisher *publisher, const struct reference_sample *sample)
{
	struct reference_sample *last = &publisher->sample;
	bool stepped = false;

	if (sample->real_is_valid) {
		stepped |= !last->real_is_valid ||
			   last->real_minus_mono_ns != sample->real_minus_mono_ns;
		last->real_minus_mono_ns = sample->real_minus_mono_ns;
		last->real_is_valid = true;
	}
	if (sample->tai_is_valid) {
		stepped |= !last->tai_is_valid || last->tai_offset_sec != sample->tai_offset_sec;
		last->tai_offset_sec = sample->tai_offset_sec;
		last->tai_is_valid = true;
	}
	if (sample->boot_is_valid) {
		stepped |= keeper_offset_add(&publisher->boot, sample->boot_minus_mono_lo_ns,
					     sample->boot_minus_mono_hi_ns);
		last->boot_is_valid = true;
	}
	if (sample->timezone_is_valid) {
		last->tz_minuteswest = sample->tz_minuteswest;
		last->tz_dsttime = sample->tz_dsttime;
	}
	return stepped;
}

/* Once a second, counted by the last sample: it is a system call, and changes once in a boot. */
static bool wants_timezone(struct publisher *publisher)
{
	uint64_t last = publisher->sampled_cyc;

	if (publisher->raw.count >= 2 &&
	    cyc_to_ns(publisher, last - publisher->timezone_cyc) < NSEC_PER_SEC)
		return false;
	publisher->timezone_cyc = last;
	return true;
}

static uint32_t saturate(uint64_t value)
{
	return value > UINT32_MAX ? UINT32_MAX : (uint32_t)value;
}

/*
 * |change of rate| * (interval + ahead + lateness) + 50 ns (design, 3.8) until the changed rate has
 * reached the readers; and never less than half of the bracket that the clock is read in. A step
 * that is later than the lines last leaves a gap, and what it publishes then is fresh.
 */
static uint32_t error_ns(const struct publisher *publisher)
{
	uint64_t lateness_ns = cyc_to_ns(publisher, publisher->lateness_cyc);
	uint64_t window_ns = (uint64_t)publisher->page->interval_ns + publisher->page->ahead_ns;
	uint64_t width_ns = cyc_to_ns(publisher, publisher->mono.width_cyc);
	uint64_t error = width_ns / 2 > ERROR_NS ? width_ns / 2 : ERROR_NS;

	window_ns += lateness_ns < window_ns ? lateness_ns : window_ns;
	if (publisher->change_steps > 0) /* 10^-9 is 1100 / 2^40 and 0.05 % more */
		error += scale_mul_shr(window_ns * 1100, publisher->change_ppb, 40);
	return error < ERROR_NS_MAX ? (uint32_t)error : ERROR_NS_MAX;
}

/* ns and 2^-32 ns in the page's shift; of the fraction the keeper knows the upper half. */
static uint64_t shifted(uint32_t nsec, uint32_t frac, uint32_t shift)
{
	return ((uint64_t)nsec << shift) + ((uint64_t)(frac >> 16) << shift >> 16);
}

/* The sample's clocks as the kernel's own terms have them. */
static int state_timekeeper(struct publisher *publisher)
{
	struct vclock_timekeeper *tk = &publisher->timekeeper;
	const struct keeper_line *mono = &publisher->mono.line;
	uint32_t shift = publisher->page->shift, nsec, raw_frac;
	int64_t real_ns = (int64_t)mono->ns + publisher->sample.real_minus_mono_ns;
	uint64_t raw_ns;

	tk->cycle_last = mono->cyc;
	tk->shift = shift;
	tk->mult = keeper_rate_to_mult(mono->rate, shift);
	tk->raw_mult = keeper_rate_to_mult(publisher->raw.line.rate, shift);
	scale_ns_to_sec(real_ns, &tk->xtime_sec, &nsec);
	tk->xtime_nsec = shifted(nsec, mono->frac, shift);
	scale_ns_to_sec(-publisher->sample.real_minus_mono_ns, &tk->wall_to_monotonic.tv_sec,
			&nsec);
	tk->wall_to_monotonic.tv_nsec = nsec;
	scale_ns_to_sec(publisher->boot.value_ns, &tk->monotonic_to_boot.tv_sec, &nsec);
	tk->monotonic_to_boot.tv_nsec = nsec;
	raw_ns = keeper_line_at(&publisher->raw.line, mono->cyc, &raw_frac);
	scale_ns_to_sec((int64_t)raw_ns, &tk->raw_sec, &nsec);
	tk->raw_nsec = shifted(nsec, raw_frac, shift);
	tk->tai_offset_sec = publisher->sample.tai_offset_sec;
	tk->error_ns = error_ns(publisher);
	/* The newest sample of the window is older than this step's where that was rejected. */
	tk->valid_ns =
		saturate(cyc_to_ns(publisher, publisher->sampled_cyc - mono->cyc) + STALE_NS);
	tk->lateness_ns = saturate(cyc_to_ns(publisher, publisher->lateness_cyc));
	return tk->mult == 0 || tk->raw_mult == 0 ? -ERANGE : 0;
}

/*
 * A page of this counter's rate: RAW's, which no discipline bends. What an earlier publisher left
 * is taken over, so that its readers go on with it and MONOTONIC goes on above it.
 */
static int make_page(struct publisher *publisher)
{
	struct vclock_page_config *config = &publisher->config.page;
	struct vclock_page *page = publisher->page;
	int r;

	config->counter_hz =
		scale_shl_div(NSEC_PER_SEC, KEEPER_RATE_SHIFT, publisher->raw.line.rate);
	r = page_check(page) == 0 ? vclock_page_adopt(page, config) : -EINVAL;
	if (r != 0)
		r = vclock_page_init(page, config);
	publisher->page_is_ready = r == 0;
	/* Any number but the page's own: the first update states all offsets. */
	publisher->timekeeper.clock_was_set_seq =
		page->slot[page->generation & 1].clock_was_set_seq + 1;
	return r;
}

/* When the next line is due: `ahead` before the end of the last one, and after that has begun. */
static void plan(struct publisher *publisher, uint64_t *ret_sleep_ns)
{
	const struct vclock_page *page = publisher->page;
	const struct vclock_line *last = &page->slot[page->generation & 1].line[1];
	uint64_t now = read_counter(publisher), end = last->start_cyc + last->length_cyc;
	uint64_t due = end - ns_to_cyc(publisher, page->ahead_ns);
	uint64_t begun = last->start_cyc + ns_to_cyc(publisher, SLACK_NS);

	if ((int64_t)(due - begun) < 0)
		due = begun;
	publisher->planned_cyc = due;
	*ret_sleep_ns = (int64_t)(due - now) > 0 ? cyc_to_ns(publisher, due - now) : 0;
	/* A page that this step did not write, or a counter that moved: never sleep it out. */
	if (*ret_sleep_ns > LINES_NS_MAX)
		*ret_sleep_ns = RETRY_NS;
}

/*
 * At start, and after a jump, the rate has to be learned from a window of samples, whatever stands
 * on the page. From then on two samples after a change of rate are enough to go on.
 */
static bool rate_is_known(struct publisher *publisher, enum keeper_verdict verdict)
{
	uint64_t span = keeper_clock_span_cyc(&publisher->mono);

	if (publisher->mono.count < 2 || publisher->raw.count < 2)
		return false;
	if (publisher->is_started)
		return true;
	publisher->start_steps++;
	/* What was learned from the page is dropped with the window when a sample denies it. */
	if (publisher->mono.count < LEARN_LINES_MIN)
		publisher->confirmations = 0;
	if (publisher->confirmations > 0 && verdict == KEEPER_STEADY &&
	    --publisher->confirmations == 0)
		publisher->is_started = true;
	else
		publisher->is_started = (publisher->mono.count >= START_SAMPLES ||
					 publisher->start_steps >= START_STEPS_MAX) &&
					cyc_to_ns(publisher, span) >= START_SPAN_NS;
	return publisher->is_started;
}

/* Whether the last line on the page lies behind the counter: it can never be asked again. */
static bool page_has_ended(const struct publisher *publisher, uint64_t now)
{
	const struct vclock_page *page = publisher->page;
	const struct vclock_slot *live = &page->slot[page->generation & 1];
	const struct vclock_line *last = &live->line[live->line[1].length_cyc != 0];

	return last->length_cyc == 0 || (int64_t)(now - last->start_cyc - last->length_cyc) >= 0;
}

/*
 * Counter and clock no longer fit each other. While a line covers the counter, the page is wrong at
 * this moment and ends at once; it is taken up again when the rate is known anew. So does one that
 * the counter has yet to reach: it went back, or began anew. A line behind it (suspend) has ended
 * by itself.
 */
static int note_jump(struct publisher *publisher, enum vclock_retired *ret_reason)
{
	struct vclock_timespec ts;
	uint64_t now = read_counter(publisher);
	bool is_live = publisher->page_is_ready &&
		       vclock_read_at(publisher->page, now, VCLOCK_MONOTONIC, &ts) == 0;

	keeper_clock_reset(&publisher->raw);
	publisher->is_started = false;
	publisher->start_steps = 0;
	*ret_reason = VCLOCK_RETIRED_BACKWARD;
	if (is_live &&
	    (!publisher->config.counter_is_clocksource || ++publisher->jumps > JUMPS_MAX))
		return -EBADMSG;
	if (publisher->page_is_ready && !page_has_ended(publisher, now))
		publisher_retire(publisher, VCLOCK_RETIRED_BACKWARD);
	return 0;
}

/*
 * A change between two samples shows in two steps: the first sees it mixed with the old rate, the
 * second sees the rest. Together they are all of it.
 */
static void note_verdict(struct publisher *publisher, enum keeper_verdict verdict)
{
	uint32_t change_ppb = publisher->mono.rate_change_ppb;

	if (verdict == KEEPER_REJECTED)
		return;
	if (verdict == KEEPER_CHANGED) {
		bool goes_on = publisher->change_steps == CHANGE_STEPS;

		publisher->change_ppb =
			saturate((uint64_t)change_ppb + (goes_on ? publisher->last_change_ppb : 0));
		publisher->last_change_ppb = change_ppb;
		publisher->change_steps = CHANGE_STEPS;
	} else if (publisher->change_steps > 0) {
		publisher->change_steps--;
	}
}

static int publish(struct publisher *publisher, uint64_t *ret_sleep_ns)
{
	struct vclock_page *page = publisher->page;
	const struct vclock_slot *live;
	int r = 0;

	if (!publisher->page_is_ready)
		r = make_page(publisher);
	if (r != 0)
		return r;
	live = &page->slot[page->generation & 1];
	if (live->retired != VCLOCK_RETIRED_NOT)
		vclock_page_revive(page);
	r = state_timekeeper(publisher);
	if (r == 0)
		r = vclock_page_update(page, &publisher->timekeeper);
	live = &page->slot[page->generation & 1];
	if (live->tz_minuteswest != publisher->sample.tz_minuteswest ||
	    live->tz_dsttime != publisher->sample.tz_dsttime)
		vclock_page_update_tz(page, publisher->sample.tz_minuteswest,
				      publisher->sample.tz_dsttime);
	if (r == 0 || r == -VCLOCK_EALREADY)
		plan(publisher, ret_sleep_ns);
	return r;
}

/* What an update's result means for the next step. */
static int settle(struct publisher *publisher, int r, uint64_t *ret_sleep_ns)
{
	if (r == -VCLOCK_ETIME) {
		*ret_sleep_ns = (uint64_t)RETRY_LATE_NS << publisher->late_tries;
		if (publisher->late_tries < RETRY_LATE_DOUBLINGS)
			publisher->late_tries++;
		return 0;
	}
	publisher->late_tries = 0;
	/* -EINVAL: held up between sample and page for longer than the page's arithmetic spans. */
	if (r == -VCLOCK_ERANGE || r == -VCLOCK_EINVAL) {
		*ret_sleep_ns = RETRY_NS;
		return 0;
	}
	return r == -VCLOCK_EALREADY ? 0 : r;
}

/*
 * Whether a sample comes so soon after the last one that a rate from these two would be mostly
 * noise: after a step that was too late, the next one is almost at once.
 */
static bool is_too_soon(const struct publisher *publisher, const struct reference_sample *sample)
{
	uint64_t since_cyc = sample->mono.before_cyc - publisher->mono.line.cyc;

	return publisher->is_started && publisher->mono.count >= 2 &&
	       cyc_to_ns(publisher, since_cyc) < publisher->config.page.interval_ns / 4;
}

int publisher_step(struct publisher *publisher, uint64_t *ret_sleep_ns,
		   enum vclock_retired *ret_reason)
{
	struct reference_sample sample = {.wants_timezone = wants_timezone(publisher)};
	enum keeper_verdict verdict = KEEPER_REJECTED;
	int r = publisher->reference->sample(publisher->reference, &sample);

	*ret_sleep_ns = START_INTERVAL_NS;
	*ret_reason = VCLOCK_RETIRED_REFERENCE;
	if (r != 0)
		return r;
	publisher->sampled_cyc = sample.mono.after_cyc;
	if (!is_too_soon(publisher, &sample)) {
		verdict = keeper_clock_add(&publisher->mono, &sample.mono);
		if (verdict == KEEPER_JUMPED) {
			r = note_jump(publisher, ret_reason);
			if (r != 0)
				return r;
		}
		keeper_clock_add(&publisher->raw, &sample.raw);
		note_verdict(publisher, verdict);
	}
	publisher->timekeeper.clock_was_set_seq += note_offsets(publisher, &sample);
	note_lateness(publisher, sample.mono.after_cyc);
	if (!rate_is_known(publisher, verdict) || !publisher->sample.real_is_valid ||
	    publisher->is_held)
		return 0;
	*ret_reason = VCLOCK_RETIRED_RATE;
	if (keeper_rate_difference_ppb(publisher->mono.line.rate, publisher->raw.line.rate) / 1000 >
	    KEEPER_RATE_LIMIT_PPM + RATE_NOISE_PPM)
		return -ERANGE;
	r = publish(publisher, ret_sleep_ns);
	return settle(publisher, r, ret_sleep_ns);
}

bool publisher_is_answering(const struct publisher *publisher)
{
	const struct vclock_page *page = publisher->page;

	return publisher->page_is_ready &&
	       page->slot[page->generation & 1].retired == VCLOCK_RETIRED_NOT &&
	       !page_has_ended(publisher, read_counter(publisher));
}

void publisher_retire(struct publisher *publisher, enum vclock_retired reason)
{
	if (publisher->page_is_ready)
		vclock_page_retire(publisher->page, reason, publisher->reference->read_counter,
				   publisher->reference);
}
