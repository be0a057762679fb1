/* SPDX-License-Identifier: MIT */
/*
 * proc_maps.c - see proc_maps.h. The text is another process's doing in part: names are hostile.
 */
#include "cli/proc_maps.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* As the library names the memory of a private page. */
#define PRIVATE_PAGE "/memfd:vclock"

struct map {
	uint64_t start, end, inode;
	const char *name; /* "" where there is none */
};

static bool parse(char *line, struct map *ret_map)
{
	int at = 0;

	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %*s %*s %" SCNu64 " %n", &ret_map->start,
		   &ret_map->end, &ret_map->inode, &at) < 3 ||
	    at == 0 || ret_map->end <= ret_map->start)
		return false;
	ret_map->name = line + at;
	return true;
}

static bool is_page(const char *name, const char *page_path)
{
	size_t length = strlen(page_path);

	if (strncmp(name, PRIVATE_PAGE, sizeof(PRIVATE_PAGE) - 1) == 0)
		return true;
	/* A page that was replaced shows as deleted, and is still a page. */
	return strncmp(name, page_path, length) == 0 &&
	       (name[length] == '\0' || strcmp(name + length, " (deleted)") == 0);
}

/* Names go to a terminal. */
static void copy_printable(char *to, size_t size, const char *from)
{
	size_t i;

	for (i = 0; i + 1 < size && from[i] != '\0'; i++)
		to[i] = isprint((unsigned char)from[i]) ? from[i] : '?';
	to[i] = '\0';
}

static void take(const struct map *map, const char *page_path, struct proc_maps *maps)
{
	if (map->inode == 0 && strcmp(map->name, "[vdso]") == 0) {
		maps->vdso_start = map->start;
		maps->vdso_end = map->end;
	} else if (map->inode == 0 && strncmp(map->name, "[vvar", 5) == 0) {
		maps->data_maps++;
		maps->data_bytes += map->end - map->start;
	} else if (map->inode != 0 && is_page(map->name, page_path)) {
		if (maps->page_maps++ == 0)
			copy_printable(maps->page_name, sizeof(maps->page_name), map->name);
	}
}

void proc_maps_read(FILE *maps, const char *page_path, struct proc_maps *ret_maps)
{
	char *line = NULL;
	size_t size = 0;
	struct map map;

	memset(ret_maps, 0, sizeof(*ret_maps));
	while (getline(&line, &size, maps) > 0) {
		if (parse(line, &map))
			take(&map, page_path, ret_maps);
	}
	free(line);
}
