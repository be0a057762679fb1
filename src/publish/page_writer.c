/* SPDX-License-Identifier: MIT */
/*
 * page_writer.c - the only code that stores into a page.
 *
 * Every change is made the same way: a copy of the live slot is edited on the stack, stored into
 * the other slot, and made live by one store of `generation`. What a page says before and after
 * that store agrees on every counter value that a reader can have read by then; docs/page-format.md
 * says why. Must stay free of libc but for memcpy and memset, of system calls and of 64-bit
 * divisions.
 */
#include "vclock/publish.h"

#include "keeper/scale.h"
#include "vclock/counter.h"

#include <stdbool.h>
#include <string.h>

/* The first line after a gap starts this long after the writer looked: time to store a slot, also
 * for a writer that is interrupted now and then. */
#define GAP_START_NS 100000u
/* The last look wants this much time left for the generation store itself. */
#define GUARD_NS 2000u
/* Readers may have asked the kernel's clock in a gap: a new line starts above all that it can have
 * said. The kernel slews by 500 ppm, its user tick adjustment aside, after a rate that the caller
 * may have learned at the other edge: 1100 ppm, as 1153 / 2^20. */
#define GAP_SLEW_NUM 1153u
#define GAP_SLEW_SHIFT 20
/* A line's length in time, and a timekeeper's age. */
#define LINE_NS_MIN 1000000u
#define LINE_NS_MAX 40000000u
#define AGE_NS_MAX 1000000000u
#define HZ_MIN 1000u
#define HZ_MAX 100000000000u

struct moment {
	int64_t sec;
	uint64_t fns;
};

/* What a timekeeper says, in the page's shift. */
struct truth {
	uint64_t cycle_last;
	uint32_t mult, raw_mult, shift;
	struct moment mono, raw;	   /* at cycle_last */
	struct vclock_timespec real, boot; /* REALTIME - MONOTONIC, BOOTTIME - MONOTONIC */
};

static uint64_t second_fns(uint32_t shift)
{
	return (uint64_t)VCLOCK_NSEC_PER_SEC << shift;
}

static uint64_t look(uint64_t (*read_counter)(void *arg), void *arg)
{
	return read_counter != NULL ? read_counter(arg) : vclock_counter_ordered();
}

/* cycles for ns at a rate; exact enough for lengths and margins: rounded, at least 1. */
static uint64_t ns_to_cyc(uint64_t ns, uint32_t mult, uint32_t shift)
{
	uint64_t cyc = scale_shl_div(ns, shift, mult);

	return cyc == 0 ? 1 : cyc;
}

static uint64_t line_end(const struct vclock_line *line)
{
	return line->start_cyc + line->length_cyc;
}

/* The line of a slot that ends last; of length 0 where there is none. */
static const struct vclock_line *last_line(const struct vclock_slot *slot)
{
	return &slot->line[slot->line[1].length_cyc != 0];
}

/* fns may hold whole seconds: at most two, as everywhere on a page; more from a caller's line. */
static void moment_carry(struct moment *moment, uint32_t shift)
{
	while (moment->fns >= second_fns(shift)) {
		moment->fns -= second_fns(shift);
		moment->sec++;
		__asm__("" : "+r"(moment)::"memory"); /* no division out of this loop */
	}
}

/* moment + cyc cycles; cyc <= 2^31 and mult < 2^32 keep the sum below 2^64 (page.h). */
static struct moment moment_advance(struct moment moment, uint64_t cyc, uint32_t mult,
				    uint32_t shift)
{
	moment.fns += cyc * mult;
	moment_carry(&moment, shift);
	return moment;
}

static struct moment moment_shifted(const struct moment *moment, const struct vclock_timespec *by,
				    uint32_t shift)
{
	struct moment sum = {moment->sec + by->tv_sec,
			     moment->fns + ((uint64_t)by->tv_nsec << shift)};

	moment_carry(&sum, shift);
	return sum;
}

