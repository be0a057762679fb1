/* SPDX-License-Identifier: MIT */
/*
 * cmd_vdso.c - `vclock vdso`: what a vDSO image holds, for people and as JSON.
 *
 * Everything printed from an image is hostile text: it goes through clean_text(). The image's own
 * name is the caller's.
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/commands.h"
#include "cli/decode.h"
#include "cli/json.h"
#include "cli/output.h"
#include "cli/table.h"
#include "cli/vdso_check.h"
#include "cli/vdso_image.h"
#include "elf/elf_image.h"
#include "elf/vdso_names.h"

/* The kernel's limit for a pid on 64-bit machines. */
#define PID_MAX ((uint64_t)4 << 20)
/* Names in a vDSO have some twenty characters. */
#define TEXT_MAX 120

struct relocations {
	uint64_t rel, rela, relr, plt; /* entries; of relr and plt in bytes / word, bytes / entry */
};

/* One of the functions that vclock and the C libraries look for. */
struct wanted {
	const char *role;   /* as in struct vclock_vdso */
	const char *symbol; /* "" in the table of names: not on this architecture */
	int state;	    /* 0, or a negated enum vclock_elf_error */
};

#define WANTED_COUNT 6

struct report {
	const char *object;
	struct vdso_image image;
	struct vclock_elf elf;
	struct relocations relocations;
	struct decode decode;
	struct wanted wanted[WANTED_COUNT];
	size_t wanted_count;
};

enum { OPTION_PID, OPTION_CHECK, OPTION_JSON };

static const struct cli_option options[] = {
	[OPTION_PID] = {"pid", "PID", "the image of a running process"},
	[OPTION_CHECK] = {"check", NULL, "hold FILE against the rules for vclock's own images"},
	[OPTION_JSON] = {"json", NULL, "one JSON object"},
	{NULL, NULL, NULL},
};

static const struct cli_usage usage = {
	.command = "vdso",
	.operands = "[FILE]",
	.summary = "What a vDSO image holds: symbols with their versions, hash tables, relocations "
		   "and\nindirect branches. FILE is an image on disk; without it, this process's "
		   "own.",
	.options = options,
	.notes = "Exit status 1: the image is broken, or not as --check wants it; 2: FILE or "
		 "process cannot be read; 3: the "
		 "process\nhas no vDSO.",
};

/* Printable ASCII only, cut at TEXT_MAX; NULL stays NULL. out has TEXT_MAX + 4 bytes. */
static const char *clean_text(char *out, const char *text)
{
	size_t i;

	if (text == NULL)
		return NULL;
	for (i = 0; i < TEXT_MAX && text[i] != '\0'; i++) {
		out[i] = text[i];
		if (text[i] < ' ' || text[i] > '~')
			out[i] = '?';
	}
	strcpy(out + i, text[i] != '\0' ? "..." : "");
	return out;
}

static const char *machine_name(const struct vclock_elf *elf, char *out, size_t size)
{
	switch (elf->machine) {
	case EM_X86_64:
		return elf->is_64 ? "x86_64" : "x32";
	case EM_386:
		return "i386";
	case EM_AARCH64:
		return "aarch64";
	case EM_ARM:
		return "arm";
	case EM_RISCV:
		return elf->is_64 ? "riscv64" : "riscv32";
	case EM_S390:
		return elf->is_64 ? "s390x" : "s390";
	case EM_PPC64:
		return "ppc64";
	case EM_MIPS:
		return "mips";
	}
	snprintf(out, size, "machine %u", elf->machine);
	return out;
}

static const char *type_name(uint8_t type)
{
	static const char *const names[] = {
		"notype", "object", "func",  "section", "file", "common", "tls", "7",
		"8",	  "9",	    "ifunc", "11",	"12",	"13",	  "14",	 "15"};

	return names[type & 15];
}

static const char *bind_name(uint8_t bind)
{
	static const char *const names[] = {"local", "global", "weak"};

	return bind < 3 ? names[bind] : bind == STB_GNU_UNIQUE ? "unique" : "other";
}

/* Entries of a table by the tags of its size and of an entry's size; the class's own without one.
 */
static uint64_t count_entries(const struct vclock_elf *elf, uint64_t size_tag, uint64_t entry_tag,
			      uint64_t entry)
{
	uint64_t bytes = 0;

	elf_dynamic(elf, size_tag, &bytes);
	if (entry_tag)
		elf_dynamic(elf, entry_tag, &entry);
	if (bytes == 0)
		return 0;
	/* Some relocations, though nobody can say how many. */
	return entry == 0 || bytes < entry ? 1 : bytes / entry;
}

