/* SPDX-License-Identifier: MIT */
/*
 * bench.h - the parts of `vclock bench`: rows, what they mean together, and how they are shown.
 */
#ifndef BENCH_H
#define BENCH_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "attach/own_image.h"
#include "cli/library.h"
#include "cli/probe.h"
#include "measure/measure.h"
#include "vclock/elf.h"

#define BENCH_ROWS_MAX 160

/* What a loop works on. Loops read it once, before they begin. */
struct bench_subject {
	int32_t clk;
	const void *function;
	const struct vclock_page *page;
	const volatile uint32_t *word;
	int32_t (*getpid_slow)(void);
};

struct bench_row {
	const char *group; /* what is asked: a clock's word, or "now", "time", "getpid" ... */
	const char *way;   /* how it is answered: "libc", "vdso", "syscall", "so", "inline" ... */
	const char *note;  /* for people; "" */
	struct bench_subject subject;
	struct measure_result result;
};

/* A list of rows, and the loop of each. */
struct bench_rows {
	struct bench_row row[BENCH_ROWS_MAX];
	void (*loop[BENCH_ROWS_MAX])(const void *subject, uint32_t calls);
	size_t count;
};

/* All that a run needs and finds. */
struct bench {
	struct library library, limited; /* limited: see library_open_limited() */
	bool has_limited;
	bool has_page;		  /* the library answers from a page */
	const char *page_message; /* why it does not, or whose page it is; one line */
	bool trust_overridden;
	/* False: this process may not read the counter, and a fine clock of libc or of the vDSO
	 * would be a SIGSEGV: those are not touched. */
	bool may_count;
	struct vclock_vdso vdso; /* absent where the counter may not be read */
	struct own_image image;
	bool has_image;
	struct vclock_counter_status counter;
	struct probe probe;
	uint32_t rounds, threads;
	const char *timer;
	bool ticks_are_cycles; /* the timer is the counter */
	struct bench_rows rows;
};

/* Whether the user asked for group: an empty list asks for all. */
bool bench_is_wanted(const char *group, char *const *wanted, int count);
/* Whether text names a group, by any of its names. */
bool bench_is_group(const char *text);

/* Fills bench->rows with what this machine can do out of what is wanted; count 0: everything. */
void bench_rows_fill(struct bench *bench, char *const *wanted, int count);

/* NULL when there is no such row, or it has no figures. */
const struct bench_row *bench_row_find(const struct bench *bench, const char *group,
				       const char *way);

/* A ratio that the project states, and what this run made of it. */
struct bench_ratio {
	const char *name;
	double value, bound;
	bool is_floor; /* at least the bound; else at most */
	bool holds;
	bool gates; /* the machine is of the kind that the bound was stated for */
};

#define BENCH_RATIOS_MAX 32
/* Those whose rows were measured. Returns how many. */
size_t bench_ratios(const struct bench *bench, struct bench_ratio ret_ratios[BENCH_RATIOS_MAX]);

/* One clock before and after. ns are minima; negative: not measured. */
struct bench_gain {
	const char *what;
	double libc_ns, syscall_ns;   /* before */
	double library_ns, inline_ns; /* after */
	double res_ns;		      /* clock_getres; negative: none */
	double step_ns;		      /* the smallest step seen between two reads; negative: none */
};

#define BENCH_GAINS_MAX 16
size_t bench_gains(const struct bench *bench, struct bench_gain ret_gains[BENCH_GAINS_MAX]);

void bench_print_text(const struct bench *bench);
void bench_print_json(const struct bench *bench);
void bench_print_go(const struct bench *bench);

/* gnuplot is looked for before anything is measured. CLI_GOOD or CLI_IMPOSSIBLE. */
int bench_plot_check(void);
/* Draws into fd, which is path. CLI_GOOD, or CLI_FAILURE after a message. */
int bench_plot(const struct bench *bench, const char *path, int fd);

#endif /* BENCH_H */
