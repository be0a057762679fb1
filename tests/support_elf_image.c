/* SPDX-License-Identifier: MIT */
/*
 * support_elf_image.c - see support_elf_image.h. Must never be used on images that are not its own.
 */
#include "support_elf_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "arch/result_code.h"

/* What grows while an image is laid out. */
struct layout {
	struct image *image;
	const struct image_plan *plan;
	size_t names;				 /* bytes of dynstr so far */
	char text[2048];			 /* dynstr */
	unsigned int order[IMAGE_SYMBOLS_MAX];	 /* plan's symbols in the order of dynsym */
	unsigned int count, unhashed;		 /* of them */
	const char *versions[IMAGE_SYMBOLS_MAX]; /* version i has index i + 2 */
	unsigned int versions_count;
};

static void require(int cond, const char *what)
{
	if (cond)
		return;
	fprintf(stderr, "support_elf_image: %s\n", what);
	abort();
}

void image_put(struct image *image, size_t offset, size_t size, uint64_t value)
{
	require(offset + size <= IMAGE_ROOM, "no room");
	for (size_t i = 0; i < size; i++) {
		size_t at = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : size - 1 - i;

		image->bytes[offset + at] = (unsigned char)(value >> (8 * i));
	}
}

uint64_t image_get(const struct image *image, size_t offset, size_t size)
{
	uint64_t value = 0;

	require(offset + size <= IMAGE_ROOM, "no room");
	for (size_t i = 0; i < size; i++) {
		size_t at = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? i : size - 1 - i;

		value |= (uint64_t)image->bytes[offset + at] << (8 * i);
	}
	return value;
}

static size_t reserve(struct layout *l, size_t align, size_t size)
{
	struct image *image = l->image;
	size_t at = (image->size + align - 1) / align * align;

	if (l->plan->is_unaligned && align > 1)
		at++;
	require(at + size <= IMAGE_ROOM, "no room");
	image->size = at + size;
	return at;
}

static uint32_t add_name(struct layout *l, const char *name)
{
	size_t length = strlen(name) + 1;
	uint32_t at = (uint32_t)l->names;

	if (length == 1)
		return 0;
	for (size_t i = 0; i + length <= l->names; i++)
		if (memcmp(l->text + i, name, length) == 0)
			return (uint32_t)i;
	require(l->names + length <= sizeof(l->text), "too many names");
	memcpy(l->text + l->names, name, length);
	l->names += length;
	return at;
}

static unsigned int version_index(struct layout *l, const char *version)
{
	unsigned int i;

	if (version == NULL)
		return VER_NDX_GLOBAL;
	for (i = 0; i < l->versions_count; i++)
		if (strcmp(l->versions[i], version) == 0)
			return i + 2;
	require(i < IMAGE_SYMBOLS_MAX, "too many versions");
	l->versions[l->versions_count++] = version;
	return i + 2;
}

/* The two hash functions of the ELF ABI. */
static uint32_t hash_sysv(const char *name)
{
	uint32_t h = 0;

	for (; *name != '\0'; name++) {
		h = (h << 4) + (unsigned char)*name;
		h ^= (h >> 24) & 0xf0;
		h &= 0x0fffffff;
	}
	return h;
}

static uint32_t hash_gnu(const char *name)
{
	uint32_t h = 5381;

	for (; *name != '\0'; name++)
		h = h * 33 + (unsigned char)*name;
	return h;
}

static uint32_t sysv_buckets(const struct image_plan *plan)
{
	return plan->sysv_buckets ? plan->sysv_buckets : 3;
}

static uint32_t gnu_buckets(const struct image_plan *plan)
{
	return plan->gnu_buckets ? plan->gnu_buckets : 3;
}

static int is_hashed(const struct image_symbol *s)
{
	return !s->is_undefined;
}

/* DT_GNU_HASH wants the undefined symbols first, the others by bucket. */
static void order_symbols(struct layout *l)
{
	const struct image_symbol *s = l->plan->symbols;
	unsigned int total = 0;

	while (s[total].name != NULL)
		total++;
	require(total < IMAGE_SYMBOLS_MAX, "too many symbols");
	for (unsigned int i = 0; i < total; i++)
		if (!is_hashed(&s[i]))
			l->order[l->count++] = i;
	l->unhashed = l->count;
	for (uint32_t bucket = 0; bucket < gnu_buckets(l->plan); bucket++)
		for (unsigned int i = 0; i < total; i++)
			if (is_hashed(&s[i]) &&
			    hash_gnu(s[i].name) % gnu_buckets(l->plan) == bucket)
				l->order[l->count++] = i;
	l->image->symbols = l->count + 1;
}

static const struct image_symbol *nth(const struct layout *l, unsigned int index)
{
	return &l->plan->symbols[l->order[index - 1]];
}