static void count_relocations(const struct vclock_elf *elf, struct relocations *ret)
{
	uint64_t rel = elf->is_64 ? sizeof(Elf64_Rel) : sizeof(Elf32_Rel);
	uint64_t rela = elf->is_64 ? sizeof(Elf64_Rela) : sizeof(Elf32_Rela);
	uint64_t kind = DT_RELA;

	elf_dynamic(elf, DT_PLTREL, &kind);
	ret->rel = count_entries(elf, DT_RELSZ, DT_RELENT, rel);
	ret->rela = count_entries(elf, DT_RELASZ, DT_RELAENT, rela);
	/* DT_RELRSZ and DT_RELRENT, which old headers do not have. */
	ret->relr = count_entries(elf, 35, 37, elf->is_64 ? 8 : 4);
	ret->plt = count_entries(elf, DT_PLTRELSZ, 0, kind == DT_REL ? rel : rela);
}

static void add_wanted(struct report *report, const char *role, const char *symbol,
		       const char *version)
{
	struct wanted *w = &report->wanted[report->wanted_count];
	const void *address;

	if (*symbol == '\0')
		return;
	w->role = role;
	w->symbol = symbol;
	w->state = vclock_elf_lookup(&report->elf, symbol, version, &address);
	if (w->state == -VCLOCK_ELF_UNVERSIONED)
		w->state = vclock_elf_lookup(&report->elf, symbol, NULL, &address);
	report->wanted_count++;
}

static void look_up_wanted(struct report *report)
{
	const struct vdso_names *n = vdso_names_of(report->elf.machine, report->elf.is_64);

	if (n == NULL)
		return;
	add_wanted(report, "clock_gettime", n->clock_gettime, n->version);
	add_wanted(report, "clock_gettime32", n->clock_gettime32, n->version);
	add_wanted(report, "gettimeofday", n->gettimeofday, n->version);
	add_wanted(report, "time", n->time, n->version);
	add_wanted(report, "clock_getres", n->clock_getres, n->version);
	add_wanted(report, "getcpu", n->getcpu, n->version);
}

static const char *state_words(const struct wanted *w)
{
	return w->state == 0			   ? "found"
	       : w->state == -VCLOCK_ELF_NOT_FOUND ? "missing"
						   : vclock_elf_strerror(w->state);
}

static const char *hash_words(uint32_t hashes)
{
	static const char *const words[] = {"none", "sysv", "gnu", "sysv, gnu"};

	return words[hashes & 3];
}

static void print_versions(const struct vclock_elf *elf)
{
	char text[TEXT_MAX + 4];
	const char *name;
	int any = 0;

	output("versions: ");
	for (uint32_t i = 0; elf_version(elf, i, &name); i++) {
		if (name == NULL)
			continue;
		output("%s%s", any ? ", " : "", clean_text(text, name));
		any = 1;
	}
	output("%s\n", any ? "" : "none");
}

static void print_relocations(const struct relocations *r)
{
	static const char *const names[] = {"REL", "RELA", "RELR", "PLT"};
	const uint64_t counts[] = {r->rel, r->rela, r->relr, r->plt};
	int any = 0;

	output("relocations: ");
	for (int i = 0; i < 4; i++) {
		if (counts[i] == 0)
			continue;
		output("%s%" PRIu64 " %s", any ? ", " : "", counts[i], names[i]);
		any = 1;
	}
	output("%s\n", any ? "" : "none");
}

static void print_branches(const struct decode *d)
{
	if (d->refusal) {
		output("indirect branches: not decoded (%s)\n", d->refusal);
		return;
	}
	output("indirect branches: ");
	if (d->branches_count == 0)
		output("none");
	for (size_t i = 0; i < d->branches_count && i < DECODE_BRANCHES_MAX; i++)
		output("%s0x%" PRIx64, i ? ", " : "", d->branches[i]);
	if (d->branches_count > DECODE_BRANCHES_MAX)
		output(" and %zu more", d->branches_count - DECODE_BRANCHES_MAX);
	output(" (%zu instructions", d->instructions);
	if (d->unknown)
		output(", %zu places not understood", d->unknown);
	output(")\n");
}

