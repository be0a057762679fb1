/* SPDX-License-Identifier: MIT */
/*
 * Lines of /proc/PID/maps are taken apart by their columns: the vDSO is known by its whole name and
 * by having no file, however many data mappings lie around it, and never by a neighbour or by a
 * file with a like name. A crooked line is refused.
 */
#include <errno.h>
#include <string.h>

#include "attach/maps.h"
#include "tap.h"

struct found {
	int lines, broken, vdsos;
	uint64_t start, end;
};

/* Walks a whole text as a program does that reads it line by line. */
static struct found walk(const char *text)
{
	struct found found = {0};

	while (*text != '\0') {
		const char *next = strchr(text, '\n');
		size_t length = next ? (size_t)(next + 1 - text) : strlen(text);
		struct maps_line line;

		found.lines++;
		if (maps_parse(text, length, &line) != 0) {
			found.broken++;
		} else if (maps_is_vdso(&line)) {
			found.vdsos++;
			found.start = line.start;
			found.end = line.end;
		}
		text += length;
	}
	return found;
}

static void expect_vdso(const char *what, int lines, uint64_t start, uint64_t end, const char *text)
{
	struct found found = walk(text);

	tap_ok(found.lines == lines && found.broken == 0 && found.vdsos == 1 &&
		       found.start == start && found.end == end,
	       "%s: the vDSO is %llx-%llx", what, (unsigned long long)found.start,
	       (unsigned long long)found.end);
}

/* V07, V09 */
static void check_layouts(void)
{
#define CODE "55d0c0000000-55d0c0002000 r-xp 00000000 fe:00 1234                 /usr/bin/x\n"
#define VDSO "7ffc10004000-7ffc10006000 r-xp 00000000 00:00 0                    [vdso]\n"
#define VVAR "7ffc10000000-7ffc10004000 r--p 00000000 00:00 0                    [vvar]\n"
#define VCLK "7ffc10006000-7ffc10008000 r--p 00000000 00:00 0                    [vvar_vclock]\n"
#define FAKE "7f0000000000-7f0000001000 r-xp 00000000 fe:00 99                   /var/lib/[vdso]\n"
#define NEXT "7ffc10006000-7ffc10009000 r-xp 00000000 fe:00 1234                 /usr/bin/x\n"
	const uint64_t start = 0x7ffc10004000, end = 0x7ffc10006000;

	expect_vdso("no data mapping", 2, start, end, CODE VDSO);
	expect_vdso("one before", 3, start, end, CODE VVAR VDSO);
	expect_vdso("two around", 3, start, end, VVAR VDSO VCLK);
	expect_vdso("after the image", 2, start, end, VDSO VCLK);
	expect_vdso("a program right behind it", 2, start, end, VDSO NEXT);
	expect_vdso("a file /var/lib/[vdso] first", 2, start, end, FAKE VDSO);
	tap_ok(walk(FAKE CODE VVAR).vdsos == 0, "that file alone is not the vDSO");
}

static void check_names(void)
{
	static const char *const others[] = {
		"1000-2000 r-xp 00000000 00:00 0 [vdso] (deleted)\n",
		"1000-2000 r-xp 00000000 00:00 0 [vdso\n",
		"1000-2000 r-xp 00000000 00:00 0 [vdso]]\n",
		"1000-2000 r-xp 00000000 00:00 0 [anon:[vdso]]\n",
		"1000-2000 r-xp 00000000 00:01 77 [vdso]\n",
		"1000-2000 r-xp 00000000 fe:00 0 [vdso]\n",
		"1000-2000 r-xp 00000000 00:00 0 /memfd:[vdso] (deleted)\n",
		"1000-2000 r-xp 00000000 00:00 0 \n",
		"1000-2000 r-xp 00000000 00:00 0\n",
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		struct found found = walk(others[i]);

		tap_ok(found.broken == 0 && found.vdsos == 0, "not the vDSO: %.*s",
		       (int)strlen(others[i]) - 1, others[i]);
	}
	tap_ok(walk("ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vdso]").vdsos == 1,
	       "a last line without its newline counts");
}

static void check_columns(void)
{
	static const char text[] = "fffffffffffff000-ffffffffffffffff rw-s 7fffffffffffe000 103:1f "
				   "18446744073709551615     /a b\\012c\n";
	struct maps_line line;

	tap_ok(maps_parse(text, strlen(text), &line) == 0 && line.start == 0xfffffffffffff000 &&
		       line.end == UINT64_MAX && line.offset == 0x7fffffffffffe000 &&
		       line.major == 0x103 && line.minor == 0x1f && line.inode == UINT64_MAX &&
		       line.is_readable && line.is_writable && !line.is_executable &&
		       line.is_shared && line.name_length == 9 &&
		       memcmp(line.name, "/a b\\012c", 9) == 0,
	       "every column, at its largest");
}

static void check_crooked(void)
{
	static const char *const lines[] = {
		"",
		"\n",
		"1000-2000",
		"1000 2000 r-xp 00000000 00:00 0 [vdso]",
		"2000-1000 r-xp 00000000 00:00 0 [vdso]",
		"1000-1000 r-xp 00000000 00:00 0 [vdso]",
		"1000-2000 rwxz 00000000 00:00 0 [vdso]",
		"1000-2000 r-x 00000000 00:00 0 [vdso]",
		"1000-2000 r-xp 00000000 0000 0 [vdso]",
		"1000-2000 r-xp 00000000 00:00 0[vdso]",
		"1000-2000 r-xp 00000000 00:00 x [vdso]",
		"-2000 r-xp 00000000 00:00 0 [vdso]",
		"10000000000000000-20000000000000000 r-xp 00000000 00:00 0 [vdso]",
		"1000-2000 r-xp 00000000 00:00 18446744073709551616 [vdso]",
		"1000-2000 r-xp 00000000 100000000:00 0 [vdso]",
	};

	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct maps_line line = {.start = 77};

		tap_ok(maps_parse(lines[i], strlen(lines[i]), &line) == -EINVAL && line.start == 77,
		       "refused: '%s'", lines[i][0] == '\n' ? "newline" : lines[i]);
	}
}

int main(void)
{
	check_layouts();
	check_names();
	check_columns();
	check_crooked();
	return tap_done();
}
