/* SPDX-License-Identifier: MIT */
/*
 * elf_image.c - opens an ELF image and finds its symbols.
 *
 * Must never call libc nor need a relocation, write to the image, or believe it: an offset is used
 * after it has been held against the segment that it points into, and a walk ends after as many
 * steps as its table can have entries.
 *
 * Once the image is open the symbols are looked through one by one: a vDSO has some twenty, and a
 * scan finds the same ones with either hash table. The hash tables give the number of symbols,
 * which nothing else in an ELF file states, and are refused as a whole when they contradict
 * themselves.
 */
#include <elf.h>

#include "elf/elf_image.h"
#include "elf/elf_load.h"

/* Executables have about ten program headers; each look at an address walks through them. */
#define ELF_SEGMENTS_MAX 64
/* The C++ library has some sixty version definitions; each symbol of a listing walks them. */
#define ELF_VERSIONS_MAX 1024

struct elf_sizes {
	size_t header, segment, dynamic, symbol, word;
};

struct elf_header {
	uint64_t segment_offset;
	uint16_t type, machine, header_size, segment_size, segment_count;
};

struct elf_segment {
	uint64_t offset, vaddr, file_size, memory_size;
	uint32_t type, flags;
};

struct elf_dynamic {
	uint64_t tag, value;
};

struct elf_symbol {
	uint64_t value, size;
	uint32_t name;
	uint16_t section;
	uint8_t type, bind;
};

#define ELF_BITS 32
#include "elf/elf_body.h"
#undef ELF_BITS
#define ELF_BITS 64
#include "elf/elf_body.h"
#undef ELF_BITS

static const struct elf_sizes *elf_sizes(const struct vclock_elf *elf)
{
	return elf->is_64 ? &elf_sizes64 : &elf_sizes32;
}

static void elf_get_segment(const struct vclock_elf *elf, uint32_t index,
			    struct elf_segment *ret_segment)
{
	if (elf->is_64)
		elf_get_segment64(elf->phdr + index * sizeof(Elf64_Phdr), ret_segment);
	else
		elf_get_segment32(elf->phdr + index * sizeof(Elf32_Phdr), ret_segment);
}

static void elf_get_dynamic(const struct vclock_elf *elf, size_t index,
			    struct elf_dynamic *ret_dynamic)
{
	if (elf->is_64)
		elf_get_dynamic64(elf->dynamic + index * sizeof(Elf64_Dyn), ret_dynamic);
	else
		elf_get_dynamic32(elf->dynamic + index * sizeof(Elf32_Dyn), ret_dynamic);
}

static void elf_get_symbol(const struct vclock_elf *elf, size_t index,
			   struct elf_symbol *ret_symbol)
{
	if (elf->is_64)
		elf_get_symbol64(elf->symtab + index * sizeof(Elf64_Sym), ret_symbol);
	else
		elf_get_symbol32(elf->symtab + index * sizeof(Elf32_Sym), ret_symbol);
}

/*
 * Where the image's address vaddr lies, or NULL; *ret_room bytes from there to the end of the same
 * segment. The differences are taken modulo 2^64, so that an image may be linked at any address,
 * the highest ones too. flags: what the segment must allow.
 */
static const unsigned char *elf_place(const struct vclock_elf *elf, uint64_t vaddr, uint32_t flags,
				      uint64_t *ret_room)
{
	struct elf_segment s;
	uint64_t start, length, into;

	for (uint32_t i = 0; i < elf->phdr_count; i++) {
		elf_get_segment(elf, i, &s);
		if (s.type != PT_LOAD || (s.flags & flags) != flags)
			continue;
		start = elf->is_mapped ? s.vaddr - elf->load_vaddr + elf->load_offset : s.offset;
		length = elf->is_mapped ? s.memory_size : s.file_size;
		into = vaddr - s.vaddr;
		if (into >= length || start >= elf->size || into >= elf->size - start)
			continue;
		length -= into;
		start += into;
		*ret_room = length < elf->size - start ? length : elf->size - start;
		return elf->image + start;
	}
	return NULL;
}

