/* SPDX-License-Identifier: MIT */
/*
 * support_load.h - busy loops beside a test.
 */
#ifndef SUPPORT_LOAD_H
#define SUPPORT_LOAD_H

#include <sys/types.h>

#define SUPPORT_LOAD_MAX 8

struct support_load {
	int count;
	pid_t pid[SUPPORT_LOAD_MAX];
};

/* Processes that spin, until stopped, until the test dies, or for a minute. */
void support_load_start(struct support_load *load, int count);
void support_load_stop(struct support_load *load);

#endif /* SUPPORT_LOAD_H */