/* a - b in fractional ns; false when it is not within a quarter of a second. */
static bool moment_diff(const struct moment *a, const struct moment *b, uint32_t shift,
			int64_t *ret_fns)
{
	int64_t sec = a->sec - b->sec;
	int64_t ns = (int64_t)(a->fns >> shift) - (int64_t)(b->fns >> shift);

	if (sec < -1 || sec > 1)
		return false;
	ns += sec * (int64_t)VCLOCK_NSEC_PER_SEC;
	if (ns < -(int64_t)VCLOCK_NSEC_PER_SEC / 4 || ns > (int64_t)VCLOCK_NSEC_PER_SEC / 4)
		return false;
	/* Modulo 2^64; the true value is below 2^28 << 33. */
	*ret_fns = (int64_t)((uint64_t)sec * second_fns(shift) + a->fns - b->fns);
	return true;
}

static struct moment base_moment(const struct vclock_base *base)
{
	struct moment moment = {base->sec, base->fns};

	return moment;
}

static void base_set(struct vclock_base *base, const struct moment *moment)
{
	base->sec = moment->sec;
	base->fns = moment->fns;
}

/*
 * The live slot and the other one.
 */

static struct vclock_slot *live_slot(struct vclock_page *page)
{
	return &page->slot[page->generation & 1];
}

/* Stores words that readers may be looking at: never torn below 32 bits, never repeated. */
static void store_words(void *to, const void *from, size_t size)
{
	const unsigned char *source = from;
	uint32_t *target = to, word;
	size_t i;

	for (i = 0; i < size / sizeof(word); i++) {
		memcpy(&word, source + i * sizeof(word), sizeof(word));
		VCLOCK_STORE32(&target[i], word);
	}
}

/* Fills the other slot with *next. Readers take it for dead until publish_slot(). */
static struct vclock_slot *fill_slot(struct vclock_page *page, const struct vclock_slot *next)
{
	struct vclock_slot *other = &page->slot[(page->generation + 1) & 1];

	/* The generation that made `other` the dead slot is seen before any store into it. Partner:
	 * the acquire fence before a reader's second look at the generation. */
	vclock_fence_release();
	store_words(other, next, sizeof(*next));
	return other;
}

static void publish_slot(struct vclock_page *page)
{
	uint32_t generation = page->generation + 1;

	if (generation == 0)
		generation = 2; /* 0 is "never written"; the parity goes on */
	/* The slot is whole before it is live. Partner: the acquire fence after a reader's first
	 * look at the generation. */
	vclock_fence_release();
	VCLOCK_STORE32(&page->generation, generation);
}

/* The line that leaves the slots goes into the entry of the history that no reader looks at. */
static void history_push(struct vclock_page *page, const struct vclock_line *line,
			 struct vclock_slot *next)
{
	if (line->length_cyc == 0)
		return;
	vclock_fence_release(); /* as in fill_slot() */
	store_words(&page->history[next->history_count % VCLOCK_HISTORY], line, sizeof(*line));
	next->history_count++;
}

/*
 * The caller's line.
 */

static uint64_t shift_fns(uint64_t fns, uint32_t from, uint32_t to)
{
	return from > to ? fns >> (from - to) : fns << (to - from);
}

/* mult in another shift, rounded; 0 where it does not fit. */
static uint32_t shift_mult(uint32_t mult, uint32_t from, uint32_t to)
{
	uint64_t scaled = mult;

	if (to >= from)
		scaled <<= to - from;
	else
		scaled = (scaled + (1u << (from - to - 1))) >> (from - to);
	return scaled > UINT32_MAX ? 0 : (uint32_t)scaled;
}

static bool nsec_is_valid(int64_t nsec)
{
	return nsec >= 0 && nsec < (int64_t)VCLOCK_NSEC_PER_SEC;
}

/* Seconds within +-2^61, so that sums of three do not overflow. */
static bool sec_is_valid(int64_t sec)
{
	return sec > -((int64_t)1 << 61) && sec < (int64_t)1 << 61;
}