static int elf_read_ident(struct vclock_elf *elf)
{
	static const uint16_t one = 1;
	const unsigned char *ident = elf->image;
	unsigned char order = *(const unsigned char *)&one ? ELFDATA2LSB : ELFDATA2MSB;

	if (elf->size < SELFMAG)
		return VCLOCK_ELF_TRUNCATED;
	if (ident[0] != ELFMAG0 || ident[1] != ELFMAG1 || ident[2] != ELFMAG2 ||
	    ident[3] != ELFMAG3)
		return VCLOCK_ELF_NOT_ELF;
	if (elf->size < EI_NIDENT)
		return VCLOCK_ELF_TRUNCATED;
	if (ident[EI_CLASS] != ELFCLASS32 && ident[EI_CLASS] != ELFCLASS64)
		return VCLOCK_ELF_CLASS;
	if (ident[EI_DATA] != order)
		return VCLOCK_ELF_BYTE_ORDER;
	elf->is_64 = ident[EI_CLASS] == ELFCLASS64;
	return elf->size < elf_sizes(elf)->header ? VCLOCK_ELF_TRUNCATED : 0;
}

static int elf_read_header(struct vclock_elf *elf)
{
	struct elf_header h;
	uint64_t bytes;
	int error = elf_read_ident(elf);

	if (error)
		return error;
	if (elf->is_64)
		elf_get_header64(elf->image, &h);
	else
		elf_get_header32(elf->image, &h);
	if (h.type != ET_DYN)
		return VCLOCK_ELF_TYPE;
	if (h.header_size != elf_sizes(elf)->header)
		return VCLOCK_ELF_CLASS;
	if (h.segment_count == 0)
		return VCLOCK_ELF_NO_LOAD;
	if (h.segment_size != elf_sizes(elf)->segment)
		return VCLOCK_ELF_CLASS;
	bytes = (uint64_t)h.segment_count * h.segment_size;
	if (h.segment_offset > elf->size || bytes > elf->size - h.segment_offset)
		return VCLOCK_ELF_TRUNCATED;
	if (h.segment_count > ELF_SEGMENTS_MAX)
		return VCLOCK_ELF_CORRUPT;
	elf->machine = h.machine;
	elf->phdr = elf->image + h.segment_offset;
	elf->phdr_count = h.segment_count;
	return 0;
}

static int elf_read_load(struct vclock_elf *elf)
{
	struct elf_segment s;

	for (uint32_t i = 0; i < elf->phdr_count; i++) {
		elf_get_segment(elf, i, &s);
		if (s.type != PT_LOAD)
			continue;
		elf->load_vaddr = s.vaddr;
		elf->load_offset = s.offset;
		elf->load_size = s.memory_size;
		elf->bias = (elf->is_mapped ? (uintptr_t)elf->image : 0) + s.offset - s.vaddr;
		return 0;
	}
	return VCLOCK_ELF_NO_LOAD;
}

/* The first PT_DYNAMIC counts, as for PT_LOAD. */
static int elf_read_dynamic(struct vclock_elf *elf)
{
	struct elf_segment s;
	uint64_t room;

	for (uint32_t i = 0; i < elf->phdr_count; i++) {
		elf_get_segment(elf, i, &s);
		if (s.type != PT_DYNAMIC)
			continue;
		elf->dynamic = elf_place(elf, s.vaddr, 0, &room);
		if (elf->dynamic == NULL || s.file_size > room)
			return VCLOCK_ELF_TRUNCATED;
		elf->dynamic_count = (size_t)s.file_size / elf_sizes(elf)->dynamic;
		return 0;
	}
	return VCLOCK_ELF_NO_DYNAMIC;
}

int elf_dynamic(const struct vclock_elf *elf, uint64_t tag, uint64_t *ret_value)
{
	struct elf_dynamic d;
	int found = 0;

	for (size_t i = 0; i < elf->dynamic_count; i++) {
		elf_get_dynamic(elf, i, &d);
		if (d.tag == DT_NULL)
			break;
		if (d.tag != tag)
			continue;
		*ret_value = d.value;
		found = 1;
	}
	return found;
}

