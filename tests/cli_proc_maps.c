/* SPDX-License-Identifier: MIT */
/*
 * /proc/PID/maps as it looks on different kernels, and as a hostile process makes it look: cases
 * V07, V09 and V10. The parser is a part of the tool, and is compiled in here.
 */
#include "../src/cli/proc_maps.c"
#include "tap.h"

#define PATH "/run/vclock/page"

static struct proc_maps read_text(const char *text)
{
	struct proc_maps maps;
	FILE *file = tmpfile();

	if (file == NULL || fputs(text, file) < 0)
		exit(1);
	rewind(file);
	proc_maps_read(file, PATH, &maps);
	fclose(file);
	return maps;
}

static void kernels(void)
{
	struct proc_maps maps;

	maps = read_text("7f6cd513f000-7f6cd5143000 r--p 00000000 00:00 0   [vvar]\n"
			 "7f6cd5143000-7f6cd5145000 r--p 00000000 00:00 0   [vvar_vclock]\n"
			 "7f6cd5145000-7f6cd5147000 r-xp 00000000 00:00 0   [vdso]\n");
	tap_ok(maps.vdso_start == 0x7f6cd5145000 && maps.vdso_end == 0x7f6cd5147000 &&
		       maps.data_maps == 2 && maps.data_bytes == 0x6000,
	       "two data mappings");
	maps = read_text("7fff00000000-7fff00004000 r--p 00000000 00:00 0   [vvar]\n"
			 "7fff00004000-7fff00006000 r-xp 00000000 00:00 0   [vdso]\n");
	tap_ok(maps.data_maps == 1 && maps.vdso_end == 0x7fff00006000, "one data mapping");
	maps = read_text("7fff00004000-7fff00005000 r-xp 00000000 00:00 0   [vdso]\n"
			 "7fff00005000-7fff00006000 r--p 00000000 00:00 0   [vvar]\n");
	tap_ok(maps.vdso_end == 0x7fff00005000 && maps.data_bytes == 0x1000, "data after it");
	maps = read_text("f7fc0000-f7fc2000 r-xp 00000000 00:00 0          [vdso]\n");
	tap_ok(maps.vdso_start == 0xf7fc0000 && maps.data_maps == 0, "32-bit, no data mapping");
	maps = read_text("08048000-08049000 r-xp 00000000 08:01 99 /bin/true\n");
	tap_ok(maps.vdso_start == 0 && maps.vdso_end == 0 && maps.data_maps == 0, "none");
	maps = read_text("");
	tap_ok(maps.vdso_end == 0 && maps.page_maps == 0, "an empty file");
	/* The vDSO ends where the next object begins: still two things. */
	maps = read_text("7ffe00000000-7ffe00002000 r-xp 00000000 00:00 0 [vdso]\n"
			 "7ffe00002000-7ffe00003000 r-xp 00000000 08:01 12 /usr/bin/next\n");
	tap_ok(maps.vdso_end == 0x7ffe00002000, "its neighbour is not a part of it");
}

static void hostile(void)
{
	struct proc_maps maps;
	char name[512];

	maps = read_text("10000-11000 r-xp 00000000 08:01 77 /var/lib/[vdso]\n"
			 "20000-21000 r-xp 00000000 08:01 78 [vdso]\n"
			 "30000-31000 r--p 00000000 08:01 79 [vvar]\n");
	tap_ok(maps.vdso_end == 0 && maps.data_maps == 0, "files with such names are not taken");
	maps = read_text("garbage\n\n-\n0-0 r 0 0 0\n11000-10000 r-xp 00000000 00:00 0 [vdso]\n"
			 "zz-zz\n7ffe00000000-7ffe00002000\n");
	tap_ok(maps.vdso_end == 0, "lines that are no mappings are passed over");
	snprintf(name, sizeof(name), "10000-11000 r--s 00000000 00:01 5 /memfd:vclock%0400d\n", 1);
	maps = read_text(name);
	tap_ok(maps.page_maps == 1 && strlen(maps.page_name) == sizeof(maps.page_name) - 1,
	       "a long name is cut");
	maps = read_text("10000-11000 r--s 00000000 00:01 5 /memfd:vclock\033[31m\n");
	tap_ok(strchr(maps.page_name, '\033') == NULL, "control characters do not get through");
}

static void pages(void)
{
	struct proc_maps maps;

	maps = read_text("10000-11000 r--s 00000000 00:15 5 " PATH "\n"
			 "20000-21000 r--s 00000000 00:15 6 " PATH "_other\n");
	tap_ok(maps.page_maps == 1 && strcmp(maps.page_name, PATH) == 0, "the machine's page");
	maps = read_text("10000-11000 r--s 00000000 00:15 5 " PATH " (deleted)\n");
	tap_ok(maps.page_maps == 1, "one that was replaced");
	maps = read_text("10000-11000 r--s 00000000 00:01 5 /memfd:vclock-page (deleted)\n");
	tap_ok(maps.page_maps == 1, "a private one");
	maps = read_text("10000-11000 rw-p 00000000 00:00 0 \n"
			 "20000-21000 r--p 00000000 08:01 5 /usr/lib/libvclock.so.0\n");
	tap_ok(maps.page_maps == 0, "the library is none");
}

int main(void)
{
	kernels();
	hostile();
	pages();
	return tap_done();
}
