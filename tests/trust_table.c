/* SPDX-License-Identifier: MIT */
/*
 * The trust table: whether the counter may be used, after the kernel's list of clocksources. Text
 * from sysfs that is missing, cut off or strange is never taken for trust.
 */
#include "publish/trust.h"

#include "support_counter.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORDS(text, buffer) counter_words(text, buffer, sizeof(buffer))

static const struct row {
	const char *current, *available;
	enum vclock_trust verdict;
} rows[] = {
	{"@", "@ hpet acpi_pm", VCLOCK_TRUST_FULL},
	{"@", "@", VCLOCK_TRUST_FULL},
	{"tsc-early", "tsc-early hpet acpi_pm", VCLOCK_TRUST_WAIT},
	{"kvm-clock", "kvm-clock @ hpet acpi_pm", VCLOCK_TRUST_PROVE},
	{"hyperv_clocksource_tsc_page", "hyperv_clocksource_tsc_page @ acpi_pm",
	 VCLOCK_TRUST_PROVE},
	{"hpet", "@ hpet acpi_pm", VCLOCK_TRUST_WATCHED},
	{"acpi_pm", "@ hpet acpi_pm", VCLOCK_TRUST_WATCHED},
	{"xen", "xen @", VCLOCK_TRUST_WATCHED},
	/* The counter is not listed. */
	{"kvm-clock", "kvm-clock acpi_pm", VCLOCK_TRUST_NEVER},
	{"hpet", "hpet acpi_pm", VCLOCK_TRUST_NEVER},
	{"acpi_pm", "acpi_pm", VCLOCK_TRUST_NEVER},
	{"xen", "xen", VCLOCK_TRUST_NEVER},
	{"@", "hpet acpi_pm", VCLOCK_TRUST_NEVER},
	/* A part of a name is not the name. */
	{"hpet", "@-early hpet", VCLOCK_TRUST_NEVER},
	{"hpet", "x@ hpet", VCLOCK_TRUST_NEVER},
	{"hpet", "hpet ts", VCLOCK_TRUST_NEVER},
	/* The kernel's clock stands still between ticks. */
	{"jiffies", "@ hpet acpi_pm refined-jiffies jiffies", VCLOCK_TRUST_NEVER},
	{"refined-jiffies", "@ refined-jiffies", VCLOCK_TRUST_NEVER},
	/* Unreadable, or unknown. */
	{NULL, NULL, VCLOCK_TRUST_NEVER},
	{"@", NULL, VCLOCK_TRUST_NEVER},
	{NULL, "@ hpet", VCLOCK_TRUST_NEVER},
	{"", "@ hpet", VCLOCK_TRUST_NEVER},
	{"@", "", VCLOCK_TRUST_NEVER},
	{"sundial", "sundial @", VCLOCK_TRUST_NEVER},
};

static void judge_rows(void)
{
	const char *reason;
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char buffers[2][128];
		const char *current = WORDS(rows[i].current, buffers[0]);
		const char *available = WORDS(rows[i].available, buffers[1]);
		enum vclock_trust verdict;

		reason = NULL;
		verdict = trust_judge(current, available, &reason);
		tap_ok(verdict == rows[i].verdict && reason != NULL && *reason != '\0',
		       "\"%s\" of \"%s\": %d, %s", current != NULL ? current : "-",
		       available != NULL ? available : "-", (int)verdict,
		       reason != NULL ? reason : "no reason");
	}
}

static char folder[] = "/tmp/vclock-trust-XXXXXX";
static const char *const parts[] = {"/devices", "/system", "/clocksource", "/clocksource0"};
static const char deepest[] = "/devices/system/clocksource/clocksource0";

static void path_of(const char *name, char *ret_path, size_t size)
{
	snprintf(ret_path, size, "%s%s/%s", folder, deepest, name);
}

/* size bytes of text; NULL: no such file. */
static void put(const char *name, const char *text, size_t size)
{
	char path[256];
	FILE *file;

	path_of(name, path, sizeof(path));
	unlink(path);
	if (text == NULL)
		return;
	file = fopen(path, "w");
	if (file != NULL) {
		fwrite(text, 1, size, file);
		fclose(file);
	}
}

static void read_one(const char *current, const char *available, enum vclock_trust want,
		     const char *what)
{
	struct trust trust;
	char buffers[2][16384];

	current = WORDS(current, buffers[0]);
	available = WORDS(available, buffers[1]);
	put("current_clocksource", current, current != NULL ? strlen(current) : 0);
	put("available_clocksource", available, available != NULL ? strlen(available) : 0);
	memset(&trust, 'x', sizeof(trust));
	trust_read(folder, &trust);
	tap_ok(trust.verdict == want && memchr(trust.current, 0, sizeof(trust.current)) != NULL &&
		       memchr(trust.available, 0, sizeof(trust.available)) != NULL,
	       "%s: %d, \"%.31s\"", what, (int)trust.verdict, trust.current);
}

static int make_folder(void)
{
	char path[256];
	size_t i;

	if (mkdtemp(folder) == NULL)
		return -1;
	snprintf(path, sizeof(path), "%s", folder);
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		strcat(path, parts[i]);
		if (mkdir(path, 0700) != 0)
			return -1;
	}
	return 0;
}

static void remove_folder(void)
{
	char path[256];
	char *end;

	put("current_clocksource", NULL, 0);
	put("available_clocksource", NULL, 0);
	snprintf(path, sizeof(path), "%s%s", folder, deepest);
	while (strlen(path) >= strlen(folder) && rmdir(path) == 0) {
		end = strrchr(path, '/');
		*end = '\0';
	}
}

static void read_files(void)
{
	static char large[8192];

	memset(large, 'a', sizeof(large) - 1);
	read_one("@\n", "@ hpet acpi_pm \n", VCLOCK_TRUST_FULL, "as sysfs has them");
	read_one("hpet\n", "@ hpet acpi_pm \n", VCLOCK_TRUST_WATCHED, "another is current");
	read_one("@", "@", VCLOCK_TRUST_FULL, "no newline");
	read_one("\n", "@\n", VCLOCK_TRUST_NEVER, "an empty line");
	read_one("", "", VCLOCK_TRUST_NEVER, "empty files");
	read_one(NULL, "@\n", VCLOCK_TRUST_NEVER, "no current_clocksource");
	read_one("@\n", NULL, VCLOCK_TRUST_NEVER, "no available_clocksource");
	read_one(large, "@\n", VCLOCK_TRUST_NEVER, "8 KB for a name");
	read_one("@\n", large, VCLOCK_TRUST_NEVER, "8 KB for the list");
	read_one("t\1c\n", "t\1c @\n", VCLOCK_TRUST_NEVER, "control characters");
}

int main(void)
{
	struct trust trust;

	judge_rows();
	if (tap_ok(make_folder() == 0, "a folder like sysfs"))
		read_files();
	remove_folder();
	trust_read("/nowhere", &trust);
	tap_ok(trust.verdict == VCLOCK_TRUST_NEVER && trust.current[0] == '\0', "no sysfs");
	return tap_done();
}
