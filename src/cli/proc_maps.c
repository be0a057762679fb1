/* SPDX-License-Identifier: MIT */
/*
 * proc_maps.c - see proc_maps.h. The text is another process's doing in part: names are hostile.
 */
#include "cli/proc_maps.h"

#include "attach/maps.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* As the library names the memory of a private page. */
#define PRIVATE_PAGE "/memfd:vclock"

static bool starts_with(const struct maps_line *line, const char *prefix)
{
	size_t length = strlen(prefix);

	return line->name_length >= length && memcmp(line->name, prefix, length) == 0;
}

static bool is_name(const struct maps_line *line, const char *name, const char *suffix)
{
	size_t length = strlen(name), rest = strlen(suffix);

	return line->name_length == length + rest && starts_with(line, name) &&
	       memcmp(line->name + length, suffix, rest) == 0;
}

/* A page that was replaced shows as deleted, and is still a page. */
static bool is_page(const struct maps_line *line, const char *page_path)
{
	return starts_with(line, PRIVATE_PAGE) || is_name(line, page_path, "") ||
	       is_name(line, page_path, " (deleted)");
}

/* Names go to a terminal. */
static void copy_printable(char *to, size_t size, const struct maps_line *line)
{
	size_t i;

	for (i = 0; i + 1 < size && i < line->name_length; i++)
		to[i] = isprint((unsigned char)line->name[i]) ? line->name[i] : '?';
	to[i] = '\0';
}

static void take(const struct maps_line *line, const char *page_path, struct proc_maps *maps)
{
	if (maps_is_vdso(line)) {
		maps->vdso_start = line->start;
		maps->vdso_end = line->end;
	} else if (line->inode == 0 && starts_with(line, "[vvar")) {
		maps->data_maps++;
		maps->data_bytes += line->end - line->start;
	} else if (line->inode != 0 && is_page(line, page_path)) {
		if (maps->page_maps++ == 0)
			copy_printable(maps->page_name, sizeof(maps->page_name), line);
	}
}

void proc_maps_read(FILE *maps, const char *page_path, struct proc_maps *ret_maps)
{
	struct maps_line line;
	char *text = NULL;
	size_t size = 0;
	ssize_t length;

	memset(ret_maps, 0, sizeof(*ret_maps));
	while ((length = getline(&text, &size, maps)) > 0) {
		if (maps_parse(text, (size_t)length, &line) == 0)
			take(&line, page_path, ret_maps);
	}
	free(text);
}
