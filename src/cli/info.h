/* SPDX-License-Identifier: MIT */
/*
 * info.h - the parts of `vclock info`: what is found out, and how it is shown.
 */
#ifndef INFO_H
#define INFO_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli/clocks.h"
#include "cli/probe.h"
#include "vclock.h"
#include "vclock/elf.h"

/* What the kernel's choice of clocksource means, and what to do about it. */
struct info_cure {
	bool is_known; /* a clocksource that the table has */
	bool is_slow;  /* its clocks are system calls: by the table */
	const char *means;
	char *cure; /* "" where none is needed */
};

/* From the names alone, as sysfs has them; "" where unreadable. */
void info_cure_find(const char *current, const char *available, struct info_cure *ret_cure);

/* A page file, looked at on our own account: the library only says no. */
struct info_page_file {
	const char *path; /* $VCLOCK_PAGE or the default */
	int error;	  /* errno of opening or reading it; 0 */
	bool is_wrong;	  /* not a page that may ever be used: `vclock info` exits with 1 */
	char *verdict;	  /* one line: "fits" or what is wrong */
};

/* library_error: what vclock_open() said of it, or 0; it is not asked where VCLOCK_ROUTE allows no
 * page. */
void info_page_file_check(int library_error, bool is_in_use, struct info_page_file *ret_file);

struct info_clock {
	const struct clock_name *name;
	int error;	    /* of the raw system call; 0 */
	uint8_t route;	    /* enum vclock_route */
	bool vdso;	    /* the kernel answers without a system call */
	int64_t res_ns;	    /* -1: none */
	double ns;	    /* per call of vclock_gettime */
	const char *reason; /* in plain words why not the page */
};

struct info {
	struct vclock_counter_status counter;
	struct info_cure cure;
	struct vclock_vdso vdso;
	struct probe probe;
	struct vclock_status status;
	struct info_page_file file;
	struct info_clock clock[CLOCK_NAMES];
	bool fixture; /* counter and cure are of --sysfs DIR: the rest is not filled */
	const char *verdict;
};

void info_gather(struct info *ret_info);
/* Only the counter and the clocksource, judged after the files under sysfs. */
void info_gather_fixture(const char *sysfs, struct info *ret_info);

/* Which system calls a function may make, and when: "" stands for never. */
struct info_calls {
	const char *function, *calls, *when;
};

/* Ends with a function of NULL. */
extern const struct info_calls info_calls[];

/* The vDSO's functions as one list, each with its version, or why there is none. For free(). */
char *info_vdso_list(const struct vclock_vdso *vdso);

void info_print_text(const struct info *info);
void info_print_json(const struct info *info);

/* A label, and text broken at blanks under it. */
void info_print_field(const char *label, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* Another process. An exit code; prints. */
int info_pid(pid_t pid, bool json);

#endif /* INFO_H */
