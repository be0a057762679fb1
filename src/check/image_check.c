/* SPDX-License-Identifier: MIT */
/*
 * image_check.c - see image_check.h.
 *
 * Reads the file by the structs of <elf.h> for its class, after each was found to lie in it. Must
 * never write to the file's bytes, nor take one of its numbers as a bound for a walk.
 */
#include "check/image_check.h"

#include <elf.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "check/image_unwind.h"
#include "image/process_page.h"

#define BRANCHES_MAX 64
#define SECTIONS_MAX 64
#define PHDRS_MAX 16
#define SYMBOLS_MAX 256

struct file {
	struct image_check *check;
	const unsigned char *bytes;
	size_t size;
	struct vclock_elf elf;
	const struct image_machine *machine;
	uint64_t phoff, shoff, entry;
	unsigned phnum, shnum, shstrndx, shentsize;
};

struct segment {
	uint32_t type, flags;
	uint64_t offset, vaddr, filesz, memsz;
};

struct section {
	char name[24];
	uint32_t type;
	uint64_t flags, address, offset, size;
};

/* An export: its version, and whether it is weak. */
struct image_export {
	const char *name, *version;
	uint8_t bind;
};

struct image_machine {
	uint16_t machine;
	uint8_t is_64;
	uint8_t needs_decoder; /* instructions have no fixed grid */
	uint64_t unit;
	const char *soname;
	const char *entry;		    /* the function at e_entry; NULL: e_entry is 0 */
	const struct image_export *exports; /* ended by a NULL name */
};

#define VCLOCK_EXPORTS(prefix)                                              \
	{prefix "clock_gettime_realtime", "VCLOCK_1", STB_GLOBAL},          \
		{prefix "clock_gettime_monotonic", "VCLOCK_1", STB_GLOBAL}, \
		{prefix "clock_gettime_boottime", "VCLOCK_1", STB_GLOBAL},  \
		{prefix "clock_gettime_tai", "VCLOCK_1", STB_GLOBAL},       \
	{                                                                   \
		NULL, NULL, 0                                               \
	}

#define BOTH(name)                                 \
	{"__vdso_" name, "LINUX_2.6", STB_GLOBAL}, \
	{                                          \
		name, "LINUX_2.6", STB_WEAK        \
	}

static const struct image_export exports_x86_64[] = {
	BOTH("clock_gettime"),	   BOTH("gettimeofday"), BOTH("time"),
	BOTH("clock_getres"),	   BOTH("getcpu"),	 BOTH("getrandom"),
	VCLOCK_EXPORTS("__vdso_"),
};

static const struct image_export exports_i386[] = {
	{"__vdso_clock_gettime", "LINUX_2.6", STB_GLOBAL},
	{"__vdso_clock_gettime64", "LINUX_2.6", STB_GLOBAL},
	{"__vdso_gettimeofday", "LINUX_2.6", STB_GLOBAL},
	{"__vdso_time", "LINUX_2.6", STB_GLOBAL},
	{"__vdso_clock_getres", "LINUX_2.6", STB_GLOBAL},
	{"__vdso_getcpu", "LINUX_2.6", STB_GLOBAL},
	{"__kernel_vsyscall", "LINUX_2.5", STB_GLOBAL},
	{"__kernel_sigreturn", "LINUX_2.5", STB_GLOBAL},
	{"__kernel_rt_sigreturn", "LINUX_2.5", STB_GLOBAL},
	VCLOCK_EXPORTS("__vdso_"),
};

static const struct image_export exports_aarch64[] = {
	{"__kernel_clock_gettime", "LINUX_2.6.39", STB_GLOBAL},
	{"__kernel_gettimeofday", "LINUX_2.6.39", STB_GLOBAL},
	{"__kernel_clock_getres", "LINUX_2.6.39", STB_GLOBAL},
	{"__kernel_getrandom", "LINUX_2.6.39", STB_GLOBAL},
	{"__kernel_rt_sigreturn", "LINUX_2.6.39", STB_GLOBAL},
	VCLOCK_EXPORTS("__kernel_"),
};

static const struct image_export exports_riscv64[] = {
	{"__vdso_clock_gettime", "LINUX_4.15", STB_GLOBAL},
	{"__vdso_gettimeofday", "LINUX_4.15", STB_GLOBAL},
	{"__vdso_clock_getres", "LINUX_4.15", STB_GLOBAL},
	{"__vdso_getcpu", "LINUX_4.15", STB_GLOBAL},
	{"__vdso_rt_sigreturn", "LINUX_4.15", STB_GLOBAL},
	VCLOCK_EXPORTS("__vdso_"),
};

