/* SPDX-License-Identifier: MIT */
/* vdso_check.c - see vdso_check.h. The rules are src/check/image_check.c's. */
#include "cli/vdso_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/image_check.h"
#include "cli/cli.h"
#include "cli/image_code.h"
#include "cli/json.h"
#include "cli/output.h"

/* Beyond these, findings are counted only. */
#define FINDINGS_MAX 32

struct findings {
	enum image_rule rule[FINDINGS_MAX];
	char *words[FINDINGS_MAX];
	size_t count;
};

static void keep_finding(void *arg, enum image_rule rule, const char *words)
{
	struct findings *f = arg;

	if (f->count == FINDINGS_MAX)
		return;
	f->rule[f->count] = rule;
	f->words[f->count++] = cli_format("%s", words);
}

static const char *verdict(const struct image_check *check, unsigned rule)
{
	if (check->broken & 1u << rule)
		return "broken";
	return check->not_checked & 1u << rule ? "not checked in this build" : "holds";
}

/* A file that is no ELF file at all was not held against the rules that come after that one. */
static unsigned last_rule(const struct image_check *check)
{
	return check->is_readable ? IMAGE_RULES : 1;
}

static void print_text(const struct image_check *check, const struct findings *f)
{
	unsigned rule;
	size_t i;

	for (rule = 0; rule < last_rule(check); rule++) {
		output("%s: %s\n", image_rule_name(rule), verdict(check, rule));
		for (i = 0; i < f->count; i++)
			if (f->rule[i] == rule)
				output("    %s\n", f->words[i]);
	}
	if (check->findings > f->count)
		output("and %u findings more\n", check->findings - (unsigned)f->count);
}

static void print_json(const char *object, const struct image_check *check,
		       const struct findings *f)
{
	struct json *root = json_new_object(), *rules = json_new_array(), *item, *list;
	unsigned rule;
	size_t i;

	json_add_string(root, "vclock", VCLOCK_VERSION);
	json_add_string(root, "command", "vdso --check");
	json_add_string(root, "image", object);
	json_add_bool(root, "passes", check->findings == 0 && check->not_checked == 0);
	for (rule = 0; rule < last_rule(check); rule++) {
		item = json_new_object();
		list = json_new_array();
		json_add_string(item, "rule", image_rule_name(rule));
		json_add_string(item, "verdict", verdict(check, rule));
		for (i = 0; i < f->count; i++)
			if (f->rule[i] == rule)
				json_add_string(list, NULL, f->words[i]);
		json_add(item, "findings", list);
		json_add(rules, NULL, item);
	}
	json_add(root, "rules", rules);
	json_add_uint(root, "findings", check->findings);
	json_print(root);
}

int vdso_check(const char *object, const unsigned char *bytes, size_t size, int as_json)
{
	struct findings findings = {.count = 0};
	struct image_check check = {
		.branches = image_code_branches,
		.report = keep_finding,
		.arg = &findings,
	};
	size_t i;

	image_check(&check, bytes, size);
	if (as_json)
		print_json(object, &check, &findings);
	else
		print_text(&check, &findings);
	for (i = 0; i < findings.count; i++)
		free(findings.words[i]);
	if (check.findings != 0)
		return CLI_WRONG;
	if (check.not_checked != 0)
		return cli_error(CLI_IMPOSSIBLE, "vdso: %s: this build has no decoder for its code",
				 object);
	return CLI_GOOD;
}