/* NULL: nothing that is terminated begins there. */
static const char *elf_string(const struct vclock_elf *elf, uint64_t offset)
{
	return offset < elf->strtab_size ? (const char *)elf->strtab + offset : NULL;
}

/* Without DT_STRSZ the table reaches to the end of its segment. */
static int elf_read_strings(struct vclock_elf *elf)
{
	uint64_t vaddr = 0, size, room = 0;

	elf_dynamic(elf, DT_STRTAB, &vaddr);
	elf->strtab = elf_place(elf, vaddr, 0, &room);
	size = room;
	elf_dynamic(elf, DT_STRSZ, &size);
	if (elf->strtab == NULL || size > room)
		return VCLOCK_ELF_TRUNCATED;
	while (size > 0 && elf->strtab[size - 1] != '\0')
		size--;
	elf->strtab_size = size;
	if (elf_dynamic(elf, DT_SONAME, &vaddr))
		elf->soname = elf_string(elf, vaddr);
	return 0;
}

/* The number of symbols, from a DT_HASH whose every chain ends. */
static int elf_count_sysv(const struct vclock_elf *elf, uint64_t *ret_count)
{
	const unsigned char *table = elf->sysv_hash, *bucket, *chain;
	uint32_t buckets, chains, steps = 0;

	if (elf->sysv_hash_size < 8)
		return VCLOCK_ELF_CORRUPT;
	buckets = elf_load32(table);
	chains = elf_load32(table + 4);
	if (buckets == 0 || chains == 0 || 2 + (uint64_t)buckets + chains > elf->sysv_hash_size / 4)
		return VCLOCK_ELF_CORRUPT;
	bucket = table + 8;
	chain = bucket + (size_t)buckets * 4;
	for (size_t i = 0; i < buckets; i++) {
		uint32_t index = elf_load32(bucket + i * 4);

		for (; index != STN_UNDEF; index = elf_load32(chain + (size_t)index * 4))
			if (index >= chains || ++steps > chains)
				return VCLOCK_ELF_CORRUPT;
	}
	*ret_count = chains;
	return 0;
}

/*
 * The number of symbols, from a DT_GNU_HASH: the last chain's end. Each word of the chains belongs
 * to one symbol and is met once, which bounds the whole walk. The bloom filter is passed over.
 */
static int elf_count_gnu(const struct vclock_elf *elf, uint64_t *ret_count)
{
	const unsigned char *table = elf->gnu_hash, *bucket, *chain;
	uint32_t buckets, first, blooms;
	uint64_t head, words, steps = 0, count;

	if (elf->gnu_hash_size < 16)
		return VCLOCK_ELF_CORRUPT;
	buckets = elf_load32(table);
	first = elf_load32(table + 4);
	blooms = elf_load32(table + 8);
	head = 16 + (uint64_t)blooms * elf_sizes(elf)->word + (uint64_t)buckets * 4;
	if (buckets == 0 || blooms == 0 || head > elf->gnu_hash_size)
		return VCLOCK_ELF_CORRUPT;
	chain = table + (size_t)head;
	bucket = chain - (size_t)buckets * 4;
	words = (elf->gnu_hash_size - head) / 4;
	count = first;
	for (size_t i = 0; i < buckets; i++) {
		uint64_t index = elf_load32(bucket + i * 4);

		if (index == STN_UNDEF)
			continue;
		/* One below the first wraps to more than any table has words. */
		do {
			if (index - first >= words || ++steps > words)
				return VCLOCK_ELF_CORRUPT;
			index++;
		} while (!(elf_load32(chain + (size_t)(index - 1 - first) * 4) & 1));
		if (index > count)
			count = index;
	}
	*ret_count = count;
	return 0;
}