static bool timekeeper_is_valid(const struct vclock_timekeeper *tk)
{
	return tk->mult != 0 && tk->raw_mult != 0 && tk->shift <= VCLOCK_SHIFT_MAX &&
	       tk->error_ns < VCLOCK_NSEC_PER_SEC && tk->xtime_nsec < second_fns(tk->shift) &&
	       tk->raw_nsec < second_fns(tk->shift) &&
	       nsec_is_valid(tk->wall_to_monotonic.tv_nsec) &&
	       nsec_is_valid(tk->monotonic_to_boot.tv_nsec) && sec_is_valid(tk->xtime_sec) &&
	       sec_is_valid(tk->raw_sec) && sec_is_valid(tk->wall_to_monotonic.tv_sec) &&
	       sec_is_valid(tk->monotonic_to_boot.tv_sec);
}

static void timespec_negate(const struct vclock_timespec *ts, struct vclock_timespec *ret_ts)
{
	ret_ts->tv_sec = -ts->tv_sec - (ts->tv_nsec != 0);
	ret_ts->tv_nsec = ts->tv_nsec != 0 ? (int64_t)VCLOCK_NSEC_PER_SEC - ts->tv_nsec : 0;
}

static int truth_from(const struct vclock_page *page, const struct vclock_timekeeper *tk,
		      struct truth *ret_truth)
{
	struct truth truth;
	struct moment real;

	if (!timekeeper_is_valid(tk))
		return -VCLOCK_EINVAL;
	truth.shift = page->shift;
	truth.cycle_last = tk->cycle_last;
	truth.mult = shift_mult(tk->mult, tk->shift, truth.shift);
	truth.raw_mult = shift_mult(tk->raw_mult, tk->shift, truth.shift);
	if (truth.mult == 0 || truth.raw_mult == 0)
		return -VCLOCK_EINVAL;
	real.sec = tk->xtime_sec;
	real.fns = shift_fns(tk->xtime_nsec, tk->shift, truth.shift);
	truth.mono = moment_shifted(&real, &tk->wall_to_monotonic, truth.shift);
	truth.raw.sec = tk->raw_sec;
	truth.raw.fns = shift_fns(tk->raw_nsec, tk->shift, truth.shift);
	timespec_negate(&tk->wall_to_monotonic, &truth.real);
	truth.boot = tk->monotonic_to_boot;
	*ret_truth = truth;
	return 0;
}

/* MONOTONIC, or RAW, of the caller's line at cyc; false when cyc is before it, or too far past it.
 */
static bool truth_at(const struct truth *truth, bool is_raw, uint64_t cyc,
		     struct moment *ret_moment)
{
	uint64_t delta = cyc - truth->cycle_last;
	uint32_t mult = is_raw ? truth->raw_mult : truth->mult;

	if (delta > VCLOCK_LINE_CYC_MAX || (delta * mult) >> truth->shift > AGE_NS_MAX)
		return false;
	*ret_moment = moment_advance(is_raw ? truth->raw : truth->mono, delta, mult, truth->shift);
	return true;
}

/*
 * Lines.
 */

/* All bases that hang on MONOTONIC, anew. */
static void line_rebase(struct vclock_line *line, const struct truth *truth, int32_t tai_offset_sec)
{
	struct moment mono = base_moment(&line->base[VCLOCK_MONOTONIC]), real, boot, tai;

	real = moment_shifted(&mono, &truth->real, truth->shift);
	boot = moment_shifted(&mono, &truth->boot, truth->shift);
	tai = real;
	tai.sec += tai_offset_sec;
	base_set(&line->base[VCLOCK_REALTIME], &real);
	base_set(&line->base[VCLOCK_REALTIME_ALARM], &real);
	base_set(&line->base[VCLOCK_BOOTTIME], &boot);
	base_set(&line->base[VCLOCK_BOOTTIME_ALARM], &boot);
	base_set(&line->base[VCLOCK_TAI], &tai);
}

