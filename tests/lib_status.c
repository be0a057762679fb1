/* SPDX-License-Identifier: MIT */
/*
 * The sizes of the status structs: too small is -EINVAL, larger than is known is -E2BIG, nothing is
 * stored then. And the trust table over made-up sysfs folders (M04, N07, N08).
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "support_counter.h"
#include "support_lib.h"
#include "tap.h"
#include "vclock/counter.h"

static void sizes(void)
{
	struct {
		struct vclock_status status;
		uint64_t more;
	} status;
	struct {
		struct vclock_counter_status status;
		uint64_t more;
	} counter;
	int r;

	memset(&status, 0x5a, sizeof(status));
	status.status.size = sizeof(status.status) - 1;
	tap_ok(vclock_status(&status.status) == -EINVAL && status.status.has_vdso == 0x5a5a5a5a,
	       "a status that is too small");
	status.status.size = sizeof(status);
	tap_ok(vclock_status(&status.status) == -E2BIG && status.status.has_vdso == 0x5a5a5a5a,
	       "a status that is too large");
	memset(&counter, 0x5a, sizeof(counter));
	counter.status.size = sizeof(counter.status) - 1;
	tap_ok(vclock_counter_status(NULL, &counter.status) == -EINVAL &&
		       counter.status.kind == 0x5a5a5a5a,
	       "a counter status that is too small");
	counter.status.size = sizeof(counter);
	tap_ok(vclock_counter_status(NULL, &counter.status) == -E2BIG, "and one too large");
	counter.status.size = sizeof(counter.status);
	errno = 12345;
	r = vclock_counter_status(NULL, &counter.status);
	tap_ok(r == 0 && errno == 12345 && counter.status.kind == VCLOCK_COUNTER_KIND,
	       "this machine: %s, %llu Hz, %s", counter.status.current,
	       (unsigned long long)counter.status.hz, counter.status.reason);
	tap_ok(!counter.status.is_readable ||
		       (counter.status.hz > 1000 && counter.status.hz < UINT64_C(100000000000)),
	       "a rate that there can be");
}

static void write_line(const char *folder, const char *name, const char *text)
{
	char path[400], words[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (file == NULL)
		abort();
	fputs(counter_words(text, words, sizeof(words)), file);
	fclose(file);
}

static enum vclock_trust trust(const char *name, const char *current, const char *available)
{
	static const char *const parts[] = {"", "/devices", "/devices/system",
					    "/devices/system/clocksource",
					    "/devices/system/clocksource/clocksource0"};
	struct vclock_counter_status status = {.size = sizeof(status)};
	char root[200], path[300];
	unsigned i;

	snprintf(root, sizeof(root), "%s", support_path(name));
	for (i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(path, sizeof(path), "%s%s", root, parts[i]);
		mkdir(path, 0755);
	}
	if (current != NULL)
		write_line(path, "current_clocksource", current);
	if (available != NULL)
		write_line(path, "available_clocksource", available);
	if (vclock_counter_status(root, &status) != 0 || status.reason[0] == '\0')
		return (enum vclock_trust)99;
	return (enum vclock_trust)status.trust;
}

static void table(void)
{
	tap_ok(trust("a", "@\n", "@ kvm-clock\n") == VCLOCK_TRUST_FULL, "the counter is current");
	tap_ok(trust("b", "kvm-clock\n", "kvm-clock @\n") == VCLOCK_TRUST_PROVE, "kvm-clock");
	tap_ok(trust("c", "kvm-clock\n", "kvm-clock\n") == VCLOCK_TRUST_NEVER,
	       "the counter is not listed");
	tap_ok(trust("d", "hpet\n", "hpet acpi_pm\n") == VCLOCK_TRUST_NEVER,
	       "hpet, the counter is not listed");
	tap_ok(trust("e", "hpet\n", "@ hpet acpi_pm\n") == VCLOCK_TRUST_WATCHED, "hpet by choice");
	tap_ok(trust("f", "xen\n", "xen @\n") == VCLOCK_TRUST_WATCHED, "xen");
	tap_ok(trust("g", "tsc-early\n", "tsc-early hpet\n") == VCLOCK_TRUST_WAIT, "tsc-early");
	tap_ok(trust("h", NULL, "@\n") == VCLOCK_TRUST_NEVER, "no current one");
	tap_ok(trust("i", "@\n", NULL) == VCLOCK_TRUST_NEVER, "no list");
	tap_ok(trust("j", "", "") == VCLOCK_TRUST_NEVER, "empty files");
	tap_ok(trust("k", "@x\n", "x@ @x\n") == VCLOCK_TRUST_NEVER, "names that are like it");
}

int main(void)
{
	sizes();
	table();
	return tap_done();
}