/* Linkers lay the string table right after the symbols: then the distance proves their number. */
static int elf_count_between(const struct vclock_elf *elf, uint64_t room, uint64_t *ret_count)
{
	const unsigned char *const after[] = {elf->strtab, elf->versym, elf->verdef, elf->dynamic};
	uint64_t nearest = room;

	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++)
		if (after[i] > elf->symtab && (uint64_t)(after[i] - elf->symtab) < nearest)
			nearest = (uint64_t)(after[i] - elf->symtab);
	if (elf->strtab <= elf->symtab || (uint64_t)(elf->strtab - elf->symtab) != nearest ||
	    (size_t)nearest % elf_sizes(elf)->symbol != 0)
		return VCLOCK_ELF_NO_HASH;
	*ret_count = (size_t)nearest / elf_sizes(elf)->symbol;
	return 0;
}

static int elf_count_symbols(struct vclock_elf *elf, uint64_t room)
{
	uint64_t sysv = 0, gnu = 0;
	int error = 0;

	if (elf->sysv_hash != NULL) {
		elf->hashes |= VCLOCK_ELF_HASH_SYSV;
		error = elf_count_sysv(elf, &sysv);
	}
	if (!error && elf->gnu_hash != NULL) {
		elf->hashes |= VCLOCK_ELF_HASH_GNU;
		error = elf_count_gnu(elf, &gnu);
	}
	if (!error && elf->hashes == 0)
		error = elf_count_between(elf, room, &sysv);
	if (error)
		return error;
	if (elf->sysv_hash != NULL && gnu > sysv)
		return VCLOCK_ELF_CORRUPT;
	elf->symtab_count = sysv > gnu ? sysv : gnu;
	return elf->symtab_count > (size_t)room / elf_sizes(elf)->symbol ? VCLOCK_ELF_CORRUPT : 0;
}

/* Places a table that the image may do without. */
static int elf_read_table(const struct vclock_elf *elf, uint64_t tag,
			  const unsigned char **ret_table, uint64_t *ret_size)
{
	uint64_t vaddr;

	if (!elf_dynamic(elf, tag, &vaddr))
		return 0;
	*ret_table = elf_place(elf, vaddr, 0, ret_size);
	return *ret_table == NULL ? VCLOCK_ELF_TRUNCATED : 0;
}

/* The tables that every image has. */
static int elf_read_symtab(struct vclock_elf *elf, uint64_t *ret_size)
{
	uint64_t vaddr, entry = elf_sizes(elf)->symbol;

	if (!elf_dynamic(elf, DT_STRTAB, &vaddr) || !elf_dynamic(elf, DT_SYMTAB, &vaddr))
		return VCLOCK_ELF_NO_SYMTAB;
	elf_dynamic(elf, DT_SYMENT, &entry);
	if (entry != elf_sizes(elf)->symbol)
		return VCLOCK_ELF_CORRUPT;
	elf->symtab = elf_place(elf, vaddr, 0, ret_size);
	if (elf->symtab == NULL)
		return VCLOCK_ELF_TRUNCATED;
	return elf_read_strings(elf);
}

static int elf_read_tables(struct vclock_elf *elf)
{
	uint64_t symtab_size = 0, versym_size = 0, versions = ELF_VERSIONS_MAX;
	int error = elf_read_symtab(elf, &symtab_size);

	if (!error)
		error = elf_read_table(elf, DT_HASH, &elf->sysv_hash, &elf->sysv_hash_size);
	if (!error)
		error = elf_read_table(elf, DT_GNU_HASH, &elf->gnu_hash, &elf->gnu_hash_size);
	if (!error)
		error = elf_read_table(elf, DT_VERSYM, &elf->versym, &versym_size);
	if (!error)
		error = elf_read_table(elf, DT_VERDEF, &elf->verdef, &elf->verdef_size);
	if (!error)
		error = elf_count_symbols(elf, symtab_size);
	if (error)
		return error;
	elf_dynamic(elf, DT_VERDEFNUM, &versions);
	if (versions > ELF_VERSIONS_MAX)
		return VCLOCK_ELF_CORRUPT;
	elf->verdef_count = (uint32_t)versions;
	if (elf->versym != NULL && elf->symtab_count > versym_size / 2)
		return VCLOCK_ELF_CORRUPT;
	return 0;
}

