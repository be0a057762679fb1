/* SPDX-License-Identifier: MIT */
/*
 * The page's layout, as this compiler has it, against the tables of docs/page-format.md: offset and
 * width of each field, and no field on one side only. Run for 64- and for 32-bit programs. A copy
 * of the tables with one wrong figure is refused.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tap.h"
#include "vclock/page.h"

struct field {
	const char *structure, *name;
	size_t offset, size;
};

/* clang-format off */
#define FIELD(structure, name) \
	{#structure, #name, offsetof(struct structure, name), sizeof(((struct structure *)0)->name)}
/* clang-format on */
#define FIELDS (sizeof(fields) / sizeof(fields[0]))

static const struct field fields[] = {
	FIELD(vclock_page, magic),
	FIELD(vclock_page, version),
	FIELD(vclock_page, size),
	FIELD(vclock_page, generation),
	FIELD(vclock_page, shift),
	FIELD(vclock_page, counter_kind),
	FIELD(vclock_page, flags),
	FIELD(vclock_page, counter_hz),
	FIELD(vclock_page, boot_id),
	FIELD(vclock_page, timens_ino),
	FIELD(vclock_page, writer_pid),
	FIELD(vclock_page, interval_ns),
	FIELD(vclock_page, ahead_ns),
	FIELD(vclock_page, coarse_ns),
	FIELD(vclock_page, reserved),
	FIELD(vclock_page, slot),
	FIELD(vclock_page, history),
	FIELD(vclock_slot, line),
	FIELD(vclock_slot, clamp_cyc),
	FIELD(vclock_slot, error_ns),
	FIELD(vclock_slot, history_count),
	FIELD(vclock_slot, retired),
	FIELD(vclock_slot, tz_minuteswest),
	FIELD(vclock_slot, tz_dsttime),
	FIELD(vclock_slot, tai_offset_sec),
	FIELD(vclock_slot, clock_was_set_seq),
	FIELD(vclock_slot, published_cyc),
	FIELD(vclock_slot, lateness_ns),
	FIELD(vclock_slot, reserved),
	FIELD(vclock_line, start_cyc),
	FIELD(vclock_line, length_cyc),
	FIELD(vclock_line, mult),
	FIELD(vclock_line, reserved0),
	FIELD(vclock_line, base),
	FIELD(vclock_line, reserved1),
	FIELD(vclock_base, sec),
	FIELD(vclock_base, fns),
};

/* Bytes of "u32", "u8[16]", "slot[2]"; 0: not known. */
static size_t type_size(const char *type)
{
	static const struct {
		const char *name;
		size_t size;
	} known[] = {{"u8", 1},	 {"u16", 2},   {"u32", 4},    {"s32", 4},   {"u64", 8},
		     {"s64", 8}, {"base", 16}, {"line", 256}, {"slot", 576}};
	char name[16] = "";
	unsigned count = 1;
	size_t i;

	if (sscanf(type, "%15[a-z0-9][%u]", name, &count) < 1)
		return 0;
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i].name, name) == 0)
			return known[i].size * count;
	return 0;
}

static const struct field *find(const char *structure, const char *name)
{
	size_t i;

	for (i = 0; i < FIELDS; i++)
		if (strcmp(fields[i].structure, structure) == 0 &&
		    strcmp(fields[i].name, name) == 0)
			return &fields[i];
	return NULL;
}

/* One row of a table; rows of other tables, and other text, count as right. */
static bool row_is_right(const char *structure, const char *text, bool *seen)
{
	char type[16], name[32];
	const struct field *field;
	size_t offset;

	if (*structure == '\0' || sscanf(text, "| %zu | %15s | %31s |", &offset, type, name) != 3)
		return true;
	field = find(structure, name);
	if (field == NULL)
		return false;
	seen[field - fields] = true;
	return field->offset == offset && field->size == type_size(type);
}

/* The number of faults in the tables of the file; those found are named as comments. */
static int count_faults(FILE *file, const char *wrong)
{
	char text[512], structure[32] = "";
	bool seen[FIELDS] = {false};
	int faults = 0;
	size_t i;

	rewind(file);
	while (fgets(text, sizeof(text), file) != NULL) {
		if (strncmp(text, "## ", 3) == 0)
			structure[0] = '\0';
		sscanf(text, "### `struct %31[a-z_]`", structure);
		if (wrong != NULL && strstr(text, wrong) != NULL)
			text[2]++; /* the first digit of the offset */
		if (!row_is_right(structure, text, seen)) {
			tap_diag("%s: %s", structure, strtok(text, "\n"));
			faults++;
		}
	}
	for (i = 0; i < FIELDS; i++) {
		if (!seen[i]) {
			tap_diag("%s.%s is not in the tables", fields[i].structure, fields[i].name);
			faults++;
		}
	}
	return faults;
}

int main(void)
{
	FILE *file = fopen(VCLOCK_ROOT "/docs/page-format.md", "r");

	tap_ok(file != NULL, "docs/page-format.md is there");
	if (file == NULL)
		return tap_done();
	tap_ok(count_faults(file, NULL) == 0, "every field is where the tables say, %zu bits",
	       sizeof(void *) * 8);
	tap_ok(count_faults(file, "| lateness_ns |") == 1, "a wrong offset is noticed");
	tap_ok(sizeof(struct vclock_page) == 4096, "the page is 4096 bytes");
	fclose(file);
	return tap_done();
}