static void put_symbols(struct layout *l)
{
	struct image *im = l->image;
	size_t step = image_sizeof(im, Sym), at;

	for (unsigned int i = 1; i <= l->count; i++) {
		const struct image_symbol *s = nth(l, i);
		unsigned int type = s->type ? s->type : STT_FUNC;
		unsigned int bind = s->bind ? s->bind : STB_GLOBAL;
		uint64_t value = im->vaddr + im->text + (uint64_t)IMAGE_CODE_STEP * l->order[i - 1];

		at = im->symtab + step * i;
		image_set(im, at, Sym, st_name, add_name(l, s->name));
		image_set(im, at, Sym, st_value, s->is_valueless || s->is_undefined ? 0 : value);
		image_set(im, at, Sym, st_size, 6);
		image_set(im, at, Sym, st_info, ELF64_ST_INFO(bind, type));
		image_set(im, at, Sym, st_shndx,
			  s->is_undefined  ? SHN_UNDEF
			  : s->is_absolute ? SHN_ABS
					   : 7);
	}
}

static void put_code(struct layout *l)
{
	for (unsigned int i = 0; i < l->count; i++) {
		size_t at = l->image->text + IMAGE_CODE_STEP * i;

		require(at + RESULT_CODE_SIZE <= IMAGE_ROOM, "no room");
		result_code(l->image->bytes + at, l->plan->symbols[i].result);
	}
	/* It may be called: an instruction cache need not see what was stored. */
	__builtin___clear_cache((char *)l->image->bytes, (char *)l->image->bytes + IMAGE_ROOM);
}

static void put_sysv(struct layout *l)
{
	struct image *im = l->image;
	uint32_t buckets = sysv_buckets(l->plan);
	size_t bucket, chain = im->sysv + 8 + (size_t)buckets * 4;

	image_put(im, im->sysv, 4, buckets);
	image_put(im, im->sysv + 4, 4, im->symbols);
	for (unsigned int i = l->count; i >= 1; i--) {
		if (!is_hashed(nth(l, i)))
			continue;
		bucket = im->sysv + 8 + (size_t)(hash_sysv(nth(l, i)->name) % buckets) * 4;
		image_put(im, chain + (size_t)i * 4, 4, image_get(im, bucket, 4));
		image_put(im, bucket, 4, i);
	}
}

static void put_gnu(struct layout *l)
{
	struct image *im = l->image;
	uint32_t buckets = gnu_buckets(l->plan), first = l->unhashed + 1;
	size_t word = im->is_64 ? 8 : 4, bucket = im->gnu + 16 + word;
	size_t chain = bucket + (size_t)buckets * 4;

	image_put(im, im->gnu, 4, buckets);
	image_put(im, im->gnu + 4, 4, first);
	image_put(im, im->gnu + 8, 4, 1);
	image_put(im, im->gnu + 12, 4, 5);
	/* A bloom filter that passes everything. */
	image_put(im, im->gnu + 16, word, UINT64_MAX);
	for (unsigned int i = first; i <= l->count; i++) {
		uint32_t h = hash_gnu(nth(l, i)->name);
		size_t own = bucket + (size_t)(h % buckets) * 4;
		int is_last = i == l->count ||
			      hash_gnu(nth(l, i + 1)->name) % buckets != h % buckets;

		if (image_get(im, own, 4) == 0)
			image_put(im, own, 4, i);
		image_put(im, chain + (size_t)(i - first) * 4, 4, (h & ~1u) | (is_last ? 1u : 0u));
	}
}

/* Elf32_Verdef is the same struct. */
static void put_verdef(struct layout *l, const char *soname)
{
	struct image *im = l->image;
	size_t step = sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux), at = im->verdef;

	for (unsigned int i = 0; i <= l->versions_count; i++, at += step) {
		const char *name = i == 0 ? soname : l->versions[i - 1];

		image_put(im, at + offsetof(Elf64_Verdef, vd_version), 2, VER_DEF_CURRENT);
		image_put(im, at + offsetof(Elf64_Verdef, vd_flags), 2, i == 0 ? VER_FLG_BASE : 0);
		image_put(im, at + offsetof(Elf64_Verdef, vd_ndx), 2, i + 1);
		image_put(im, at + offsetof(Elf64_Verdef, vd_cnt), 2, 1);
		image_put(im, at + offsetof(Elf64_Verdef, vd_hash), 4, hash_sysv(name));
		image_put(im, at + offsetof(Elf64_Verdef, vd_aux), 4, sizeof(Elf64_Verdef));
		image_put(im, at + offsetof(Elf64_Verdef, vd_next), 4,
			  i == l->versions_count ? 0 : step);
		image_put(im, at + sizeof(Elf64_Verdef), 4, add_name(l, name));
	}
}