/* How far a segment reaches behind the image's first byte; in *ret_end, which only grows. */
static int elf_extend(const struct vclock_elf *elf, uint32_t index, uint64_t max, uint64_t *ret_end)
{
	struct elf_segment s;
	uint64_t start;

	elf_get_segment(elf, index, &s);
	if (s.type != PT_LOAD)
		return 0;
	start = s.vaddr - elf->load_vaddr + elf->load_offset;
	if (start > max || s.memory_size > max - start)
		return VCLOCK_ELF_CORRUPT;
	if (start + s.memory_size > *ret_end)
		*ret_end = start + s.memory_size;
	return 0;
}

int elf_mapped_size(const void *image, size_t readable, size_t max, size_t *ret_size)
{
	struct vclock_elf elf;
	uint64_t end = 0;
	int error;

	elf_clear(&elf, sizeof(elf));
	elf.image = image;
	elf.size = readable;
	error = elf_read_header(&elf);
	if (!error)
		error = elf_read_load(&elf);
	for (uint32_t i = 0; !error && i < elf.phdr_count; i++)
		error = elf_extend(&elf, i, max, &end);
	if (!error)
		*ret_size = (size_t)end;
	return -error;
}

int vclock_elf_open(const void *image, size_t size, int is_mapped, struct vclock_elf *ret_elf)
{
	struct vclock_elf elf;
	int error;

	if (image == NULL)
		return -VCLOCK_ELF_ABSENT;
	elf_clear(&elf, sizeof(elf));
	elf.image = image;
	elf.size = size;
	elf.is_mapped = is_mapped != 0;
	error = elf_read_header(&elf);
	if (!error)
		error = elf_read_load(&elf);
	if (!error)
		error = elf_read_dynamic(&elf);
	if (!error)
		error = elf_read_tables(&elf);
	if (error)
		return -error;
	elf_copy(ret_elf, &elf, sizeof(elf));
	return 0;
}

/*
 * The version definition at *offset, and the step to the next one. 0: there is none. Elf32_Verdef
 * and Elf64_Verdef are the same struct. The definition's own name is its first Verdaux.
 */
static int elf_get_version(const struct vclock_elf *elf, uint64_t *offset, uint16_t *ret_index,
			   const char **ret_name)
{
	const unsigned char *p;
	uint64_t room;
	uint32_t aux, next;

	if (*offset > elf->verdef_size || elf->verdef_size - *offset < sizeof(Elf64_Verdef))
		return 0;
	p = elf->verdef + *offset;
	room = elf->verdef_size - *offset;
	aux = elf_load32(p + offsetof(Elf64_Verdef, vd_aux));
	next = elf_load32(p + offsetof(Elf64_Verdef, vd_next));
	*ret_name = NULL;
	if (aux <= room && room - aux >= sizeof(Elf64_Verdaux))
		*ret_name = elf_string(elf, elf_load32(p + aux));
	/* The base definition names the file, not a version. */
	if (elf_load16(p + offsetof(Elf64_Verdef, vd_flags)) & VER_FLG_BASE)
		*ret_name = NULL;
	*ret_index = elf_load16(p + offsetof(Elf64_Verdef, vd_ndx)) & 0x7fff;
	*offset = next ? *offset + next : UINT64_MAX;
	return 1;
}

/* The index that symbols of this version carry; 0, which is none's, when it is not defined. */
static uint16_t elf_version_index(const struct vclock_elf *elf, const char *version)
{
	uint64_t offset = 0;
	const char *name;
	uint16_t index;

	for (uint32_t i = 0; i < elf->verdef_count; i++) {
		if (!elf_get_version(elf, &offset, &index, &name))
			break;
		if (name != NULL && elf_text_is(name, version))
			return index;
	}
	return 0;
}