/* *next starts where *line ends, with its values, to the fraction. */
static void line_continue(const struct vclock_line *line, uint32_t shift, struct vclock_line *next)
{
	struct moment moment;
	uint32_t clk;

	memset(next, 0, sizeof(*next));
	next->start_cyc = line_end(line);
	for (clk = 0; clk < VCLOCK_BASES; clk++) {
		if ((VCLOCK_BIT(clk) & VCLOCK_PAGE_CLOCKS) == 0)
			continue;
		moment = moment_advance(base_moment(&line->base[clk]), line->length_cyc,
					line->mult[clk == VCLOCK_MONOTONIC_RAW], shift);
		base_set(&next->base[clk], &moment);
	}
}

/*
 * The mult that takes a line from its start value to the caller's line at its end. Fails where the
 * clock would have to stand or go back, or run less than an eighth or more than twice as fast as
 * stated. From one limit of the rate to the other, 220,000 ppm, two lines of 10 ms and one that is
 * 8 ms late take 0.22 * 28 / 10 = 0.62 of the nominal rate off 0.89, or put it onto 1.11.
 */
static int steer(const struct truth *truth, bool is_raw, const struct vclock_line *line,
		 uint32_t *ret_mult)
{
	const struct vclock_base *base =
		&line->base[is_raw ? VCLOCK_MONOTONIC_RAW : VCLOCK_MONOTONIC];
	uint32_t nominal = is_raw ? truth->raw_mult : truth->mult;
	struct moment start = base_moment(base), end;
	uint64_t mult;
	int64_t fns;

	if (!truth_at(truth, is_raw, line_end(line), &end))
		return -VCLOCK_EINVAL;
	if (!moment_diff(&end, &start, truth->shift, &fns) || fns <= 0)
		return -VCLOCK_ERANGE;
	mult = scale_shl_div((uint64_t)fns, 0, line->length_cyc);
	if (mult < nominal / 8 || mult > (uint64_t)nominal * 2 || mult > UINT32_MAX)
		return -VCLOCK_ERANGE;
	*ret_mult = (uint32_t)mult;
	return 0;
}

static int line_steer(const struct truth *truth, struct vclock_line *line)
{
	int r = steer(truth, false, line, &line->mult[0]);

	return r != 0 ? r : steer(truth, true, line, &line->mult[1]);
}

/*
 * Where a clock starts after a gap: the upper edge of the caller's line, and at the old end at
 * least. A clock that is still far below what the page gave out at its old end has to wait:
 * -ERANGE.
 */
static int gap_start(const struct truth *truth, const struct vclock_timekeeper *tk, bool is_raw,
		     const struct vclock_slot *live, struct vclock_line *line)
{
	uint32_t clk = is_raw ? VCLOCK_MONOTONIC_RAW : VCLOCK_MONOTONIC, shift = truth->shift;
	const struct vclock_line *old = last_line(live);
	uint64_t slew = is_raw ? 0 : (line->start_cyc - truth->cycle_last) * truth->mult;
	struct moment start, end;
	int64_t above;

	if (!truth_at(truth, is_raw, line->start_cyc, &start))
		return -VCLOCK_EINVAL;
	start.fns += ((uint64_t)tk->error_ns << shift) +
		     scale_mul_shr(slew, GAP_SLEW_NUM, GAP_SLEW_SHIFT);
	moment_carry(&start, shift);
	if (old->length_cyc != 0) {
		end = moment_advance(base_moment(&old->base[clk]), old->length_cyc,
				     old->mult[is_raw], shift);
		if (end.sec > start.sec || (end.sec == start.sec && end.fns >= start.fns)) {
			if (!moment_diff(&end, &start, shift, &above) ||
			    (uint64_t)above >> shift > tk->error_ns + GUARD_NS)
				return -VCLOCK_ERANGE;
			end.fns++;
			moment_carry(&end, shift);
			start = end;
		}
	}
	base_set(&line->base[clk], &start);
	return 0;
}

