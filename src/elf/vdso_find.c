/* SPDX-License-Identifier: MIT */
/*
 * vdso_find.c - the functions of the running kernel's vDSO.
 *
 * Must never touch memory outside the image: with a size of 0 nothing but its first page is taken
 * for granted until its program headers have said how long it is. No libc, as in elf_image.c.
 */
#include "elf/arch/host.h"
#include "elf/elf_image.h"
#include "elf/elf_load.h"
#include "elf/vdso_names.h"

/* The smallest page of all architectures: a mapping's address is a multiple of it. */
#define VDSO_PAGE 4096u
/* The kernel's images are 2 to 4 pages; a length beyond this is no vDSO's. */
#define VDSO_SIZE_MAX ((size_t)1 << 20)

static int vdso_open(const void *address, size_t size, struct vclock_elf *ret_elf)
{
	int error;

	if (address == NULL)
		return -VCLOCK_ELF_ABSENT;
	if ((uintptr_t)address % VDSO_PAGE != 0)
		return -VCLOCK_ELF_ADDRESS;
	if (size == 0) {
		error = elf_mapped_size(address, VDSO_PAGE, VDSO_SIZE_MAX, &size);
		if (error)
			return error;
	}
	error = vclock_elf_open(address, size, 1, ret_elf);
	if (error)
		return error;
	if (ret_elf->machine != ELF_HOST_MACHINE)
		return -VCLOCK_ELF_MACHINE;
	return ret_elf->is_64 == (sizeof(void *) == 8) ? 0 : -VCLOCK_ELF_CLASS;
}

/* An image without versions is taken as it is; one with another version is not. */
static const void *vdso_function(const struct vclock_elf *elf, const struct vdso_names *names,
				 const char *name)
{
	const void *address = NULL;

	if (vclock_elf_lookup(elf, name, names->version, &address) == -VCLOCK_ELF_UNVERSIONED)
		vclock_elf_lookup(elf, name, NULL, &address);
	return address;
}

int vdso_fill(struct vclock_vdso *vdso)
{
	const struct vclock_elf *elf = &vdso->elf;
	const struct vdso_names *names = vdso_names_of(elf->machine, elf->is_64);

	if (names == NULL)
		return -VCLOCK_ELF_MACHINE;
	vdso->clock_gettime = vdso_function(elf, names, names->clock_gettime);
	vdso->clock_gettime32 = vdso_function(elf, names, names->clock_gettime32);
	vdso->gettimeofday = vdso_function(elf, names, names->gettimeofday);
	vdso->time = vdso_function(elf, names, names->time);
	vdso->clock_getres = vdso_function(elf, names, names->clock_getres);
	vdso->getcpu = vdso_function(elf, names, names->getcpu);
	return 0;
}

int vclock_vdso_find(const void *address, size_t size, struct vclock_vdso *ret_vdso)
{
	elf_clear(ret_vdso, sizeof(*ret_vdso));
	ret_vdso->error = vdso_open(address, size, &ret_vdso->elf);
	if (!ret_vdso->error)
		ret_vdso->error = vdso_fill(ret_vdso);
	return ret_vdso->error;
}
