/* SPDX-License-Identifier: MIT */
/*
 * follow_space.h - a mount namespace in which every dynamic program starts with our image: there,
 * and only there, a copy of the dynamic loader (image/follow.h) lies over the loader.
 */
#ifndef FOLLOW_SPACE_H
#define FOLLOW_SPACE_H

#include <stdbool.h>

struct follow_space {
	const char *images; /* folder of the images; its place is where the copies lie */
	const char *page;   /* the machine's page; NULL: one that will be kept in area_fd */
	bool hides_vdso;    /* from the programs */
	unsigned fail_step; /* for tests: this step fails; 0: none */
	/* Results. */
	unsigned steps;	   /* how many there were, where one should fail */
	int area_fd;	   /* two units of memory for a private page, writable; -1: none */
	int area_read_fd;  /* the same, read-only */
	bool is_user_ours; /* it took a user namespace too: nobody gets another user's rights */
	bool is_followed;  /* the caller is in such a namespace already: nothing was done */
	const char *reason;
};

/*
 * The calling process, which has one thread, enters such a namespace. Tried in a child first, so
 * that the caller either enters it whole or stays where it is; should it fail in the caller all the
 * same, what was mounted is taken away again, and the namespaces stay. 0, or -errno with plain
 * words in reason. Never mounts anything that another namespace would see.
 */
int follow_space_enter(struct follow_space *space);

#endif /* FOLLOW_SPACE_H */