static void print_head(const struct report *r)
{
	char text[TEXT_MAX + 4], machine[24], *object = cli_shown(r->object);
	const char *soname;

	output("image: %s", object);
	free(object);
	if (r->image.address)
		output(" at 0x%" PRIx64, r->image.address);
	soname = clean_text(text, vclock_elf_soname(&r->elf));
	output("\nclass: ELF%d\nmachine: %s\nsoname: %s\nsize: %zu bytes\nhash: %s\n",
	       r->elf.is_64 ? 64 : 32, machine_name(&r->elf, machine, sizeof(machine)),
	       soname ? soname : "none", r->image.size, hash_words(r->elf.hashes));
	print_versions(&r->elf);
	print_relocations(&r->relocations);
	print_branches(&r->decode);
}

static void print_symbols(const struct vclock_elf *elf)
{
	char name[TEXT_MAX + 4], version[TEXT_MAX + 4];
	struct table *table = table_new();
	struct vclock_elf_symbol s;

	table_column(table, "SYMBOL", TABLE_LEFT);
	table_column(table, "VERSION", TABLE_LEFT);
	table_column(table, "TYPE", TABLE_LEFT);
	table_column(table, "BIND", TABLE_LEFT);
	table_column(table, "VALUE", TABLE_RIGHT);
	table_column(table, "BYTES", TABLE_RIGHT);
	/* Number 0 is no symbol in any image. */
	for (uint64_t i = 1; i < elf->symtab_count; i++) {
		table_row(table);
		if (vclock_elf_symbol(elf, i, &s)) {
			table_cell(table, "(number %" PRIu64 ": no readable name)", i);
			continue;
		}
		table_cell(table, "%s", clean_text(name, s.name));
		table_cell(table, "%s", s.version ? clean_text(version, s.version) : "-");
		table_cell(table, "%s", type_name(s.type));
		table_cell(table, "%s", bind_name(s.bind));
		if (s.section == SHN_UNDEF)
			table_cell(table, "undefined");
		else
			table_cell(table, "0x%" PRIx64, s.value);
		table_cell(table, "%" PRIu64, s.size);
	}
	output("\n");
	table_print(table);
}

static void print_wanted(const struct report *r)
{
	struct table *table;

	if (r->wanted_count == 0) {
		output("\nvclock knows no function names for this machine.\n");
		return;
	}
	table = table_new();
	table_column(table, "FUNCTION", TABLE_LEFT);
	table_column(table, "LOOKED FOR", TABLE_LEFT);
	table_column(table, "STATE", TABLE_LEFT);
	for (size_t i = 0; i < r->wanted_count; i++) {
		table_row(table);
		table_cell(table, "%s", r->wanted[i].role);
		table_cell(table, "%s@%s", r->wanted[i].symbol,
			   vdso_names_of(r->elf.machine, r->elf.is_64)->version);
		table_cell(table, "%s", state_words(&r->wanted[i]));
	}
	output("\n");
	table_print(table);
}

static struct json *json_symbols(const struct vclock_elf *elf)
{
	char name[TEXT_MAX + 4], version[TEXT_MAX + 4];
	struct json *list = json_new_array(), *item;
	struct vclock_elf_symbol s;

	for (uint64_t i = 1; i < elf->symtab_count; i++) {
		if (vclock_elf_symbol(elf, i, &s))
			continue;
		item = json_new_object();
		json_add_string(item, "name", clean_text(name, s.name));
		json_add_string(item, "version", clean_text(version, s.version));
		json_add_string(item, "type", type_name(s.type));
		json_add_string(item, "bind", bind_name(s.bind));
		json_add_bool(item, "defined", s.section != SHN_UNDEF);
		json_add_uint(item, "value", s.value);
		json_add_uint(item, "size", s.size);
		json_add(list, NULL, item);
	}
	return list;
}

static struct json *json_versions(const struct vclock_elf *elf)
{
	struct json *list = json_new_array();
	char text[TEXT_MAX + 4];
	const char *name;

	for (uint32_t i = 0; elf_version(elf, i, &name); i++)
		if (name != NULL)
			json_add_string(list, NULL, clean_text(text, name));
	return list;
}

static struct json *json_hashes(uint32_t hashes)
{
	struct json *list = json_new_array();

	if (hashes & VCLOCK_ELF_HASH_SYSV)
		json_add_string(list, NULL, "sysv");
	if (hashes & VCLOCK_ELF_HASH_GNU)
		json_add_string(list, NULL, "gnu");
	return list;
}

static struct json *json_relocations(const struct relocations *r)
{
	struct json *object = json_new_object();

	json_add_uint(object, "rel", r->rel);
	json_add_uint(object, "rela", r->rela);
	json_add_uint(object, "relr", r->relr);
	json_add_uint(object, "plt", r->plt);
	return object;
}

static struct json *json_code(const struct decode *d)
{
	struct json *object = json_new_object(), *list = json_new_array();