/* How far a line is from the caller's at cyc, in ns, rounded up. */
static uint64_t line_off_ns(const struct truth *truth, const struct vclock_line *line, bool is_raw,
			    uint64_t cyc)
{
	struct moment there,
		here = base_moment(&line->base[is_raw ? VCLOCK_MONOTONIC_RAW : VCLOCK_MONOTONIC]);
	int64_t off;

	here = moment_advance(here, cyc - line->start_cyc, line->mult[is_raw], truth->shift);
	if (!truth_at(truth, is_raw, cyc, &there) ||
	    !moment_diff(&here, &there, truth->shift, &off))
		return UINT32_MAX;
	return ((uint64_t)(off < 0 ? -off : off) + ((uint64_t)1 << truth->shift) - 1) >>
	       truth->shift;
}

/* above_ns: how far the last line is off the caller's at its end. */
static uint32_t clamp_cyc(const struct vclock_page *page, const struct truth *truth,
			  const struct vclock_timekeeper *tk, uint64_t above_ns)
{
	/* The stated error, and 1000 ppm over two lines and the time that they are published ahead.
	 */
	uint64_t ns = tk->error_ns + above_ns + 2 * (page->interval_ns + page->ahead_ns) / 1000;
	uint64_t cyc = ns_to_cyc(ns, truth->mult, truth->shift);

	return cyc > INT32_MAX ? INT32_MAX : (uint32_t)cyc;
}

static uint32_t length_cyc(uint64_t ns, const struct truth *truth)
{
	uint64_t cyc = ns_to_cyc(ns, truth->mult, truth->shift);

	return cyc > VCLOCK_LINE_CYC_MAX ? VCLOCK_LINE_CYC_MAX : (uint32_t)cyc;
}

/*
 * In a gap both lines of the live slot have ended. The first of them goes into history by an update
 * of its own: an update may overwrite one entry of it only.
 */
static void retire_first_line(struct vclock_page *page)
{
	struct vclock_slot *live = live_slot(page), next = *live;

	if (live->line[0].length_cyc == 0 || live->line[1].length_cyc == 0)
		return;
	history_push(page, &live->line[0], &next);
	memset(&next.line[0], 0, sizeof(next.line[0]));
	fill_slot(page, &next);
	publish_slot(page);
}

/*
 * What the next slot keeps of the last line in a gap. While readers stand at its end, it stays, and
 * so does the time that they stand: in an earlier slot nobody has asked the kernel's clock yet, so
 * that time may become longer, but not shorter. After that, the line goes into history, and no
 * clamp of it is left: readers have asked the kernel, and must not be sent back to the old end.
 */
static void keep_last_line(struct vclock_page *page, uint64_t now, struct vclock_slot *next)
{
	const struct vclock_line *last = last_line(live_slot(page));

	memset(&next->line[0], 0, sizeof(next->line[0]));
	if (last->length_cyc == 0)
		return;
	/* The counter began anew (suspend): old lines would claim counter values yet to come. */
	if (now - last->start_cyc > UINT64_MAX / 2)
		next->history_count = 0;
	else if (now - line_end(last) < next->clamp_cyc)
		next->line[0] = *last;
	else
		history_push(page, last, next);
}

/*
 * The first line is longer by `ahead`, so that the next update, an interval from now, is as far
 * ahead as ever; but ends an eighth of an interval before a second one is due, so that a caller who
 * updates at fixed times finds the next line begun, also when he is a little early.
 */
static uint64_t first_line_ns(const struct vclock_page *page)
{
	uint32_t most = page->interval_ns - (page->interval_ns >> 3);

	return (uint64_t)page->interval_ns + (page->ahead_ns < most ? page->ahead_ns : most);
}

/*
 * After a gap, or for the first time. The line runs beside the caller's, as far above it at its end
 * as at its start: a writer that is held up between its last look and its store shows the line
 * late, to readers who have had the kernel's clock meanwhile, and that may have been as far above
 * the caller's line all the time. The next line, which is seen before it begins, comes down.
 */
static int next_after_gap(struct vclock_page *page, const struct truth *truth,
			  const struct vclock_timekeeper *tk, uint64_t now,
			  struct vclock_slot *next)
{
	const struct vclock_slot *live = live_slot(page);
	struct vclock_line *line = &next->line[1];
	uint64_t above, raw_above;
	uint32_t clamp;
	int r;