static const char *elf_version_name(const struct vclock_elf *elf, uint16_t wanted)
{
	uint64_t offset = 0;
	const char *name;
	uint16_t index;

	for (uint32_t i = 0; i < elf->verdef_count; i++) {
		if (!elf_get_version(elf, &offset, &index, &name))
			break;
		if (index == wanted)
			return name;
	}
	return NULL;
}

/* Without the bit that hides a version from unversioned look-ups. */
static uint16_t elf_symbol_version(const struct vclock_elf *elf, size_t index)
{
	return elf->versym != NULL ? elf_load16(elf->versym + index * 2) & 0x7fff : VER_NDX_GLOBAL;
}

/*
 * Whether the symbol can be a function of that name. Some architectures' images leave their
 * functions without a type. An absolute value is no place in the image.
 */
static int elf_is_wanted(const struct vclock_elf *elf, const struct elf_symbol *s, const char *name)
{
	const char *have;

	if (s->type != STT_FUNC && s->type != STT_NOTYPE)
		return 0;
	if (s->bind != STB_GLOBAL && s->bind != STB_WEAK)
		return 0;
	if (s->section == SHN_UNDEF || s->section == SHN_ABS || s->value == 0)
		return 0;
	have = elf_string(elf, s->name);
	return have != NULL && *have != '\0' && elf_text_is(have, name);
}

int vclock_elf_lookup(const struct vclock_elf *elf, const char *name, const char *version,
		      const void **ret_address)
{
	const int is_versioned = elf->versym != NULL && elf->verdef != NULL;
	uint16_t wanted = 0, have;
	int reason = VCLOCK_ELF_NOT_FOUND;
	struct elf_symbol s;
	const void *address;
	uint64_t room;

	if (version != NULL && is_versioned)
		wanted = elf_version_index(elf, version);
	for (size_t i = 0; i < elf->symtab_count; i++) {
		elf_get_symbol(elf, i, &s);
		if (!elf_is_wanted(elf, &s, name))
			continue;
		have = elf_symbol_version(elf, i);
		if (have == VER_NDX_LOCAL)
			continue;
		if (version != NULL && have != wanted) {
			reason = is_versioned ? VCLOCK_ELF_VERSION : VCLOCK_ELF_UNVERSIONED;
			continue;
		}
		address = elf_place(elf, s.value, PF_X, &room);
		if (address == NULL)
			return -VCLOCK_ELF_CORRUPT;
		*ret_address = address;
		return 0;
	}
	return -reason;
}

int vclock_elf_symbol(const struct vclock_elf *elf, uint64_t index,
		      struct vclock_elf_symbol *ret_symbol)
{
	struct elf_symbol s;
	const char *name;

	if (index >= elf->symtab_count)
		return -VCLOCK_ELF_CORRUPT;
	elf_get_symbol(elf, (size_t)index, &s);
	name = elf_string(elf, s.name);
	if (name == NULL)
		return -VCLOCK_ELF_CORRUPT;
	ret_symbol->name = name;
	ret_symbol->version = NULL;
	if (elf->versym != NULL && elf->verdef != NULL && s.section != SHN_UNDEF)
		ret_symbol->version = elf_version_name(elf, elf_symbol_version(elf, (size_t)index));
	ret_symbol->value = s.value;
	ret_symbol->size = s.size;
	ret_symbol->section = s.section;
	ret_symbol->type = s.type;
	ret_symbol->bind = s.bind;
	return 0;
}

const char *vclock_elf_soname(const struct vclock_elf *elf)
{
	return elf->soname;
}

const unsigned char *elf_locate(const struct vclock_elf *elf, uint64_t vaddr, int is_executable,
				uint64_t *ret_room)
{
	return elf_place(elf, vaddr, is_executable ? PF_X : 0, ret_room);
}

int elf_version(const struct vclock_elf *elf, uint32_t i, const char **ret_name)
{
	uint64_t offset = 0;
	uint16_t index;

	if (elf->verdef == NULL || i >= elf->verdef_count)
		return 0;
	for (uint32_t n = 0; n <= i; n++)
		if (!elf_get_version(elf, &offset, &index, ret_name))
			return 0;
	return 1;
}
