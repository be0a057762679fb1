/* SPDX-License-Identifier: MIT */
/* trust.c - see trust.h. sysfs text is hostile input. */
#include "publish/trust.h"

#include "vclock/counter.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define CLOCKSOURCE "devices/system/clocksource/clocksource0"

/* The kernel's name for each kind of counter, by enum vclock_counter_kind. */
static const char *const counter_names[] = {
	[VCLOCK_COUNTER_NONE] = NULL,
	[VCLOCK_COUNTER_TSC] = "tsc",
	[VCLOCK_COUNTER_CNTVCT] = "arch_sys_counter",
	[VCLOCK_COUNTER_RISCV] = "riscv_clocksource",
};

static const struct {
	const char *current;
	enum vclock_trust verdict;
	const char *reason;
} table[] = {
	{"kvm-clock", VCLOCK_TRUST_PROVE,
	 "the kernel lists the counter, but keeps time by the hypervisor's clock: the page is used "
	 "once both have agreed for 10 s"},
	{"hyperv_clocksource_tsc_page", VCLOCK_TRUST_PROVE,
	 "the kernel lists the counter, but keeps time by the hypervisor's clock: the page is used "
	 "once both have agreed for 10 s"},
	{"hpet", VCLOCK_TRUST_WATCHED,
	 "the kernel lists the counter, but keeps time by the HPET: the page is used until they "
	 "disagree"},
	{"acpi_pm", VCLOCK_TRUST_WATCHED,
	 "the kernel lists the counter, but keeps time by the ACPI PM timer: the page is used "
	 "until "
	 "they disagree"},
	{"xen", VCLOCK_TRUST_WATCHED,
	 "the kernel lists the counter, but keeps time by Xen's clock: the page is used until they "
	 "disagree"},
	/* Between two ticks the kernel's clock stands still: what runs on cannot agree with it. */
	{"jiffies", VCLOCK_TRUST_NEVER,
	 "the kernel keeps time by its tick, in steps of milliseconds: a page cannot agree with "
	 "it"},
	{"refined-jiffies", VCLOCK_TRUST_NEVER,
	 "the kernel keeps time by its tick, in steps of milliseconds: a page cannot agree with "
	 "it"},
};

static int lists(const char *available, const char *name)
{
	size_t length = strlen(name);
	const char *at = available;

	while ((at = strstr(at, name)) != NULL) {
		if ((at == available || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
			return 1;
		at += length;
	}
	return 0;
}

enum vclock_trust trust_judge(const char *current, const char *available, const char **ret_reason)
{
	const char *name = counter_names[VCLOCK_COUNTER_KIND];
	size_t i;

	*ret_reason = "the kernel's list of clocksources cannot be read";
	if (current == NULL || available == NULL || *current == '\0' || *available == '\0')
		return VCLOCK_TRUST_NEVER;
	if (strcmp(current, "tsc-early") == 0) {
		*ret_reason = "the kernel is still measuring the counter (tsc-early): ask again in "
			      "some seconds";
		return VCLOCK_TRUST_WAIT;
	}
	*ret_reason =
		"the kernel does not list the counter as a clocksource: it found it unstable, "
		"was told not to use it, or knows of none";
	if (!lists(available, name))
		return VCLOCK_TRUST_NEVER;
	*ret_reason = "the counter is the kernel's clocksource";
	if (strcmp(current, name) == 0)
		return VCLOCK_TRUST_FULL;
	for (i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(current, table[i].current) == 0) {
			*ret_reason = table[i].reason;
			return table[i].verdict;
		}
	}
	*ret_reason = "the kernel keeps time by a clocksource that vclock does not know";
	return VCLOCK_TRUST_NEVER;
}

/* One line of printable text, single spaces; false when it is missing, empty or too long. */
static bool read_line(const char *sysfs, const char *name, char *ret_text, size_t size)
{
	char path[512], *end;
	ssize_t length = -1;
	int fd;

	ret_text[0] = '\0';
	if ((size_t)snprintf(path, sizeof(path), "%s/" CLOCKSOURCE "/%s", sysfs, name) >=
	    sizeof(path))
		return false;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return false;
	length = read(fd, ret_text, size);
	close(fd);
	if (length <= 0 || (size_t)length >= size) {
		ret_text[0] = '\0';
		return false;
	}
	ret_text[length] = '\0';
	end = ret_text + strcspn(ret_text, "\n");
	while (end > ret_text && end[-1] == ' ')
		end--;
	*end = '\0';
	for (end = ret_text; *end != '\0'; end++)
		if (!isprint((unsigned char)*end))
			*end = '?';
	return ret_text[0] != '\0';
}

void trust_read(const char *sysfs, struct trust *ret_trust)
{
	int saved = errno;
	const char *root = sysfs != NULL ? sysfs : "/sys";
	bool has_current = read_line(root, "current_clocksource", ret_trust->current,
				     sizeof(ret_trust->current));
	bool has_available = read_line(root, "available_clocksource", ret_trust->available,
				       sizeof(ret_trust->available));

	ret_trust->verdict = trust_judge(has_current ? ret_trust->current : NULL,
					 has_available ? ret_trust->available : NULL,
					 &ret_trust->reason);
	errno = saved;
}