	keep_last_line(page, now, next);
	memset(line, 0, sizeof(*line));
	line->start_cyc = now + ns_to_cyc(GAP_START_NS, truth->mult, truth->shift);
	line->length_cyc = length_cyc(first_line_ns(page), truth);
	r = gap_start(truth, tk, false, live, line);
	if (r == 0)
		r = gap_start(truth, tk, true, live, line);
	line->mult[0] = truth->mult;
	line->mult[1] = truth->raw_mult;
	if (r != 0)
		return r;
	line_rebase(line, truth, tk->tai_offset_sec);
	/* Where no line follows this one, readers go to the kernel from as far above. */
	above = line_off_ns(truth, line, false, line_end(line));
	raw_above = line_off_ns(truth, line, true, line_end(line));
	clamp = clamp_cyc(page, truth, tk, above > raw_above ? above : raw_above);
	if (next->line[0].length_cyc == 0 || clamp > next->clamp_cyc)
		next->clamp_cyc = clamp;
	return 0;
}

static int next_in_time(struct vclock_page *page, const struct truth *truth,
			const struct vclock_timekeeper *tk, struct vclock_slot *next)
{
	const struct vclock_slot *live = live_slot(page);
	struct vclock_line *line = &next->line[1];

	next->line[0] = live->line[1];
	line_continue(&next->line[0], truth->shift, line);
	line->length_cyc = length_cyc(page->interval_ns, truth);
	next->clamp_cyc = clamp_cyc(page, truth, tk, 0); /* it ends on the caller's line */
	history_push(page, &live->line[0], next);
	return line_steer(truth, line);
}

/*
 * Whether the running line still covers now, or will: else there is a gap. The first line after a
 * gap stands alone, and has not begun for a while.
 */
static bool is_running(const struct vclock_slot *live, uint64_t now, uint64_t gap_start_cyc)
{
	const struct vclock_line *first = &live->line[live->line[0].length_cyc == 0];

	if (live->line[1].length_cyc == 0)
		return false;
	return now - first->start_cyc < line_end(&live->line[1]) - first->start_cyc ||
	       first->start_cyc - now <= gap_start_cyc;
}

/*
 * What a slot states: the error of the caller's line, and how far its own lines are from that one
 * from now on, which is most at one of their ends: a line that was published before a change of
 * rate, or one that starts above the clock after a gap.
 */
static uint32_t slot_error_ns(const struct truth *truth, const struct vclock_timekeeper *tk,
			      uint64_t now, const struct vclock_slot *next)
{
	uint64_t worst = 0;
	int i;

	for (i = 0; i < 8; i++) {
		const struct vclock_line *line = &next->line[i & 1];
		uint64_t cyc = (i & 2) != 0 ? line_end(line) : line->start_cyc, off;

		if ((int64_t)(cyc - now) < 0)
			cyc = now;
		if (cyc - line->start_cyc > line->length_cyc || line->length_cyc == 0)
			continue;
		off = line_off_ns(truth, line, (i & 4) != 0, cyc);
		if (off > worst)
			worst = off;
	}
	worst += tk->error_ns;
	return worst > UINT32_MAX ? UINT32_MAX : (uint32_t)worst;
}

static void slot_state(const struct vclock_timekeeper *tk, struct vclock_slot *next)
{
	next->lateness_ns = tk->lateness_ns;
	next->tai_offset_sec = tk->tai_offset_sec;
	next->clock_was_set_seq = tk->clock_was_set_seq;
}

static void slot_rebase(struct vclock_slot *next, const struct truth *truth, int32_t tai_offset_sec)
{
	int i;

	for (i = 0; i < 2; i++)
		if (next->line[i].length_cyc != 0)
			line_rebase(&next->line[i], truth, tai_offset_sec);
}

static bool config_is_valid(const struct vclock_page_config *config)
{
	return config->counter_hz >= HZ_MIN && config->counter_hz <= HZ_MAX &&
	       config->interval_ns >= LINE_NS_MIN && config->ahead_ns <= config->interval_ns &&
	       (uint64_t)config->interval_ns + config->ahead_ns <= LINE_NS_MAX;
}

