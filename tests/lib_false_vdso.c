/* SPDX-License-Identifier: MIT */
/*
 * A vDSO that fails, or lies, is not used for the clocks that it fails or lies for: constants,
 * errors, an address that is not mapped, nothing at all (C01, E10, V02, V06). The image is ours.
 */
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "elf/arch/host.h"
#include "elf/vdso_names.h"
#include "lib/kernel.h"
#include "support_elf_image.h"
#include "support_lib.h"
#include "tap.h"

/* Every function of this vDSO returns result and stores nothing. */
static void set_up_with(uint32_t result)
{
	const struct vdso_names *names = vdso_names_of(ELF_HOST_MACHINE, sizeof(long) == 8);
	const char *const found[] = {names->clock_gettime, names->time, names->clock_getres,
				     names->gettimeofday};
	struct image_symbol symbols[5] = {{.name = NULL}};
	const struct image_plan plan = {.is_64 = sizeof(long) == 8,
					.machine = ELF_HOST_MACHINE,
					.hashes = VCLOCK_ELF_HASH_GNU,
					.symbols = symbols};
	static struct image image;
	unsigned i, count = 0;

	for (i = 0; i < sizeof(found) / sizeof(found[0]); i++)
		if (*found[i] != '\0')
			symbols[count++] = (struct image_symbol){
				.name = found[i], .version = names->version, .result = result};
	image_build(&image, &plan);
	memset(&lib_kernel, 0, sizeof(lib_kernel));
	kernel_set_up((unsigned long)(uintptr_t)image.bytes, true, true);
}

static int works(void)
{
	struct vclock_timespec ts, res;
	struct vclock_timeval tv;
	int wrong = 0;

	lib_process.state = LIB_NEW;
	lib_process.vdso_clocks = 0;
	wrong += support_outside(CLOCK_MONOTONIC, 100, 0, vclock_gettime64, NULL) != 0;
	wrong += support_outside(CLOCK_REALTIME, 100, 0, vclock_gettime64, NULL) != 0;
	wrong += vclock_gettime64(CLOCK_REALTIME_COARSE, &ts) != 0 || ts.tv_sec < 1000000000;
	wrong += vclock_time64(NULL) < 1000000000;
	wrong += vclock_gettimeofday64(&tv, NULL) != 0 || tv.tv_sec < 1000000000;
	wrong += vclock_getres64(CLOCK_MONOTONIC, &res) != 0 || res.tv_sec != 0;
	return wrong == 0;
}

int main(void)
{
	static const uint32_t results[] = {0, 1, (uint32_t)-38, (uint32_t)-22, 1u << 31};
	unsigned i;
	void *hole;

	for (i = 0; i < sizeof(results) / sizeof(results[0]); i++) {
		set_up_with(results[i]);
		tap_ok(lib_kernel.has_vdso && lib_kernel.vdso_clocks == 0 && works(),
		       "functions that return %d and store nothing are not used", (int)results[i]);
	}
	hole = mmap(NULL, 65536, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	munmap(hole, 65536);
	memset(&lib_kernel, 0, sizeof(lib_kernel));
	kernel_set_up((unsigned long)(uintptr_t)hole, true, true);
	tap_ok(!lib_kernel.has_vdso && works(), "an address that is not mapped");
	kernel_set_up(1, true, true);
	tap_ok(!lib_kernel.has_vdso && works(), "address 1");
	kernel_set_up(0, true, true);
	tap_ok(!lib_kernel.has_vdso && works(), "address 0");
	if (getauxval(AT_SYSINFO_EHDR) != 0) {
		kernel_set_up(getauxval(AT_SYSINFO_EHDR), true, true);
		tap_ok(lib_kernel.has_vdso && lib_kernel.vdso_clocks != 0 && works(),
		       "the kernel's own is used");
		memset(&lib_kernel, 0, sizeof(lib_kernel));
		kernel_set_up(getauxval(AT_SYSINFO_EHDR), false, true);
		tap_ok((lib_kernel.vdso_clocks & VCLOCK_BIT(VCLOCK_MONOTONIC)) == 0 && works(),
		       "but not for clocks that read the counter, where that is forbidden");
	}
	return tap_done();
}