static const struct image_machine machines[] = {
	{EM_X86_64, 1, 1, PROCESS_UNIT_X86, "linux-vdso.so.1", NULL, exports_x86_64},
	{EM_386, 0, 1, PROCESS_UNIT_X86, "linux-gate.so.1", "__kernel_vsyscall", exports_i386},
	{EM_AARCH64, 1, 0, PROCESS_UNIT_AARCH64, "linux-vdso.so.1", NULL, exports_aarch64},
	{EM_RISCV, 1, 0, PROCESS_UNIT_RISCV64, "linux-vdso.so.1", NULL, exports_riscv64},
};

static const char *const rule_names[IMAGE_RULES] = {
	[IMAGE_RULE_ELF] = "elf",	    [IMAGE_RULE_SEGMENTS] = "segments",
	[IMAGE_RULE_HEADERS] = "headers",   [IMAGE_RULE_RELOCATIONS] = "relocations",
	[IMAGE_RULE_DATA] = "data",	    [IMAGE_RULE_HASHES] = "hashes",
	[IMAGE_RULE_VERSIONS] = "versions", [IMAGE_RULE_EXPORTS] = "exports",
	[IMAGE_RULE_BRANCHES] = "branches", [IMAGE_RULE_UNWIND] = "unwind",
};

const char *image_rule_name(enum image_rule rule)
{
	return (unsigned)rule < IMAGE_RULES ? rule_names[rule] : "unknown";
}

__attribute__((format(printf, 3, 4))) static void broken(const struct file *f, enum image_rule rule,
							 const char *fmt, ...)
{
	char words[160], *p;
	va_list ap;

	f->check->findings++;
	f->check->broken |= 1u << rule;
	if (f->check->report == NULL)
		return;
	va_start(ap, fmt);
	vsnprintf(words, sizeof(words), fmt, ap);
	va_end(ap);
	for (p = words; *p != '\0'; p++)
		if (*p < ' ' || *p > '~')
			*p = '?';
	f->check->report(f->check->arg, rule, words);
}

/* A struct of the file, if all of it lies there. The caller says how long it is for either class.
 */
static const void *at(const struct file *f, uint64_t offset, size_t size)
{
	return offset <= f->size && size <= f->size - offset ? f->bytes + offset : NULL;
}

static uint64_t load(const unsigned char *p, size_t size)
{
	uint64_t value = 0;

	memcpy(&value, p, size); /* the file's byte order was found to be ours; little-endian */
	return value;
}

