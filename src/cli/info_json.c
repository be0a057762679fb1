/* SPDX-License-Identifier: MIT */
/*
 * info_json.c - `vclock info --json`; the keys are described in docs/json.md.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/info.h"
#include "cli/json.h"

static const char *const trust_words[] = {
	[VCLOCK_TRUST_NEVER] = "never", [VCLOCK_TRUST_WAIT] = "wait",
	[VCLOCK_TRUST_PROVE] = "prove", [VCLOCK_TRUST_WATCHED] = "watched",
	[VCLOCK_TRUST_FULL] = "full",
};

static const char *const source_words[] = {
	[VCLOCK_PAGE_NONE] = "none",
	[VCLOCK_PAGE_FILE] = "file",
	[VCLOCK_PAGE_OWN] = "own",
	[VCLOCK_PAGE_INHERITED] = "inherited",
};

static struct json *counter(const struct info *info)
{
	const struct vclock_counter_status *status = &info->counter;
	struct json *object = json_new_object();

	json_add_string(object, "kind",
			status->kind == VCLOCK_COUNTER_TSC	? "tsc"
			: status->kind == VCLOCK_COUNTER_CNTVCT ? "cntvct"
			: status->kind == VCLOCK_COUNTER_RISCV	? "riscv"
								: "none");
	json_add_uint(object, "hz", status->hz);
	json_add_bool(object, "readable", status->is_readable);
	json_add_bool(object, "invariant", status->is_invariant);
	json_add_string(object, "trust", trust_words[status->trust]);
	json_add_string(object, "reason", status->reason);
	return object;
}

static struct json *clocksource(const struct info *info)
{
	struct json *object = json_new_object();

	json_add_string(object, "current", info->counter.current);
	json_add_string(object, "available", info->counter.available);
	json_add_bool(object, "known", info->cure.is_known);
	json_add_bool(object, "slow", info->cure.is_slow);
	json_add_string(object, "means", info->cure.means);
	json_add_string(object, "cure", info->cure.cure[0] != '\0' ? info->cure.cure : NULL);
	return object;
}

static struct json *vdso(const struct info *info)
{
	struct json *object = json_new_object(), *symbols = json_new_array(), *one;
	struct vclock_elf_symbol symbol;
	uint64_t i;

	json_add_bool(object, "present", info->vdso.error == 0);
	json_add_string(object, "error",
			info->vdso.error == 0 ? NULL : vclock_elf_strerror(info->vdso.error));
	for (i = 0; info->vdso.error == 0 && i < info->vdso.elf.symtab_count; i++) {
		if (vclock_elf_symbol(&info->vdso.elf, i, &symbol) != 0 || symbol.value == 0)
			continue;
		one = json_new_object();
		json_add_string(one, "name", symbol.name);
		json_add_string(one, "version", symbol.version);
		json_add(symbols, NULL, one);
	}
	json_add(object, "symbols", symbols);
	return object;
}

static struct json *page(const struct info *info)
{
	const struct vclock_status *status = &info->status;
	struct json *object = json_new_object();

	json_add_string(object, "source", source_words[status->page_source]);
	json_add_string(object, "file", info->file.path);
	json_add_string(object, "file_verdict", info->file.verdict);
	json_add_bool(object, "file_wrong", info->file.is_wrong);
	if (status->page_source == VCLOCK_PAGE_NONE)
		return object;
	json_add_string(object, "path", status->page_path);
	json_add_uint(object, "writer_pid", status->page_writer_pid);
	json_add_uint(object, "interval_ns", status->page_interval_ns);
	json_add_uint(object, "age_ns", status->page_age_ns);
	json_add_uint(object, "error_ns", status->page_error_ns);
	json_add_uint(object, "lateness_ns", status->page_lateness_ns);
	json_add_uint(object, "generation", status->page_generation);
	json_add_bool(object, "trust_overridden",
		      (status->page_flags & VCLOCK_PAGE_TRUST_OVERRIDDEN) != 0);
	json_add_string(object, "retired",
			status->page_retired != VCLOCK_RETIRED_NOT
				? vclock_retired_string(status->page_retired)
				: NULL);
	return object;
}

static struct json *clock_object(const struct info_clock *clock)
{
	struct json *object = json_new_object();

	json_add_string(object, "name", clock->name->name);
	json_add_int(object, "id", clock->name->id);
	json_add_string(object, "error", clock->error != 0 ? strerror(clock->error) : NULL);
	json_add_string(object, "route",
			clock->error != 0 ? NULL : vclock_route_string(clock->route));
	json_add_bool(object, "kernel_without_syscall", clock->vdso);
	if (clock->res_ns >= 0)
		json_add_int(object, "resolution_ns", clock->res_ns);
	else
		json_add_string(object, "resolution_ns", NULL);
	if (clock->error == 0)
		json_add_number(object, "ns", clock->ns, 2);
	else
		json_add_string(object, "ns", NULL);
	json_add_string(object, "reason", clock->reason);
	return object;
}

static struct json *calls(void)
{
	const struct info_calls *row;
	struct json *array = json_new_array(), *object;

	for (row = info_calls; row->function != NULL; row++) {
		object = json_new_object();
		json_add_string(object, "function", row->function);
		json_add_string(object, "calls", row->calls);
		json_add_string(object, "when", row->when);
		json_add(array, NULL, object);
	}
	return array;
}

static void add_process(struct json *root, const struct info *info)
{
	struct json *clocks = json_new_array();
	size_t i;

	json_add(root, "vdso", vdso(info));
	json_add(root, "page", page(info));
	json_add_bool(root, "getpid_cached", info->status.getpid_is_cached);
	json_add_string(root, "route_limit", vclock_route_string(info->status.route_limit));
	json_add_bool(root, "route_unknown", info->status.route_unknown);
	json_add_string(root, "probe", info->probe.how);
	for (i = 0; i < CLOCK_NAMES; i++)
		json_add(clocks, NULL, clock_object(&info->clock[i]));
	json_add(root, "clocks", clocks);
}

void info_print_json(const struct info *info)
{
	struct json *root = json_new_object();

	json_add_string(root, "vclock", VCLOCK_VERSION);
	json_add_string(root, "command", "info");
	json_add(root, "counter", counter(info));
	json_add(root, "clocksource", clocksource(info));
	if (!info->fixture)
		add_process(root, info);
	json_add_string(root, "verdict", info->verdict);
	json_add(root, "calls", calls());
	json_print(root);
}
