/* SPDX-License-Identifier: MIT */
/*
 * info_vdso.c - the kernel's vDSO in words.
 */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/info.h"

/* A kernel's own names begin so; the plain ones are aliases of them. */
static bool is_kernel_name(const char *name)
{
	return strncmp(name, "__vdso_", 7) == 0 || strncmp(name, "__kernel_", 9) == 0;
}

static char *append(char *list, const char *separator, char *more)
{
	char *longer = cli_format("%s%s%s", list, *list != '\0' ? separator : "", more);

	free(list);
	free(more);
	return longer;
}

static const char *after_prefix(const char *name)
{
	return strchr(name + 2, '_') + 1;
}

/* A function by another name than its plain one is none; _gettime64 is clock_gettime's. */
static bool has_symbol(const struct vclock_elf *elf, const char *function)
{
	struct vclock_elf_symbol symbol;
	uint64_t i;

	for (i = 0; i < elf->symtab_count; i++) {
		if (vclock_elf_symbol(elf, i, &symbol) == 0 && is_kernel_name(symbol.name) &&
		    strncmp(after_prefix(symbol.name), function, strlen(function)) == 0)
			return true;
	}
	return false;
}

static char *append_missing(char *list, const struct vclock_vdso *vdso, const void *address,
			    const char *function)
{
	if (address != NULL)
		return list;
	return append(list, "; ",
		      cli_format("%s: %s", function,
				 has_symbol(&vdso->elf, function)
					 ? "present, but of another version or type, and unused"
					 : "missing"));
}

char *info_vdso_list(const struct vclock_vdso *vdso)
{
	struct vclock_elf_symbol symbol;
	char *list = cli_format("%s", "");
	uint64_t i;

	if (vdso->error != 0)
		return append(list, "", cli_format("none: %s", vclock_elf_strerror(vdso->error)));
	for (i = 0; i < vdso->elf.symtab_count; i++) {
		if (vclock_elf_symbol(&vdso->elf, i, &symbol) != 0 ||
		    !is_kernel_name(symbol.name) || symbol.value == 0)
			continue;
		list = append(list, ", ",
			      cli_format("%s%s%s", symbol.name, symbol.version != NULL ? "@" : "",
					 symbol.version != NULL ? symbol.version : ""));
	}
	list = append_missing(list, vdso, vdso->clock_gettime, "clock_gettime");
	list = append_missing(list, vdso, vdso->gettimeofday, "gettimeofday");
	list = append_missing(list, vdso, vdso->time, "time");
	list = append_missing(list, vdso, vdso->clock_getres, "clock_getres");
	return append_missing(list, vdso, vdso->getcpu, "getcpu");
}