#define FIELD(f, p, type, field)                                                           \
	((f)->elf.is_64 ? load((const unsigned char *)(p) + offsetof(Elf64_##type, field), \
			       sizeof(((Elf64_##type *)0)->field))                         \
			: load((const unsigned char *)(p) + offsetof(Elf32_##type, field), \
			       sizeof(((Elf32_##type *)0)->field)))
#define SIZE(f, type) ((f)->elf.is_64 ? sizeof(Elf64_##type) : sizeof(Elf32_##type))

static bool get_segment(const struct file *f, unsigned i, struct segment *s)
{
	const void *p = at(f, f->phoff + i * SIZE(f, Phdr), SIZE(f, Phdr));

	if (p == NULL)
		return false;
	s->type = (uint32_t)FIELD(f, p, Phdr, p_type);
	s->flags = (uint32_t)FIELD(f, p, Phdr, p_flags);
	s->offset = FIELD(f, p, Phdr, p_offset);
	s->vaddr = FIELD(f, p, Phdr, p_vaddr);
	s->filesz = FIELD(f, p, Phdr, p_filesz);
	s->memsz = FIELD(f, p, Phdr, p_memsz);
	return true;
}

static bool get_section(const struct file *f, unsigned i, struct section *s)
{
	const void *p = at(f, f->shoff + i * SIZE(f, Shdr), SIZE(f, Shdr)), *names;
	uint64_t offset;
	size_t n;

	if (p == NULL)
		return false;
	memset(s, 0, sizeof(*s));
	s->type = (uint32_t)FIELD(f, p, Shdr, sh_type);
	s->flags = FIELD(f, p, Shdr, sh_flags);
	s->address = FIELD(f, p, Shdr, sh_addr);
	s->offset = FIELD(f, p, Shdr, sh_offset);
	s->size = FIELD(f, p, Shdr, sh_size);
	names = at(f, f->shoff + f->shstrndx * SIZE(f, Shdr), SIZE(f, Shdr));
	if (names == NULL)
		return true;
	offset = FIELD(f, names, Shdr, sh_offset) + FIELD(f, p, Shdr, sh_name);
	for (n = 0; n + 1 < sizeof(s->name) && offset + n < f->size; n++) {
		if (f->bytes[offset + n] <= ' ' || f->bytes[offset + n] > '~')
			break;
		s->name[n] = (char)f->bytes[offset + n];
	}
	s->name[n] = '\0';
	return true;
}

static bool open_file(struct file *f)
{
	const unsigned char *e = f->bytes;
	int r = vclock_elf_open(f->bytes, f->size, 0, &f->elf);
	unsigned i;

	if (r != 0) {
		broken(f, IMAGE_RULE_ELF, "%s", vclock_elf_strerror(r));
		return false;
	}
	for (i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (machines[i].machine == f->elf.machine && machines[i].is_64 == f->elf.is_64)
			f->machine = &machines[i];
	if (f->machine == NULL) {
		broken(f, IMAGE_RULE_ELF, "of machine %u, which vclock has no image for",
		       (unsigned)f->elf.machine);
		return false;
	}
	f->phoff = FIELD(f, e, Ehdr, e_phoff);
	f->phnum = (unsigned)FIELD(f, e, Ehdr, e_phnum);
	f->shoff = FIELD(f, e, Ehdr, e_shoff);
	f->shnum = (unsigned)FIELD(f, e, Ehdr, e_shnum);
	f->shentsize = (unsigned)FIELD(f, e, Ehdr, e_shentsize);
	f->shstrndx = (unsigned)FIELD(f, e, Ehdr, e_shstrndx);
	f->entry = FIELD(f, e, Ehdr, e_entry);
	return true;
}

/* The first 16 bytes are compared as a whole by programs that look for a vDSO. */
static void check_elf(const struct file *f)
{
	unsigned i;

	if (f->bytes[EI_VERSION] != EV_CURRENT)
		broken(f, IMAGE_RULE_ELF, "ELF version %u", f->bytes[EI_VERSION]);
	for (i = EI_OSABI; i < EI_NIDENT; i++)
		if (f->bytes[i] != 0)
			broken(f, IMAGE_RULE_ELF, "byte %u of the identification is not 0", i);
}

static void check_load(const struct file *f, const struct segment *s)
{
	if (s->flags != (PF_R | PF_X))
		broken(f, IMAGE_RULE_SEGMENTS, "PT_LOAD is not read-execute");
	if (s->offset != 0 || s->vaddr != 0)
		broken(f, IMAGE_RULE_SEGMENTS, "PT_LOAD is not at 0");
	if (s->filesz != s->memsz)
		broken(f, IMAGE_RULE_SEGMENTS, "PT_LOAD is longer in memory than in the file");
	if (s->filesz != f->size)
		broken(f, IMAGE_RULE_SEGMENTS, "PT_LOAD does not reach to the end of the file");
}

static void check_segments(const struct file *f)
{
	unsigned loads = 0, dynamics = 0, notes = 0, frames = 0, i;
	struct segment s;

	if (f->phnum > PHDRS_MAX)
		broken(f, IMAGE_RULE_HEADERS, "%u program headers", f->phnum);
	for (i = 0; i < f->phnum && i < PHDRS_MAX && get_segment(f, i, &s); i++) {
		loads += s.type == PT_LOAD;
		dynamics += s.type == PT_DYNAMIC;
		notes += s.type == PT_NOTE;
		frames += s.type == PT_GNU_EH_FRAME;
		if (s.type == PT_LOAD)
			check_load(f, &s);
		if (s.type == PT_GNU_RELRO || s.type == PT_INTERP || s.type == PT_TLS)
			broken(f, IMAGE_RULE_HEADERS, "has a %s",
			       s.type == PT_INTERP ? "PT_INTERP"
			       : s.type == PT_TLS  ? "PT_TLS"
						   : "PT_GNU_RELRO");
		if (s.flags & PF_W)
			broken(f, IMAGE_RULE_HEADERS, "program header %u is writable", i);
		if (s.offset != s.vaddr)
			broken(f, IMAGE_RULE_HEADERS,
			       "program header %u has p_offset other than p_vaddr", i);
		if (at(f, s.offset, (size_t)s.filesz) == NULL)
			broken(f, IMAGE_RULE_HEADERS, "program header %u ends outside the file", i);
	}
	if (loads != 1)
		broken(f, IMAGE_RULE_SEGMENTS, "%u PT_LOAD in place of one", loads);
	if (dynamics != 1)
		broken(f, IMAGE_RULE_HEADERS, "%u PT_DYNAMIC in place of one", dynamics);
	if (notes == 0)
		broken(f, IMAGE_RULE_HEADERS, "no PT_NOTE");
	if (frames != 1)
		broken(f, IMAGE_RULE_UNWIND, "%u PT_GNU_EH_FRAME in place of one", frames);
}

/* What a symbol finder reads, and nothing that makes a loader do something. */
static bool tag_is_harmless(uint64_t tag)
{
	static const uint64_t harmless[] = {DT_SONAME, DT_HASH,	    DT_GNU_HASH, DT_STRTAB,
					    DT_SYMTAB, DT_STRSZ,    DT_SYMENT,	 DT_VERSYM,
					    DT_VERDEF, DT_VERDEFNUM};
	unsigned i;

	for (i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (harmless[i] == tag)
			return true;
	return false;
}

/* Some linkers say where the relocations are although there are none. */
static bool has_no_relocations(const struct file *f)
{
	const unsigned char *p = f->elf.dynamic;
	uint64_t i;
	bool has_size = false;

	for (i = 0; i < f->elf.dynamic_count; i++, p += SIZE(f, Dyn)) {
		if (FIELD(f, p, Dyn, d_tag) != DT_RELASZ)
			continue;
		has_size = true;
		if (FIELD(f, p, Dyn, d_un) != 0)
			return false;
	}
	return has_size;
}

static void check_dynamic(const struct file *f)
{
	bool is_empty = has_no_relocations(f);
	const unsigned char *p = f->elf.dynamic;
	uint64_t i, tag;

	for (i = 0; i < f->elf.dynamic_count; i++, p += SIZE(f, Dyn)) {
		tag = FIELD(f, p, Dyn, d_tag);
		if (tag == DT_NULL)
			return;
		if (is_empty && (tag == DT_RELA || tag == DT_RELASZ || tag == DT_RELAENT))
			continue;
		if (!tag_is_harmless(tag))
			broken(f, IMAGE_RULE_RELOCATIONS, "dynamic tag 0x%llx",
			       (unsigned long long)tag);
	}
	broken(f, IMAGE_RULE_RELOCATIONS, "the dynamic section has no end");
}

static void check_section(const struct file *f, const struct section *s)
{
	bool is_loaded = (s->flags & SHF_ALLOC) != 0;

	if (is_loaded && (s->type == SHT_REL || s->type == SHT_RELA || s->type == 19 /* RELR */))
		broken(f, IMAGE_RULE_RELOCATIONS, "section %s", s->name);
	if (!is_loaded || s->size == 0)
		return;
	if (s->type == SHT_NOBITS)
		broken(f, IMAGE_RULE_DATA, "section %s is not in the file", s->name);
	/* Linkers mark .dynamic writable; its segment decides. */
	else if ((s->flags & SHF_WRITE) && s->type != SHT_DYNAMIC)
		broken(f, IMAGE_RULE_DATA, "section %s is writable", s->name);
	else if (strncmp(s->name, ".got", 4) == 0 || strncmp(s->name, ".plt", 4) == 0 ||
		 strncmp(s->name, ".data", 5) == 0)
		broken(f, IMAGE_RULE_DATA, "section %s", s->name);
	if (s->address != s->offset || at(f, s->offset, (size_t)s->size) == NULL)
		broken(f, IMAGE_RULE_SEGMENTS, "section %s is not where the file has it", s->name);
}

static bool check_sections(const struct file *f, struct section *ret_text)
{
	struct section s;
	bool has_text = false, has_dynsym = false;
	unsigned i;

	if (f->shnum == 0 || f->shnum > SECTIONS_MAX || f->shstrndx >= f->shnum ||
	    f->shentsize != SIZE(f, Shdr) || at(f, f->shoff, f->shnum * SIZE(f, Shdr)) == NULL) {
		broken(f, IMAGE_RULE_SEGMENTS, "no section headers in the file");
		return false;
	}
	for (i = 0; i < f->shnum && get_section(f, i, &s); i++) {
		check_section(f, &s);
		has_dynsym |= s.type == SHT_DYNSYM;
		if (strcmp(s.name, ".text") == 0 && at(f, s.offset, (size_t)s.size) != NULL) {
			has_text = true;
			*ret_text = s;
		}
	}
	if (!has_dynsym)
		broken(f, IMAGE_RULE_SEGMENTS, "no section header for the dynamic symbols");
	if (!has_text)
		broken(f, IMAGE_RULE_SEGMENTS, "no .text");
	return has_text;
}

static uint32_t sysv_hash(const char *name)
{
	uint32_t h = 0, high;

	for (; *name != '\0'; name++) {
		h = (h << 4) + (unsigned char)*name;
		high = h & 0xf0000000;
		h ^= high >> 24;
		h &= ~high;
	}
	return h;
}

static uint32_t gnu_hash(const char *name)
{
	uint32_t h = 5381;

	for (; *name != '\0'; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static uint32_t word(const unsigned char *table, uint64_t index)
{
	return (uint32_t)load(table + index * 4, 4);
}

/* The tables' sizes and chains have been walked by vclock_elf_open(). */
static bool found_by_sysv(const struct file *f, uint32_t symbol, const char *name)
{
	const unsigned char *t = f->elf.sysv_hash;
	uint32_t buckets = word(t, 0), chains = word(t, 1), steps, i;

	i = word(t, 2 + sysv_hash(name) % buckets);
	for (steps = 0; i != 0 && i < chains && steps < chains; steps++) {
		if (i == symbol)
			return true;
		i = word(t, 2 + (uint64_t)buckets + i);
	}
	return false;
}

static bool found_by_gnu(const struct file *f, uint32_t symbol, const char *name)
{
	const unsigned char *t = f->elf.gnu_hash;
	uint32_t buckets = word(t, 0), first = word(t, 1), blooms = word(t, 2);
	unsigned bits = f->elf.is_64 ? 64 : 32;
	uint32_t h = gnu_hash(name), shift = word(t, 3) & 31, i;
	uint64_t bloom = load(t + 16 + (size_t)(h / bits % blooms) * (bits / 8), bits / 8);
	const unsigned char *bucket = t + 16 + (size_t)blooms * (bits / 8);
	const unsigned char *chain = bucket + (size_t)buckets * 4;

	if (!(bloom >> (h % bits) & 1) || !(bloom >> ((h >> shift) % bits) & 1))
		return false;
	for (i = word(bucket, h % buckets); i >= first && i < f->elf.symtab_count; i++) {
		if (i == symbol)
			return (word(chain, i - first) | 1) == (h | 1);
		if (word(chain, i - first) & 1)
			break;
	}
	return false;
}

/* A local symbol for a section, which linkers of some machines add; the kernel's images have it. */
static bool is_linkers(const struct vclock_elf_symbol *s)
{
	return s->bind == STB_LOCAL && s->type == STT_SECTION && *s->name == '\0';
}

static void check_hashes(const struct file *f)
{
	struct vclock_elf_symbol s;
	uint32_t i;

	if (!(f->elf.hashes & VCLOCK_ELF_HASH_SYSV))
		broken(f, IMAGE_RULE_HASHES, "no DT_HASH");
	if (!(f->elf.hashes & VCLOCK_ELF_HASH_GNU))
		broken(f, IMAGE_RULE_HASHES, "no DT_GNU_HASH");
	for (i = 1; i < f->elf.symtab_count && i < SYMBOLS_MAX; i++) {
		if (vclock_elf_symbol(&f->elf, i, &s) != 0 || s.section == SHN_UNDEF ||
		    is_linkers(&s))
			continue;
		if ((f->elf.hashes & VCLOCK_ELF_HASH_SYSV) && !found_by_sysv(f, i, s.name))
			broken(f, IMAGE_RULE_HASHES, "DT_HASH does not find %.60s", s.name);
		if ((f->elf.hashes & VCLOCK_ELF_HASH_GNU) && !found_by_gnu(f, i, s.name))
			broken(f, IMAGE_RULE_HASHES, "DT_GNU_HASH does not find %.60s", s.name);
	}
}

/* The base definition, which the finder passes over, names the file. */
static bool base_is_soname(const struct file *f)
{
	const unsigned char *p = f->elf.verdef;
	uint64_t room = f->elf.verdef_size, offset = 0, name;
	uint32_t aux, i;

	for (i = 0; i < f->elf.verdef_count && room - offset >= sizeof(Elf64_Verdef); i++) {
		p = f->elf.verdef + offset;
		aux = (uint32_t)load(p + offsetof(Elf64_Verdef, vd_aux), 4);
		if ((load(p + offsetof(Elf64_Verdef, vd_flags), 2) & VER_FLG_BASE) &&
		    aux <= room - offset - sizeof(Elf64_Verdaux)) {
			name = load(p + aux, 4);
			return name < f->elf.strtab_size &&
			       strcmp((const char *)f->elf.strtab + name, f->machine->soname) == 0;
		}
		if (load(p + offsetof(Elf64_Verdef, vd_next), 4) == 0)
			break;
		offset += load(p + offsetof(Elf64_Verdef, vd_next), 4);
		if (offset > room)
			break;
	}
	return false;
}

static void check_versions(const struct file *f)
{
	const char *soname = vclock_elf_soname(&f->elf);

	if (soname == NULL || strcmp(soname, f->machine->soname) != 0)
		broken(f, IMAGE_RULE_VERSIONS, "soname is not %s", f->machine->soname);
	if (f->elf.versym == NULL || f->elf.verdef == NULL)
		broken(f, IMAGE_RULE_VERSIONS, "no version definitions");
	else if (!base_is_soname(f))
		broken(f, IMAGE_RULE_VERSIONS, "no base version that is named like the soname");
}

static const struct image_export *export_of(const struct file *f, const struct vclock_elf_symbol *s)
{
	const struct image_export *e;

	for (e = f->machine->exports; e->name != NULL; e++)
		if (strcmp(e->name, s->name) == 0)
			return e;
	return NULL;
}

/* The names of the versions themselves, as absolute objects: some linkers make them. */
static bool names_a_version(const struct file *f, const struct vclock_elf_symbol *s)
{
	const struct image_export *e;

	if (s->section != SHN_ABS || s->type != STT_OBJECT || s->value != 0)
		return false;
	for (e = f->machine->exports; e->name != NULL; e++)
		if (strcmp(e->version, s->name) == 0)
			return true;
	return false;
}

#define LANDING_PAD_AARCH64 0xd503245fu /* bti c */

/* Unwinders know the two instructions of a signal's return, and only returns go there. */
static bool lacks_landing_pad(const struct file *f, const struct vclock_elf_symbol *s)
{
	const unsigned char *p = at(f, s->value, 4);

	return f->machine->machine == EM_AARCH64 && strcmp(s->name, "__kernel_rt_sigreturn") != 0 &&
	       (p == NULL || load(p, 4) != LANDING_PAD_AARCH64);
}

static void check_export(const struct file *f, const struct vclock_elf_symbol *s,
			 const struct section *text)
{
	const struct image_export *e = export_of(f, s);

	if (names_a_version(f, s) || is_linkers(s))
		return;
	if (e == NULL) {
		broken(f, IMAGE_RULE_EXPORTS, "%.60s is exported", s->name);
		return;
	}
	if (s->version == NULL || strcmp(s->version, e->version) != 0)
		broken(f, IMAGE_RULE_EXPORTS, "%s is not of version %s", s->name, e->version);
	if (s->type != STT_FUNC || s->bind != e->bind)
		broken(f, IMAGE_RULE_EXPORTS, "%s is not a %s function", s->name,
		       e->bind == STB_WEAK ? "weak" : "global");
	if (s->size == 0 || s->value < text->address || s->value - text->address >= text->size ||
	    s->size > text->size - (s->value - text->address))
		broken(f, IMAGE_RULE_EXPORTS, "%s does not lie in .text", s->name);
	else if (lacks_landing_pad(f, s))
		broken(f, IMAGE_RULE_BRANCHES, "%s does not begin with a landing pad", s->name);
	if (f->machine->entry != NULL && strcmp(f->machine->entry, s->name) == 0 &&
	    f->entry != s->value)
		broken(f, IMAGE_RULE_EXPORTS, "e_entry is not %s", s->name);
}

static void check_exports(const struct file *f, const struct section *text)
{
	const struct image_export *e;
	struct vclock_elf_symbol s;
	const void *address;
	uint64_t i;

	for (i = 1; i < f->elf.symtab_count && i < SYMBOLS_MAX; i++) {
		if (vclock_elf_symbol(&f->elf, i, &s) != 0)
			broken(f, IMAGE_RULE_EXPORTS, "symbol %u has no name", (unsigned)i);
		else if (s.section == SHN_UNDEF)
			broken(f, IMAGE_RULE_EXPORTS, "%.60s is undefined", s.name);
		else
			check_export(f, &s, text);
	}
	if (f->elf.symtab_count > SYMBOLS_MAX)
		broken(f, IMAGE_RULE_EXPORTS, "more than %u symbols", SYMBOLS_MAX);
	for (e = f->machine->exports; e->name != NULL; e++)
		if (vclock_elf_lookup(&f->elf, e->name, NULL, &address) != 0)
			broken(f, IMAGE_RULE_EXPORTS, "%s is missing", e->name);
	if (f->machine->entry == NULL && f->entry != 0)
		broken(f, IMAGE_RULE_EXPORTS, "e_entry is not 0");
}

/* Whether an address, modulo the class's word, is that of a slot of the process page. */
static bool is_slot(const struct file *f, uint64_t address)
{
	uint64_t page = 0 - (uint64_t)(PROCESS_UNITS - 1) * f->machine->unit;
	uint64_t into = address - page - offsetof(struct process_page, function);

	if (!f->elf.is_64)
		into &= UINT32_MAX;
	return into < 8 * PROCESS_FUNCTIONS && into % 8 == 0;
}

static uint64_t signed_word(const unsigned char *p)
{
	return (uint64_t)(int64_t)(int32_t)load(p, 4);
}

/* jmp *slot(%rip) */
static bool is_jump_x86_64(const struct file *f, uint64_t address)
{
	const unsigned char *p = at(f, address, 6);

	return p != NULL && p[0] == 0xff && p[1] == 0x25 &&
	       is_slot(f, address + 6 + signed_word(p + 2));
}

/* call image_here; 0: cmpl $0, slot-0b(%eax); je; jmp *slot-0b(%eax) */
static bool is_jump_i386(const struct file *f, uint64_t address)
{
	const unsigned char *p = address >= 14 ? at(f, address - 14, 20) : NULL, *here;
	uint64_t after = address - 9;

	if (p == NULL || p[0] != 0xe8 || p[5] != 0x83 || p[6] != 0xb8 || p[11] != 0 ||
	    p[12] != 0x74 || p[14] != 0xff || p[15] != 0xa0 || memcmp(p + 7, p + 16, 4) != 0)
		return false;
	here = at(f, (uint32_t)(after + signed_word(p + 1)), 4);
	return here != NULL &&
	       memcmp(here, "\x8b\x04\x24\xc3", 4) == 0 && /* mov (%esp), %eax; ret */
	       is_slot(f, after + signed_word(p + 7));
}

static void indirect_branch(const struct file *f, uint64_t address)
{
	broken(f, IMAGE_RULE_BRANCHES, "indirect branch at 0x%llx", (unsigned long long)address);
}

static void check_branches_decoded(const struct file *f, const struct section *text)
{
	uint64_t branches[BRANCHES_MAX];
	int count, i;
	bool ok;

	if (f->check->branches == NULL) {
		f->check->not_checked |= 1u << IMAGE_RULE_BRANCHES;
		return;
	}
	count = f->check->branches(f->machine->machine, f->bytes + text->offset, (size_t)text->size,
				   text->address, branches, BRANCHES_MAX);
	if (count < 0 || count > BRANCHES_MAX) {
		broken(f, IMAGE_RULE_BRANCHES, "the code cannot be decoded");
		return;
	}
	for (i = 0; i < count; i++) {
		ok = f->machine->machine == EM_X86_64 ? is_jump_x86_64(f, branches[i])
						      : is_jump_i386(f, branches[i]);
		if (!ok)
			indirect_branch(f, branches[i]);
	}
}

/* adrp x16, page; ldr x16, [x16, slot]; cbz x16; br x16 */
static bool is_jump_aarch64(const struct file *f, uint64_t address)
{
	const unsigned char *p = address >= 12 ? at(f, address - 12, 16) : NULL;
	uint32_t adrp, ldr;
	uint64_t page;

	if (p == NULL)
		return false;
	adrp = word(p, 0);
	ldr = word(p, 1);
	if ((adrp & 0x9f00001f) != 0x90000010 || (ldr & 0xffc003ff) != 0xf9400210 ||
	    (word(p, 2) & 0xff00001f) != 0xb4000010 || word(p, 3) != 0xd61f0200)
		return false;
	page = ((uint64_t)(adrp >> 5 & 0x7ffff) << 2 | (adrp >> 29 & 3)) << 12;
	if (page & (1ull << 32))
		page |= ~((1ull << 33) - 1);
	return is_slot(f, ((address - 12) & ~0xfffull) + page + ((ldr >> 10 & 0xfff) << 3));
}

static void check_branches_aarch64(const struct file *f, const struct section *text)
{
	const unsigned char *p = f->bytes + text->offset;
	uint64_t i;

	for (i = 0; i + 4 <= text->size; i += 4) {
		/* BR, BLR and their kin with pointer authentication */
		if ((word(p, i / 4) & 0xfe9f0000) == 0xd61f0000 &&
		    (word(p, i / 4) & 0x00600000) <= 0x00200000 &&
		    !is_jump_aarch64(f, text->address + i))
			indirect_branch(f, text->address + i);
	}
}

/* auipc t1, hi; ld t1, lo(t1); beqz t1; jr t1 */
static bool is_jump_riscv64(const struct file *f, uint64_t address)
{
	const unsigned char *p = address >= 12 ? at(f, address - 12, 16) : NULL;
	uint32_t auipc, ld;

	if (p == NULL)
		return false;
	auipc = word(p, 0);
	ld = word(p, 1);
	if ((auipc & 0xfff) != 0x317 || (ld & 0xfffff) != 0x33303 ||
	    (word(p, 2) & 0x1ff07f) != 0x31063 - 0x1000 || word(p, 3) != 0x30067)
		return false;
	return is_slot(f, address - 12 + (uint64_t)(int64_t)(int32_t)(auipc & 0xfffff000) +
				  (uint64_t)((int64_t)(int32_t)ld >> 20));
}

/* auipc t1 or ra; jalr with the same: as far as a direct one needs two instructions. */
static bool is_direct_riscv64(const struct file *f, const struct section *text, uint64_t address)
{
	const unsigned char *p = address >= 4 ? at(f, address - 4, 8) : NULL;
	uint32_t auipc, jalr, base;
	uint64_t to;

	if (p == NULL)
		return false;
	auipc = word(p, 0);
	jalr = word(p, 1);
	base = jalr >> 15 & 31;
	if ((auipc & 0x7f) != 0x17 || (auipc >> 7 & 31) != base || (base != 1 && base != 6))
		return false;
	to = address - 4 + (uint64_t)(int64_t)(int32_t)(auipc & 0xfffff000) +
	     (uint64_t)((int64_t)(int32_t)jalr >> 20);
	return to - text->address < text->size;
}

/* Instructions are 2 or 4 bytes long, told by their low bits. ra (1) as the base is a return. */
static void check_branches_riscv64(const struct file *f, const struct section *text)
{
	const unsigned char *p = f->bytes + text->offset;
	uint32_t insn;
	uint64_t i, length;
	bool is_indirect;

	for (i = 0; i + 2 <= text->size; i += length) {
		insn = (uint32_t)load(p + i, 2);
		length = (insn & 3) == 3 ? 4 : 2;
		if (i + length > text->size)
			break;
		if (length == 4)
			insn = (uint32_t)load(p + i, 4);
		is_indirect = length == 4 ? (insn & 0x707f) == 0x67 && insn != 0x8067
					  : (insn & 0xe07f) == 0x8002 && (insn & 0xf80) != 0 &&
						    insn != 0x8082;
		if (is_indirect && !is_jump_riscv64(f, text->address + i) &&
		    !(length == 4 && is_direct_riscv64(f, text, text->address + i)))
			indirect_branch(f, text->address + i);
	}
}

static void check_branches(const struct file *f, const struct section *text)
{
	if (f->machine->needs_decoder)
		check_branches_decoded(f, text);
	else if (f->machine->machine == EM_AARCH64)
		check_branches_aarch64(f, text);
	else
		check_branches_riscv64(f, text);
}

/* The functions that are not exported. */
static void check_unwind_inner(const struct file *f, const struct image_unwind *unwind)
{
	struct section s;
	const void *p;
	uint64_t i;
	unsigned n;

	for (n = 0; n < f->shnum && n < SECTIONS_MAX && get_section(f, n, &s); n++) {
		if (s.type != SHT_SYMTAB)
			continue;
		for (i = 1; i < s.size / SIZE(f, Sym) && i < SYMBOLS_MAX; i++) {
			p = at(f, s.offset + i * SIZE(f, Sym), SIZE(f, Sym));
			if (p == NULL || (FIELD(f, p, Sym, st_info) & 0xf) != STT_FUNC)
				continue;
			if (!image_unwind_covers(unwind, FIELD(f, p, Sym, st_value),
						 FIELD(f, p, Sym, st_size)))
				broken(f, IMAGE_RULE_UNWIND, "code at 0x%llx has none",
				       (unsigned long long)FIELD(f, p, Sym, st_value));
		}
	}
}

static void check_unwind(const struct file *f)
{
	struct image_unwind unwind;
	struct vclock_elf_symbol s;
	struct segment segment;
	const char *words = "no PT_GNU_EH_FRAME";
	unsigned i;

	for (i = 0; i < f->phnum && i < PHDRS_MAX && get_segment(f, i, &segment); i++)
		if (segment.type == PT_GNU_EH_FRAME)
			words = image_unwind_open(f->bytes, f->size, segment.offset, segment.filesz,
						  &unwind);
	if (words != NULL) {
		broken(f, IMAGE_RULE_UNWIND, "%s", words);
		return;
	}
	for (i = 1; i < f->elf.symtab_count && i < SYMBOLS_MAX; i++) {
		if (vclock_elf_symbol(&f->elf, i, &s) != 0 || s.type != STT_FUNC)
			continue;
		if (!image_unwind_covers(&unwind, s.value, s.size))
			broken(f, IMAGE_RULE_UNWIND, "%.60s has no unwind information", s.name);
	}
	check_unwind_inner(f, &unwind);
}

unsigned image_check(struct image_check *check, const void *file, size_t size)
{
	struct file f = {.check = check, .bytes = file, .size = size};
	struct section text = {.size = 0};

	check->findings = 0;
	check->broken = 0;
	check->not_checked = 0;
	check->is_readable = open_file(&f);
	if (!check->is_readable)
		return check->findings;
	check_elf(&f);
	check_segments(&f);
	check_dynamic(&f);
	check_hashes(&f);
	check_versions(&f);
	check_unwind(&f);
	if (check_sections(&f, &text)) {
		check_exports(&f, &text);
		check_branches(&f, &text);
	}
	return check->findings;
}
