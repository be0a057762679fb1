/* SPDX-License-Identifier: MIT */
/*
 * info_cure.c - what a clocksource means, and which one to choose instead and when that is safe.
 *
 * Advice for people only: nothing here decides whether a page is used. See the trust table for
 * that.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/info.h"

#define SYSFS_FILE "/sys/devices/system/clocksource/clocksource0/current_clocksource"

/* What the counter is called among the clocksources; the first that is listed is meant. */
static const char *const counters[] = {"tsc", "arch_sys_counter", "riscv_clocksource"};

enum advice { FAST, SLOW, WAIT };

struct row {
	const char *name;
	enum advice advice;
	const char *means;
	const char *safe; /* when the counter is a safe choice instead; NULL: no change is needed */
};

static const struct row rows[] = {
	{"tsc", FAST, "the CPU's counter itself: the kernel's vDSO answers without a system call",
	 NULL},
	{"arch_sys_counter", FAST,
	 "the CPU's counter itself: the kernel's vDSO answers without a system call", NULL},
	{"riscv_clocksource", FAST,
	 "the CPU's counter itself: the kernel's vDSO answers without a system call", NULL},
	{"tsc-early", WAIT, "the kernel is still measuring the counter: look again in some seconds",
	 NULL},
	{"kvm-clock", FAST,
	 "the hypervisor's clock over the counter: the vDSO answers without a system call while "
	 "the "
	 "host calls it stable, a little slower than by tsc",
	 "the host's counter is invariant (flags constant_tsc and nonstop_tsc in /proc/cpuinfo) "
	 "and "
	 "this machine is not moved to hosts with another counter rate"},
	{"hyperv_clocksource_tsc_page", FAST,
	 "Hyper-V's clock over the counter: the vDSO answers without a system call", NULL},
	{"hyperv_clocksource_msr", SLOW,
	 "Hyper-V's clock by a register that traps to the host: every read is a system call and "
	 "more",
	 "the host offers an invariant counter (flags constant_tsc and nonstop_tsc in "
	 "/proc/cpuinfo)"},
	{"xen", SLOW, "Xen's clock has no vDSO path: every read is a system call",
	 "the host does not emulate the counter (flags constant_tsc and nonstop_tsc in "
	 "/proc/cpuinfo) and this machine is not moved while it runs, as on cloud machines of that "
	 "kind"},
	{"hpet", SLOW,
	 "the HPET has no vDSO path: every read is a system call and a slow device access",
	 "nobody chose hpet because the counter had gone wrong: `dmesg | grep -i tsc` tells"},
	{"acpi_pm", SLOW,
	 "the ACPI PM timer has no vDSO path: every read is a system call and a very slow port "
	 "access",
	 "nobody chose acpi_pm because the counter had gone wrong: `dmesg | grep -i tsc` tells"},
	{"jiffies", SLOW,
	 "the kernel's tick: every read is a system call, and time moves in steps of a tick",
	 "nobody chose it because the counter had gone wrong: `dmesg | grep -i tsc` tells"},
	{"refined-jiffies", SLOW,
	 "the kernel's tick: every read is a system call, and time moves in steps of a tick",
	 "nobody chose it because the counter had gone wrong: `dmesg | grep -i tsc` tells"},
};

#define ROWS (sizeof(rows) / sizeof(rows[0]))

/* Whether a name stands in a list of names with blanks between. */
static bool lists(const char *list, const char *name)
{
	size_t length;

	while (*list != '\0') {
		length = strcspn(list, " ");
		if (length == strlen(name) && strncmp(list, name, length) == 0)
			return true;
		list += length + (list[length] == ' ');
	}
	return false;
}

static const char *listed_counter(const char *available)
{
	size_t i;

	for (i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
		if (lists(available, counters[i]))
			return counters[i];
	}
	return NULL;
}

static char *choose_counter(const char *counter, const char *safe)
{
	return cli_format("`echo %s > " SYSFS_FILE "` as root (for good: clocksource=%s on the "
			  "kernel's command line). Safe when %s.",
			  counter, counter, safe);
}

/* The kernel took the counter from its list: telling it otherwise is for those who know why. */
static char *counter_is_gone(bool is_slow)
{
	return cli_format(
		"The kernel does not list the counter: it found it unstable, or was started with "
		"tsc=unstable or notsc (`dmesg | grep -i tsc`, /proc/cmdline). %s Do not force "
		"it back with tsc=reliable unless you know that all CPUs' counters agree: time "
		"would go wrong.",
		is_slow ? "A firmware or hypervisor update often cures it."
			: "The present clocksource is the right one then.");
}

void info_cure_find(const char *current, const char *available, struct info_cure *ret_cure)
{
	const char *counter = listed_counter(available);
	const struct row *row = rows;

	while (row < rows + ROWS && strcmp(row->name, current) != 0)
		row++;
	memset(ret_cure, 0, sizeof(*ret_cure));
	ret_cure->cure = cli_format("%s", "");
	if (*current == '\0') {
		ret_cure->means = "the kernel's clocksource cannot be read: is sysfs mounted?";
		return;
	}
	if (row == rows + ROWS) {
		ret_cure->means = "a clocksource that vclock does not know";
		return;
	}
	ret_cure->is_known = true;
	ret_cure->is_slow = row->advice == SLOW;
	ret_cure->means = row->means;
	if (row->safe == NULL)
		return;
	free(ret_cure->cure);
	ret_cure->cure = counter != NULL ? choose_counter(counter, row->safe)
					 : counter_is_gone(row->advice == SLOW);
}
