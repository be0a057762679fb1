/* SPDX-License-Identifier: MIT */
/*
 * bench_json.c - `vclock bench --json`; the keys are described in docs/json.md.
 */
#include "cli/bench.h"
#include "cli/json.h"

static void add_figures(struct json *object, const struct measure_result *result, bool has_cycles)
{
	struct json *ns;

	if (result->rounds == 0) {
		json_add_string(object, "ns", NULL);
		return;
	}
	ns = json_new_object();
	json_add_number(ns, "min", result->min_ns, 3);
	json_add_number(ns, "median", result->median_ns, 3);
	json_add_number(ns, "p99", result->p99_ns, 3);
	json_add(object, "ns", ns);
	if (has_cycles)
		json_add_number(object, "cycles", result->min_cyc, 2);
}

static void add_row(struct json *rows, const struct bench_row *row, bool has_cycles)
{
	struct json *object = json_new_object();

	json_add_string(object, "what", row->group);
	json_add_string(object, "how", row->way);
	add_figures(object, &row->result, has_cycles);
	json_add_uint(object, "rounds", row->result.rounds);
	json_add_uint(object, "calls", row->result.calls);
	json_add_uint(object, "negative", row->result.negative);
	json_add_bool(object, "optimised_away", row->result.is_gone);
	json_add_string(object, "note", row->note);
	json_add(rows, NULL, object);
}

static void add_ns(struct json *object, const char *key, double ns)
{
	if (ns < 0)
		json_add_string(object, key, NULL);
	else
		json_add_number(object, key, ns, 3);
}

static void add_gain(struct json *gains, const struct bench_gain *gain)
{
	struct json *object = json_new_object();

	json_add_string(object, "clock", gain->what);
	add_ns(object, "libc_ns", gain->libc_ns);
	add_ns(object, "syscall_ns", gain->syscall_ns);
	add_ns(object, "library_ns", gain->library_ns);
	add_ns(object, "inline_ns", gain->inline_ns);
	add_ns(object, "resolution_ns", gain->res_ns);
	add_ns(object, "step_ns", gain->step_ns);
	json_add(gains, NULL, object);
}

static void add_ratio(struct json *ratios, const struct bench_ratio *ratio)
{
	struct json *object = json_new_object();

	json_add_string(object, "name", ratio->name);
	json_add_number(object, "value", ratio->value, 4);
	json_add_string(object, "relation", ratio->is_floor ? ">=" : "<=");
	json_add_number(object, "bound", ratio->bound, 2);
	json_add_bool(object, "holds", ratio->holds);
	json_add_bool(object, "gates", ratio->gates);
	json_add(ratios, NULL, object);
}

static struct json *machine(const struct bench *bench)
{
	struct json *object = json_new_object();

	json_add_string(object, "clocksource", bench->counter.current);
	json_add_uint(object, "counter_hz", bench->counter.hz);
	json_add_bool(object, "counter_is_clocksource", bench->counter.trust == VCLOCK_TRUST_FULL);
	json_add_bool(object, "vdso_answers_monotonic",
		      probe_answers(&bench->probe, VCLOCK_MONOTONIC));
	return object;
}

static struct json *page(const struct bench *bench)
{
	struct json *object = json_new_object();

	json_add_bool(object, "in_use", bench->has_page);
	json_add_bool(object, "trust_overridden", bench->trust_overridden);
	json_add_string(object, "message", bench->page_message);
	return object;
}

void bench_print_json(const struct bench *bench)
{
	struct json *root = json_new_object(), *rows = json_new_array(), *gains = json_new_array(),
		    *ratios = json_new_array();
	struct bench_gain gain[BENCH_GAINS_MAX];
	struct bench_ratio ratio[BENCH_RATIOS_MAX];
	size_t i, count;

	json_add_string(root, "vclock", VCLOCK_VERSION);
	json_add_string(root, "command", "bench");
	json_add(root, "machine", machine(bench));
	json_add_string(root, "timer", bench->timer);
	json_add_uint(root, "rounds", bench->rounds);
	json_add_uint(root, "threads", bench->threads);
	json_add_string(root, "library", bench->library.path);
	json_add(root, "page", page(bench));
	for (i = 0; i < bench->rows.count; i++)
		add_row(rows, &bench->rows.row[i], bench->ticks_are_cycles);
	json_add(root, "rows", rows);
	count = bench_gains(bench, gain);
	for (i = 0; i < count; i++)
		add_gain(gains, &gain[i]);
	json_add(root, "clocks", gains);
	count = bench_ratios(bench, ratio);
	for (i = 0; i < count; i++)
		add_ratio(ratios, &ratio[i]);
	json_add(root, "ratios", ratios);
	json_print(root);
}
