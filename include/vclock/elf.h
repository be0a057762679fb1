/* SPDX-License-Identifier: MIT */
/*
 * elf.h - finds symbols in a vDSO image, in memory or in a file's bytes.
 *
 * Needs no libc and may run before it is set up. ELF32 and ELF64 images of the host's byte order
 * are both read, by 32- and 64-bit programs alike. An image is hostile input: every offset is
 * checked against the size, every walk is bounded; an image that is torn, cut, looping or lying
 * gives an error, never a crash or a hang. Only program headers and the dynamic section are used,
 * never section headers. No function here writes to the image. All are thread- and
 * async-signal-safe.
 */
#ifndef VCLOCK_ELF_H
#define VCLOCK_ELF_H

#include "compiler.h"

VCLOCK_BEGIN_DECLS

/* Why an image, or a symbol in it, is not usable. Functions return them negated. */
enum vclock_elf_error {
	VCLOCK_ELF_OK = 0,
	VCLOCK_ELF_ABSENT,  /* no image: address 0, or AT_SYSINFO_EHDR missing */
	VCLOCK_ELF_NOT_ELF, /* no ELF magic */
	VCLOCK_ELF_CLASS,   /* neither ELFCLASS32 nor ELFCLASS64, or a bad e_ehsize/e_phentsize */
	VCLOCK_ELF_BYTE_ORDER, /* not the host's byte order */
	VCLOCK_ELF_TYPE,       /* not ET_DYN */
	VCLOCK_ELF_MACHINE,    /* not the machine that was asked for */
	VCLOCK_ELF_TRUNCATED,  /* a header or table lies outside the image */
	VCLOCK_ELF_NO_LOAD,    /* no PT_LOAD */
	VCLOCK_ELF_NO_DYNAMIC, /* no PT_DYNAMIC */
	VCLOCK_ELF_NO_SYMTAB,  /* no DT_SYMTAB or no DT_STRTAB */
	VCLOCK_ELF_NO_HASH, /* no hash table, and nothing else proves how many symbols there are */
	VCLOCK_ELF_CORRUPT, /* counts or indices that contradict the image's size */
	VCLOCK_ELF_NOT_FOUND,	/* no such symbol */
	VCLOCK_ELF_VERSION,	/* the symbol is there, under another version */
	VCLOCK_ELF_UNVERSIONED, /* a version was demanded of an image without version tables */
	VCLOCK_ELF_ADDRESS,	/* the address is not that of a page */
};

enum vclock_elf_hash { VCLOCK_ELF_HASH_SYSV = 1, VCLOCK_ELF_HASH_GNU = 2 };

/*
 * An image that vclock_elf_open() has checked. Holds pointers into the image, which must stay
 * mapped and unchanged. Fields are for reading only.
 */
struct vclock_elf {
	const unsigned char *image;
	size_t size;
	uint64_t
		bias; /* symbol address in memory = st_value + bias (mod 2^64); 0-based in a file */
	uint64_t load_vaddr, load_offset, load_size; /* the first PT_LOAD */
	const unsigned char *dynamic, *symtab, *strtab, *versym, *verdef, *sysv_hash, *gnu_hash;
	const unsigned char *phdr; /* the program headers */
	const char *soname;	   /* DT_SONAME; NULL: none */
	/* strtab_size ends with the table's last NUL: what begins below it is terminated. */
	uint64_t dynamic_count, symtab_count, strtab_size, verdef_size, sysv_hash_size,
		gnu_hash_size;
	uint32_t verdef_count; /* the most that a walk through verdef visits */
	uint32_t phdr_count;
	uint32_t hashes; /* bits of enum vclock_elf_hash; 0: neither, symbols are found by a scan */
	uint16_t machine; /* e_machine */
	uint8_t is_64;	  /* ELFCLASS64 */
	uint8_t is_mapped;
};

struct vclock_elf_symbol {
	const char *name;    /* in the image's string table, terminated */
	const char *version; /* NULL: none */
	uint64_t value;	     /* st_value */
	uint64_t size;
	uint16_t section; /* st_shndx; 0: undefined here, 0xfff1: an absolute value */
	uint8_t type, bind;
};

/*
 * Checks an image of size bytes at image and fills *ret_elf. is_mapped: the image lies in memory as
 * its program headers say (a running vDSO), else it is the bytes of a file; the kernel's images
 * have both equal. The hash tables, where there are any, are walked once from end to end. Returns 0
 * or a negated enum vclock_elf_error; *ret_elf is untouched then.
 */
int vclock_elf_open(const void *image, size_t size, int is_mapped, struct vclock_elf *ret_elf);

/*
 * The address of the function called name, with the given version; version NULL: any. As a mapped
 * address; for a file's bytes, the place in them. Undefined, empty-named and zero-valued symbols
 * are never found, nor one whose address lies outside the image. Returns 0, -VCLOCK_ELF_NOT_FOUND,
 * -VCLOCK_ELF_VERSION, -VCLOCK_ELF_UNVERSIONED or -VCLOCK_ELF_CORRUPT.
 */
int vclock_elf_lookup(const struct vclock_elf *elf, const char *name, const char *version,
		      const void **ret_address);

/* Symbol number index, 0 .. symtab_count - 1, for listings. 0, or -VCLOCK_ELF_CORRUPT. */
int vclock_elf_symbol(const struct vclock_elf *elf, uint64_t index,
		      struct vclock_elf_symbol *ret_symbol);

/* DT_SONAME, or NULL. */
const char *vclock_elf_soname(const struct vclock_elf *elf);

/* The error in a few plain words, for "object: words". Never NULL. */
const char *vclock_elf_strerror(int error);

/*
 * The functions of the running kernel's vDSO that vclock uses; NULL where missing. The names and
 * the version are those of the architecture's kernel ABI.
 */
struct vclock_vdso {
	struct vclock_elf elf;
	int error; /* negated enum vclock_elf_error of the image as a whole; 0: the rest is valid */
	/* int (clockid_t, struct { long sec, nsec; }): the 64-bit-time one on 32-bit machines,
	 * where it takes two int64_t; NULL there when only the 32-bit-time one exists. */
	const void *clock_gettime;
	const void *clock_gettime32; /* the 32-bit-time one; NULL on 64-bit machines */
	const void *gettimeofday;    /* int (struct timeval of long, struct timezone) */
	const void *time;	     /* long (long *) */
	const void *clock_getres;    /* int (clockid_t, struct { long sec, nsec; }) */
	const void *getcpu;	     /* int (unsigned *, unsigned *, void *) */
};

/*
 * Looks the functions up in the image mapped at address (AT_SYSINFO_EHDR of the auxiliary vector;
 * 0: absent). size 0: taken from the image's own program headers, which are trusted to be mapped.
 * Returns ret_vdso->error, and fills *ret_vdso in every case.
 */
int vclock_vdso_find(const void *address, size_t size, struct vclock_vdso *ret_vdso);

VCLOCK_END_DECLS

#endif /* VCLOCK_ELF_H */
