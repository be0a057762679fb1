/* SPDX-License-Identifier: MIT */
/*
 * run.h - the command `run`. Returns only where no program was started: the exit status of the
 * process then.
 */
#ifndef FRONT_RUN_H
#define FRONT_RUN_H

/* argv[0] is the command's name. */
int front_run(int argc, char **argv);

#endif /* FRONT_RUN_H */