static size_t put_tag(struct layout *l, size_t at, uint64_t tag, uint64_t value)
{
	image_set(l->image, at, Dyn, d_tag, tag);
	image_set(l->image, at, Dyn, d_un, value);
	return at + image_sizeof(l->image, Dyn);
}

static void put_dynamic(struct layout *l, uint32_t soname)
{
	struct image *im = l->image;
	size_t at = im->dynamic;

	if (!l->plan->is_minimal) {
		at = put_tag(l, at, DT_SONAME, soname);
		at = put_tag(l, at, DT_STRSZ, l->names);
		at = put_tag(l, at, DT_SYMENT, image_sizeof(im, Sym));
	}
	at = put_tag(l, at, DT_STRTAB, im->vaddr + im->strtab);
	at = put_tag(l, at, DT_SYMTAB, im->vaddr + im->symtab);
	if (im->sysv)
		at = put_tag(l, at, DT_HASH, im->vaddr + im->sysv);
	if (im->gnu)
		at = put_tag(l, at, DT_GNU_HASH, im->vaddr + im->gnu);
	if (im->versym)
		at = put_tag(l, at, DT_VERSYM, im->vaddr + im->versym);
	if (im->verdef)
		at = put_tag(l, at, DT_VERDEF, im->vaddr + im->verdef);
	if (im->verdef && !l->plan->is_minimal)
		at = put_tag(l, at, DT_VERDEFNUM, l->versions_count + 1);
	put_tag(l, at, DT_NULL, 0);
}

static void put_segment(struct image *im, size_t at, uint32_t type, uint32_t flags, size_t offset,
			size_t size)
{
	image_set(im, at, Phdr, p_type, type);
	image_set(im, at, Phdr, p_flags, flags);
	image_set(im, at, Phdr, p_offset, offset);
	image_set(im, at, Phdr, p_vaddr, im->vaddr + offset);
	image_set(im, at, Phdr, p_paddr, im->vaddr + offset);
	image_set(im, at, Phdr, p_filesz, size);
	image_set(im, at, Phdr, p_memsz, size);
	image_set(im, at, Phdr, p_align, 4096);
}

static void put_header(const struct layout *l)
{
	struct image *im = l->image;
	uint16_t machine = im->is_64 ? EM_X86_64 : EM_386;

	if (l->plan->machine)
		machine = l->plan->machine;
	memcpy(im->bytes, ELFMAG, SELFMAG);
	im->bytes[EI_CLASS] = im->is_64 ? ELFCLASS64 : ELFCLASS32;
	im->bytes[EI_DATA] = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;
	im->bytes[EI_VERSION] = EV_CURRENT;
	image_set(im, 0, Ehdr, e_type, ET_DYN);
	image_set(im, 0, Ehdr, e_machine, machine);
	image_set(im, 0, Ehdr, e_version, EV_CURRENT);
	image_set(im, 0, Ehdr, e_phoff, im->phdr);
	image_set(im, 0, Ehdr, e_ehsize, image_sizeof(im, Ehdr));
	image_set(im, 0, Ehdr, e_phentsize, image_sizeof(im, Phdr));
	image_set(im, 0, Ehdr, e_phnum, 2u + l->plan->phdr_spare);
}

/* Room for every table; dynstr comes right after dynsym, as linkers have it. */
static void place_tables(struct layout *l)
{
	const struct image_plan *plan = l->plan;
	struct image *im = l->image;
	size_t word = im->is_64 ? 8 : 4;

	im->size = image_sizeof(im, Ehdr);
	im->phdr = reserve(l, 8, image_sizeof(im, Phdr) * (2u + plan->phdr_spare));
	im->load = im->phdr + (plan->load_is_second ? image_sizeof(im, Phdr) : 0);
	im->dynamic_phdr = im->phdr + (plan->load_is_second ? 0 : image_sizeof(im, Phdr));
	if (plan->hashes & VCLOCK_ELF_HASH_SYSV)
		im->sysv = reserve(l, 8, (2 + sysv_buckets(plan) + im->symbols) * 4);
	if (plan->hashes & VCLOCK_ELF_HASH_GNU)
		im->gnu =
			reserve(l, 8, 16 + word + (gnu_buckets(plan) + l->count - l->unhashed) * 4);
	im->symtab = reserve(l, 8, im->symbols * image_sizeof(im, Sym));
	if (plan->has_gap)
		reserve(l, 1, 3);
	im->strtab = reserve(l, 1, l->names);
	if (!plan->is_unversioned) {
		im->versym = reserve(l, 2, im->symbols * 2);
		im->verdef = reserve(l, 8,
				     (1 + l->versions_count) *
					     (sizeof(Elf64_Verdef) + sizeof(Elf64_Verdaux)));
	}
	im->dynamic = reserve(l, 8, image_sizeof(im, Dyn) * 12);
	im->text = reserve(l, 16, IMAGE_CODE_STEP * (size_t)l->count);
}