	for (size_t i = 0; i < d->branches_count && i < DECODE_BRANCHES_MAX; i++)
		json_add_uint(list, NULL, d->branches[i]);
	json_add_bool(object, "decoded", d->refusal == NULL);
	json_add_string(object, "reason", d->refusal);
	json_add_uint(object, "instructions", d->instructions);
	json_add_uint(object, "unknown", d->unknown);
	json_add_uint(object, "indirect_branches", d->branches_count);
	json_add(object, "indirect_branch_addresses", list);
	return object;
}

static struct json *json_wanted(const struct report *r)
{
	struct json *list = json_new_array(), *item;

	for (size_t i = 0; i < r->wanted_count; i++) {
		item = json_new_object();
		json_add_string(item, "function", r->wanted[i].role);
		json_add_string(item, "symbol", r->wanted[i].symbol);
		json_add_string(item, "version",
				vdso_names_of(r->elf.machine, r->elf.is_64)->version);
		json_add_string(item, "state", state_words(&r->wanted[i]));
		json_add(list, NULL, item);
	}
	return list;
}

static void print_json(const struct report *r)
{
	char text[TEXT_MAX + 4], machine[24];
	struct json *root = json_new_object();

	json_add_string(root, "vclock", VCLOCK_VERSION);
	json_add_string(root, "command", "vdso");
	json_add_string(root, "image", r->object);
	json_add_uint(root, "address", r->image.address);
	json_add_uint(root, "class", r->elf.is_64 ? 64 : 32);
	json_add_string(root, "machine", machine_name(&r->elf, machine, sizeof(machine)));
	json_add_string(root, "soname", clean_text(text, vclock_elf_soname(&r->elf)));
	json_add_uint(root, "size", r->image.size);
	json_add(root, "hashes", json_hashes(r->elf.hashes));
	json_add(root, "versions", json_versions(&r->elf));
	json_add(root, "relocations", json_relocations(&r->relocations));
	json_add(root, "code", json_code(&r->decode));
	json_add(root, "functions", json_wanted(r));
	json_add(root, "symbols", json_symbols(&r->elf));
	json_print(root);
}

static int examine(struct report *report, int as_json)
{
	int r = vclock_elf_open(report->image.bytes, report->image.size, report->image.is_mapped,
				&report->elf);

	if (r)
		return cli_error(CLI_WRONG, "vdso: %s: %s", report->object, vclock_elf_strerror(r));
	count_relocations(&report->elf, &report->relocations);
	decode_image(&report->elf, &report->decode);
	look_up_wanted(report);
	if (as_json) {
		print_json(report);
		return CLI_GOOD;
	}
	print_head(report);
	print_wanted(report);
	print_symbols(&report->elf);
	return CLI_GOOD;
}

static int fetch(struct report *report, const char *file, uint64_t pid)
{
	if (file != NULL) {
		report->object = file;
		return vdso_image_of_file(file, &report->image);
	}
	if (pid == 0) {
		report->object = "this process";
		return vdso_image_own(&report->image);
	}
	report->object = cli_format("process %" PRIu64, pid);
	return vdso_image_of_pid(pid, &report->image);
}

int cmd_vdso(int argc, char **argv)
{
	static struct report report;
	const char *value;
	uint64_t pid = 0;
	int option, status, as_json = 0, must_check = 0;

	while ((option = cli_next_option(&usage, argc, argv, &value, &status)) != CLI_OPTIONS_END) {
		if (option == CLI_OPTIONS_STOP)
			return status;
		if (option == OPTION_JSON)
			as_json = 1;
		else if (option == OPTION_CHECK)
			must_check = 1;
		else if (cli_number("vdso: --pid", value, 1, PID_MAX, &pid) != CLI_GOOD)
			return CLI_USAGE;
	}
	if (argc > optind + 1)
		return cli_error(CLI_USAGE, "vdso: %s: one image at a time", argv[optind + 1]);
	if (argc > optind && pid != 0)
		return cli_error(CLI_USAGE, "vdso: %s: either a file or --pid", argv[optind]);
	if (must_check && argc == optind)
		return cli_error(CLI_USAGE, "vdso: --check: needs a file");
	if (as_json && json_refuse() != CLI_GOOD)
		return CLI_IMPOSSIBLE;
	status = fetch(&report, argc > optind ? argv[optind] : NULL, pid);
	if (status == CLI_GOOD && must_check)
		status = vdso_check(report.object, report.image.bytes, report.image.size, as_json);
	else if (status == CLI_GOOD)
		status = examine(&report, as_json);
	free(report.image.bytes);
	return status;
}
