/* SPDX-License-Identifier: MIT */
/*
 * json.c - see json.h. The only file that knows json-c.
 */
#include "cli/json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "cli/output.h"

#if VCLOCK_HAS_LIBS

#include <json-c/json.h>

#include "message/message.h"

/* A struct json is json-c's object under a shorter name; it is never looked into here. */

int json_refuse(void)
{
	return CLI_GOOD;
}

static void add(struct json *parent, const char *key, struct json_object *value)
{
	struct json_object *object = (struct json_object *)parent;
	int r;

	r = key != NULL ? json_object_object_add(object, key, value)
			: json_object_array_add(object, value);
	if (r != 0)
		exit(cli_error(CLI_FAILURE, "out of memory"));
}

/* A null in json-c is a NULL pointer, as is memory that ran out. */
static struct json_object *must(struct json_object *object)
{
	if (object == NULL)
		exit(cli_error(CLI_FAILURE, "out of memory"));
	return object;
}

struct json *json_new_object(void)
{
	return (struct json *)must(json_object_new_object());
}

struct json *json_new_array(void)
{
	return (struct json *)must(json_object_new_array());
}

void json_add(struct json *parent, const char *key, struct json *child)
{
	add(parent, key, (struct json_object *)child);
}

void json_add_string(struct json *parent, const char *key, const char *value)
{
	char *shown = value != NULL ? message_shown(MESSAGE_UTF8, value) : NULL;

	if (value != NULL && shown == NULL)
		exit(cli_error(CLI_FAILURE, "out of memory"));
	add(parent, key, shown != NULL ? must(json_object_new_string(shown)) : NULL);
	free(shown);
}

void json_add_bool(struct json *parent, const char *key, bool value)
{
	add(parent, key, must(json_object_new_boolean(value)));
}

void json_add_int(struct json *parent, const char *key, int64_t value)
{
	add(parent, key, must(json_object_new_int64(value)));
}

void json_add_uint(struct json *parent, const char *key, uint64_t value)
{
	add(parent, key, must(json_object_new_uint64(value)));
}

void json_add_number(struct json *parent, const char *key, double value, int decimals)
{
	char text[64];

	if (!isfinite(value) ||
	    snprintf(text, sizeof(text), "%.*f", decimals, value) >= (int)sizeof(text)) {
		add(parent, key, NULL);
		return;
	}
	add(parent, key, must(json_object_new_double_s(value, text)));
}

void json_print(struct json *root)
{
	struct json_object *object = (struct json_object *)root;

	output("%s\n", json_object_to_json_string_ext(
			       object, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED |
					       JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(object);
}

#else /* not built in: nothing is ever printed, since json_refuse() comes first */

int json_refuse(void)
{
	return cli_error(CLI_IMPOSSIBLE, "--json: not in this build");
}

struct json *json_new_object(void)
{
	return NULL;
}

struct json *json_new_array(void)
{
	return NULL;
}

void json_add(struct json *parent, const char *key, struct json *child)
{
	(void)parent;
	(void)key;
	(void)child;
}

void json_add_string(struct json *parent, const char *key, const char *value)
{
	(void)parent;
	(void)key;
	(void)value;
}

void json_add_bool(struct json *parent, const char *key, bool value)
{
	(void)parent;
	(void)key;
	(void)value;
}

void json_add_int(struct json *parent, const char *key, int64_t value)
{
	(void)parent;
	(void)key;
	(void)value;
}

void json_add_uint(struct json *parent, const char *key, uint64_t value)
{
	(void)parent;
	(void)key;
	(void)value;
}

void json_add_number(struct json *parent, const char *key, double value, int decimals)
{
	(void)parent;
	(void)key;
	(void)value;
	(void)decimals;
}

void json_print(struct json *root)
{
	(void)root;
}

#endif