static void collect_names(struct layout *l, const char *soname)
{
	l->names = 1;
	add_name(l, soname);
	for (unsigned int i = 1; i <= l->count; i++) {
		add_name(l, nth(l, i)->name);
		version_index(l, nth(l, i)->version);
	}
	for (unsigned int i = 0; i < l->versions_count; i++)
		add_name(l, l->versions[i]);
}

void image_build(struct image *image, const struct image_plan *plan)
{
	const char *soname = plan->is_64 ? "linux-vdso.so.1" : "linux-gate.so.1";
	struct layout l = {.image = image, .plan = plan};

	memset(image, 0, sizeof(*image));
	image->bytes = mmap(NULL, IMAGE_ROOM, PROT_READ | PROT_WRITE | PROT_EXEC,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	require(image->bytes != MAP_FAILED, "mmap");
	image->is_64 = plan->is_64;
	image->vaddr = plan->vaddr;
	order_symbols(&l);
	collect_names(&l, soname);
	place_tables(&l);
	put_header(&l);
	put_segment(image, image->load, PT_LOAD, PF_R | PF_X, 0, image->size);
	put_segment(image, image->dynamic_phdr, PT_DYNAMIC, PF_R, image->dynamic,
		    image_sizeof(image, Dyn) * 12);
	put_code(&l);
	put_symbols(&l);
	if (image->sysv)
		put_sysv(&l);
	if (image->gnu)
		put_gnu(&l);
	for (unsigned int i = 1; image->versym && i <= l.count; i++)
		image_put(image, image->versym + (size_t)i * 2, 2,
			  version_index(&l, nth(&l, i)->version));
	if (image->verdef)
		put_verdef(&l, soname);
	put_dynamic(&l, add_name(&l, soname));
	memcpy(image->bytes + image->strtab, l.text, l.names);
}

void image_free(struct image *image)
{
	munmap(image->bytes, IMAGE_ROOM);
	image->bytes = NULL;
}

void image_build_vdso(struct image *image, int is_64, uint32_t hashes)
{
	static const struct image_symbol symbols64[] = {
		{.name = "__vdso_clock_gettime", .version = "LINUX_2.6", .result = 100},
		{.name = "__vdso_gettimeofday", .version = "LINUX_2.6", .result = 101},
		{.name = "__vdso_time", .version = "LINUX_2.6", .result = 102},
		{.name = "__vdso_clock_getres", .version = "LINUX_2.6", .result = 103},
		{.name = "__vdso_getcpu", .version = "LINUX_2.6", .result = 104},
		{.name = "LINUX_2.6", .version = "LINUX_2.6", .type = STT_OBJECT, .is_absolute = 1},
		{.name = NULL},
	};
	static const struct image_symbol symbols32[] = {
		{.name = "__vdso_clock_gettime64", .version = "LINUX_2.6", .result = 100},
		{.name = "__vdso_gettimeofday", .version = "LINUX_2.6", .result = 101},
		{.name = "__vdso_time", .version = "LINUX_2.6", .result = 102},
		{.name = "__vdso_clock_getres", .version = "LINUX_2.6", .result = 103},
		{.name = "__vdso_getcpu", .version = "LINUX_2.6", .result = 104},
		{.name = "__vdso_clock_gettime", .version = "LINUX_2.6", .result = 105},
		{.name = "__kernel_vsyscall", .version = "LINUX_2.5", .result = 106},
		{.name = NULL},
	};
	struct image_plan plan = {
		.is_64 = is_64 != 0,
		.hashes = hashes,
		.symbols = is_64 ? symbols64 : symbols32,
	};

	image_build(image, &plan);
}

size_t image_tag(const struct image *image, uint64_t tag)
{
	size_t word = image->is_64 ? 8 : 4, at = image->dynamic;

	for (int i = 0; i < 12; i++, at += 2 * word)
		if (image_get(image, at, word) == tag)
			return at;
	return 0;
}

size_t image_symbol(const struct image *image, const char *name)
{
	for (size_t i = 1; i < image->symbols; i++) {
		size_t at = image->symtab + i * image_sizeof(image, Sym);
		size_t text = image->strtab + (size_t)image_get(image, at, 4);

		if (strcmp((const char *)image->bytes + text, name) == 0)
			return at;
	}
	return 0;
}

const void *image_code(const struct image *image, size_t i)
{
	return image->bytes + image->text + IMAGE_CODE_STEP * i;
}

int image_open(const struct image *image, int is_mapped, struct vclock_elf *ret_elf)
{
	return vclock_elf_open(image->bytes, image->size, is_mapped, ret_elf);
}
