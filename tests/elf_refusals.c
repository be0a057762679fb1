/* SPDX-License-Identifier: MIT */
/*
 * What is no vDSO is refused with a reason that says why, and a null or crooked address is refused
 * before anything is read there.
 */
#include <string.h>
#include <sys/mman.h>

#include "elf/arch/host.h"
#include "support_elf_image.h"
#include "tap.h"

#define HOST_IS_64 (sizeof(void *) == 8)

static void expect_open(const void *bytes, size_t size, int want, const char *what)
{
	struct vclock_elf elf = {.size = 77};
	int r = vclock_elf_open(bytes, size, 0, &elf);

	tap_ok(r == -want && elf.size == 77, "%s: %s", what, vclock_elf_strerror(r));
}

static void expect_find(const void *address, size_t size, int want, const char *what)
{
	struct vclock_vdso vdso;
	int r;

	memset(&vdso, 0xff, sizeof(vdso));
	r = vclock_vdso_find(address, size, &vdso);
	tap_ok(r == -want && vdso.error == r && vdso.clock_gettime == NULL && vdso.getcpu == NULL,
	       "%s: %s", what, vclock_elf_strerror(r));
}

static void check_files(int is_64)
{
	struct image image;

	image_build_vdso(&image, is_64, VCLOCK_ELF_HASH_SYSV);
	expect_open(image.bytes, 0, VCLOCK_ELF_TRUNCATED, "an empty file");
	expect_open(image.bytes, 3, VCLOCK_ELF_TRUNCATED, "3 bytes");
	expect_open(image.bytes, is_64 ? 63 : 51, VCLOCK_ELF_TRUNCATED, "a header less a byte");
	expect_open(image.bytes, image.dynamic + 20, VCLOCK_ELF_TRUNCATED,
		    "a file cut in the middle of the dynamic section");
	image.bytes[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	expect_open(image.bytes, image.size, VCLOCK_ELF_BYTE_ORDER, "the other byte order");
	image.bytes[EI_DATA] ^= ELFDATA2LSB ^ ELFDATA2MSB;
	image.bytes[EI_CLASS] = 3;
	expect_open(image.bytes, image.size, VCLOCK_ELF_CLASS, "class 3");
	image.bytes[EI_CLASS] = is_64 ? ELFCLASS64 : ELFCLASS32;
	image_set(&image, 0, Ehdr, e_type, ET_EXEC);
	expect_open(image.bytes, image.size, VCLOCK_ELF_TYPE, "ET_EXEC");
	memset(image.bytes, 0, image.size);
	expect_open(image.bytes, image.size, VCLOCK_ELF_NOT_ELF, "a page of zeros");
	memcpy(image.bytes, "#!/bin/sh\nexit\n", 15);
	expect_open(image.bytes, 15, VCLOCK_ELF_NOT_ELF, "a text");
	image_free(&image);
}

static void check_machines(void)
{
	static const struct image_symbol symbols[] = {
		{.name = "__kernel_clock_gettime", .version = "LINUX_2.6.39"},
		{.name = NULL},
	};
	struct image_plan plan = {.is_64 = HOST_IS_64, .machine = EM_S390, .symbols = symbols};
	const void *address;
	struct vclock_elf elf;
	struct image image;

	image_build(&image, &plan);
	expect_find(image.bytes, image.size, VCLOCK_ELF_MACHINE, "another machine's image");
	tap_ok(image_open(&image, 0, &elf) == 0 && elf.machine == EM_S390 &&
		       vclock_elf_lookup(&elf, "__kernel_clock_gettime", "LINUX_2.6.39",
					 &address) == 0,
	       "which can still be looked into as a file");
	image_free(&image);

	image_build_vdso(&image, !HOST_IS_64, VCLOCK_ELF_HASH_SYSV);
	expect_find(image.bytes, image.size, VCLOCK_ELF_MACHINE, "the other class's image");
	image_set(&image, 0, Ehdr, e_machine, ELF_HOST_MACHINE);
	expect_find(image.bytes, image.size, VCLOCK_ELF_CLASS, "the other class, this machine");
	image_set(&image, 0, Ehdr, e_machine, HOST_IS_64 ? EM_386 : EM_X86_64);
	tap_ok(image_open(&image, 0, &elf) == 0 && elf.is_64 == !HOST_IS_64,
	       "which can still be looked into as a file");
	image_free(&image);
}

/* V02 */
static void check_addresses(void)
{
	struct image image;

	image_build_vdso(&image, HOST_IS_64, VCLOCK_ELF_HASH_SYSV);
	expect_find(NULL, 0, VCLOCK_ELF_ABSENT, "address 0");
	expect_find((const void *)1, 0, VCLOCK_ELF_ADDRESS, "address 1");
	expect_find((const void *)(UINTPTR_MAX - 1), 0, VCLOCK_ELF_ADDRESS, "address -2");
	expect_find(image.bytes + 8, 0, VCLOCK_ELF_ADDRESS, "an address within a page");
	image_free(&image);
}

/* Size 0: the image's own headers say how long it is, and nothing behind it is touched. */
static void check_own_size(void)
{
	size_t page = 4096, size;
	const void *address = NULL;
	unsigned char *room;
	struct vclock_vdso vdso;
	struct image image;

	image_build_vdso(&image, HOST_IS_64, VCLOCK_ELF_HASH_SYSV);
	image_set(&image, 0, Ehdr, e_machine, ELF_HOST_MACHINE);
	size = (image.size + page - 1) / page * page;
	room = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memcpy(room, image.bytes, image.size);
	mprotect(room + size, page, PROT_NONE);
	tap_ok(vclock_vdso_find(room, 0, &vdso) == 0 && vdso.elf.size == image.size &&
		       vclock_elf_lookup(&vdso.elf, "__vdso_time", NULL, &address) == 0 &&
		       address == room + image.text + 2 * IMAGE_CODE_STEP,
	       "the image's length is its PT_LOAD's");
	memset(room, 0, page);
	expect_find(room, 0, VCLOCK_ELF_NOT_ELF, "a page of zeros in memory");
	memcpy(room, image.bytes, image.size);
	memcpy(image.bytes, room, image.size);
	image_set(&image, image.load, Phdr, p_memsz, 1 << 30);
	expect_find(image.bytes, 0, VCLOCK_ELF_CORRUPT, "a PT_LOAD of 1 GiB");
	munmap(room, size + page);
	image_free(&image);
}

int main(void)
{
	/* E18 */
	check_files(0);
	check_files(1);
	check_machines();
	check_addresses();
	check_own_size();
	return tap_done();
}