int vclock_page_init(struct vclock_page *page, const struct vclock_page_config *config)
{
	if (!config_is_valid(config))
		return -VCLOCK_EINVAL;
	memset(page, 0, sizeof(*page));
	page->magic = VCLOCK_PAGE_MAGIC;
	page->version = VCLOCK_PAGE_VERSION;
	page->size = VCLOCK_PAGE_SIZE;
	page->shift = scale_shift_for(config->counter_hz);
	page->counter_kind = config->counter_kind;
	page->flags = config->flags;
	page->counter_hz = config->counter_hz;
	memcpy(page->boot_id, config->boot_id, sizeof(page->boot_id));
	page->timens_ino = config->timens_ino;
	page->writer_pid = config->writer_pid;
	page->interval_ns = config->interval_ns;
	page->ahead_ns = config->ahead_ns;
	page->coarse_ns = config->coarse_ns;
	return 0;
}

/* Whether a slot has an old line before a gap, at whose end readers stand. */
static bool is_clamp_kept(const struct vclock_slot *slot)
{
	return slot->line[0].length_cyc != 0 && slot->line[1].length_cyc != 0 &&
	       line_end(&slot->line[0]) != slot->line[1].start_cyc;
}

/*
 * Whether now, the last look, is early enough for *next to become live: before the new line begins,
 * and, where readers stand at an old end, while they all do.
 */
static bool is_early_enough(const struct truth *truth, const struct vclock_slot *live,
			    const struct vclock_slot *next, uint64_t now)
{
	uint64_t guard = ns_to_cyc(GUARD_NS, truth->mult, truth->shift);

	if ((int64_t)(next->line[1].start_cyc - now) < (int64_t)guard)
		return false;
	return !is_clamp_kept(next) || now + guard - line_end(&next->line[0]) < live->clamp_cyc;
}

/* Two measurements of one counter agree to some ppm; 1 in 1024 is another counter. */
static bool hz_is_the_same(uint64_t a, uint64_t b)
{
	uint64_t difference = a > b ? a - b : b - a;

	return difference <= a >> 10;
}

int vclock_page_adopt(struct vclock_page *page, const struct vclock_page_config *config)
{
	if (!config_is_valid(config) || page->magic != VCLOCK_PAGE_MAGIC ||
	    page->version != VCLOCK_PAGE_VERSION || page->size != VCLOCK_PAGE_SIZE ||
	    page->counter_kind != config->counter_kind || page->timens_ino != config->timens_ino ||
	    memcmp(page->boot_id, config->boot_id, sizeof(page->boot_id)) != 0 ||
	    !hz_is_the_same(page->counter_hz, config->counter_hz) ||
	    page->shift != scale_shift_for(page->counter_hz))
		return -VCLOCK_EINVAL;
	VCLOCK_STORE32(&page->flags, config->flags);
	VCLOCK_STORE32(&page->writer_pid, config->writer_pid);
	VCLOCK_STORE32(&page->interval_ns, config->interval_ns);
	VCLOCK_STORE32(&page->ahead_ns, config->ahead_ns);
	VCLOCK_STORE32(&page->coarse_ns, config->coarse_ns);
	return 0;
}

