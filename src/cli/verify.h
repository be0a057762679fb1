/* SPDX-License-Identifier: MIT */
/*
 * verify.h - what a run of `vclock verify` was asked, and what it found, for its two printers.
 */
#ifndef VERIFY_H
#define VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include "check/check.h"

#define VERIFY_ALL_ROUTES (-1)
#define VERIFY_SUBJECTS_MAX 8
#define VERIFY_ROWS_MAX 512
#define VERIFY_VERDICTS 4

struct verify {
	uint64_t seconds;
	int route; /* enum vclock_route, or VERIFY_ALL_ROUTES */
	bool json, trust_counter;
	unsigned wanted; /* bits: indices into check_suites */
	bool has_page, trust_overridden;
	char page_path[108];	 /* empty: a publisher of this process */
	const char *page_reason; /* why there is no page; empty when there is one */
	unsigned subjects;
	struct check_subject subject[VERIFY_SUBJECTS_MAX];
	const struct check_subject *subject_now;
	struct check_run run;
	unsigned rows;
	struct check_result row[VERIFY_ROWS_MAX];
	enum vclock_route row_route[VERIFY_ROWS_MAX];
	unsigned count[VERIFY_VERDICTS]; /* rows by enum check_verdict */
};

void verify_print_text(const struct verify *verify);
void verify_print_json(const struct verify *verify);

#endif /* VERIFY_H */
