/* SPDX-License-Identifier: MIT */
/*
 * json.h - what --json prints: one object a run, through json-c on the native build.
 *
 * Where json-c is not built in, json_refuse() says so and the other functions do nothing; call it
 * first. Keys are described in docs/json.md. Running out of memory ends the program.
 */
#ifndef JSON_H
#define JSON_H

#include <stdbool.h>
#include <stdint.h>

struct json; /* an object or an array */

/* CLI_GOOD, or CLI_IMPOSSIBLE after a message. */
int json_refuse(void);

struct json *json_new_object(void);
struct json *json_new_array(void);

/* Into an object under key; into an array, key is NULL. A child belongs to its parent from then. */
void json_add(struct json *parent, const char *key, struct json *child);
/* NULL: null. What is not UTF-8 in value is shown, see message_shown(). */
void json_add_string(struct json *parent, const char *key, const char *value);
void json_add_bool(struct json *parent, const char *key, bool value);
void json_add_int(struct json *parent, const char *key, int64_t value);
void json_add_uint(struct json *parent, const char *key, uint64_t value);
/* A number with so many decimals; what is not finite becomes null. */
void json_add_number(struct json *parent, const char *key, double value, int decimals);

/* Prints to stdout and frees root with all its children. */
void json_print(struct json *root);

#endif /* JSON_H */