int vclock_page_update(struct vclock_page *page, const struct vclock_timekeeper *tk)
{
	struct vclock_slot *live = live_slot(page), *other;
	struct vclock_slot next;
	struct truth truth;
	uint64_t now;
	bool is_new_line = true, is_step;
	int r = page->magic == VCLOCK_PAGE_MAGIC ? truth_from(page, tk, &truth) : -VCLOCK_EINVAL;

	if (r != 0)
		return r;
	if (live->retired != VCLOCK_RETIRED_NOT)
		return -VCLOCK_EPERM;
	now = look(tk->read_counter, tk->read_counter_arg);
	if (now - truth.cycle_last > VCLOCK_LINE_CYC_MAX)
		return -VCLOCK_EINVAL;
	if (tk->valid_ns != 0 &&
	    now - truth.cycle_last > ns_to_cyc(tk->valid_ns, truth.mult, truth.shift))
		return -VCLOCK_ETIME;
	is_step = tk->clock_was_set_seq != live->clock_was_set_seq;
	if (!is_running(live, now, ns_to_cyc(GAP_START_NS, truth.mult, truth.shift))) {
		retire_first_line(page);
		live = live_slot(page);
		next = *live;
		r = next_after_gap(page, &truth, tk, now, &next);
	} else if (now - live->line[1].start_cyc < live->line[1].length_cyc) {
		next = *live;
		r = next_in_time(page, &truth, tk, &next);
		if (r == -VCLOCK_ERANGE && is_step) {
			next = *live; /* the step does not wait for a line */
			is_new_line = false;
			r = 0;
		}
	} else if (is_step) {
		next = *live;
		is_new_line = false;
	} else {
		return -VCLOCK_EALREADY;
	}
	if (r != 0)
		return r;
	if (is_step)
		slot_rebase(&next, &truth, tk->tai_offset_sec);
	slot_state(tk, &next);
	next.error_ns = slot_error_ns(&truth, tk, now, &next);
	/* An old end whose clamp goes on: it was made of the error that was stated then. */
	if (is_clamp_kept(&next) && next.error_ns < live->error_ns)
		next.error_ns = live->error_ns;
	other = fill_slot(page, &next);
	now = look(tk->read_counter, tk->read_counter_arg);
	if (is_new_line && !is_early_enough(&truth, live, &next, now))
		return -VCLOCK_ETIME;
	VCLOCK_STORE64(&other->published_cyc, now);
	publish_slot(page);
	return 0;
}

int vclock_page_update_tz(struct vclock_page *page, int32_t minuteswest, int32_t dsttime)
{
	struct vclock_slot next = *live_slot(page);

	next.tz_minuteswest = minuteswest;
	next.tz_dsttime = dsttime;
	fill_slot(page, &next);
	publish_slot(page);
	return 0;
}

/* The line's end moves up to end; a line that has not begun by then covers nothing. */
static void line_cut(struct vclock_line *line, uint64_t end)
{
	uint64_t length = end - line->start_cyc;

	if (length > UINT64_MAX / 2)
		line->length_cyc = 0;
	else if (length < line->length_cyc)
		line->length_cyc = (uint32_t)length;
}

void vclock_page_retire(struct vclock_page *page, enum vclock_retired reason,
			uint64_t (*read_counter)(void *arg), void *read_counter_arg)
{
	/* Of a page that somebody wrote into nothing may be read on. */
	bool is_orderly = (reason == VCLOCK_RETIRED_STOPPED || reason == VCLOCK_RETIRED_REPLACED ||
			   reason == VCLOCK_RETIRED_EXPOSED) &&
			  page->counter_hz <= HZ_MAX;
	struct vclock_slot *live = live_slot(page), *other, next;
	uint64_t now, end, rem;
	int tries = 3;

	do {
		/* counter_hz <= 10^11: the product stays below 2^64 */
		now = look(read_counter, read_counter_arg);
		end = now +
		      scale_div_rem(page->counter_hz * GAP_START_NS, VCLOCK_NSEC_PER_SEC, &rem);
		next = *live;
		next.retired = reason;
		if (is_orderly) {
			line_cut(&next.line[0], end);
			line_cut(&next.line[1], end);
		} else {
			next.line[0].length_cyc = 0;
			next.line[1].length_cyc = 0;
			next.clamp_cyc = 0;
		}
		other = fill_slot(page, &next);
		now = look(read_counter, read_counter_arg);
		/* The new end must lie ahead of every counter value that was read by now. */
	} while (is_orderly && (int64_t)(end - now) < 0 && --tries > 0);
	VCLOCK_STORE64(&other->published_cyc, now);
	publish_slot(page);
}

void vclock_page_revive(struct vclock_page *page)
{
	struct vclock_slot next = *live_slot(page);

	next.retired = VCLOCK_RETIRED_NOT;
	fill_slot(page, &next);
	publish_slot(page);
}
