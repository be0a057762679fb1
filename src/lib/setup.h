/* SPDX-License-Identifier: MIT */
/*
 * setup.h - the decisions of the constructor that tests look at.
 */
#ifndef LIB_SETUP_H
#define LIB_SETUP_H

#include <stdbool.h>

#include "vclock.h"

#pragma GCC visibility push(hidden)

/* A value of VCLOCK_ROUTE. False, and *ret_route untouched, when it is none that is known. */
bool setup_parse_route(const char *value, enum vclock_route *ret_route);

/* The environment of a program that does not run for somebody else. NULL: unset, empty or secure.
 */
const char *setup_getenv(const char *name, bool is_secure);

#pragma GCC visibility pop

#endif /* LIB_SETUP_H */
