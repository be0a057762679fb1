/* SPDX-License-Identifier: MIT */
/*
 * elf_body.h - the part of the ELF reader that differs between ELFCLASS32 and ELFCLASS64.
 *
 * elf_image.c includes it twice, with ELF_BITS 32 and 64. It widens the image's structs to the
 * reader's own and checks nothing: the caller has made sure that each struct lies in the image.
 */
#define ELF_PASTE_(a, b, c) a##b##c
#define ELF_PASTE(a, b, c) ELF_PASTE_(a, b, c)
#define ELF_TYPE(name) ELF_PASTE(Elf, ELF_BITS, _##name)
#define ELF_NAME(name) ELF_PASTE(name, ELF_BITS, )
#define ELF_FIELD(p, type, field) \
	elf_load((p) + offsetof(ELF_TYPE(type), field), sizeof(((ELF_TYPE(type) *)0)->field))

static const struct elf_sizes ELF_NAME(elf_sizes) = {
	.header = sizeof(ELF_TYPE(Ehdr)),
	.segment = sizeof(ELF_TYPE(Phdr)),
	.dynamic = sizeof(ELF_TYPE(Dyn)),
	.symbol = sizeof(ELF_TYPE(Sym)),
	.word = ELF_BITS / 8,
};

static void ELF_NAME(elf_get_header)(const unsigned char *p, struct elf_header *ret_header)
{
	ret_header->type = (uint16_t)ELF_FIELD(p, Ehdr, e_type);
	ret_header->machine = (uint16_t)ELF_FIELD(p, Ehdr, e_machine);
	ret_header->header_size = (uint16_t)ELF_FIELD(p, Ehdr, e_ehsize);
	ret_header->segment_size = (uint16_t)ELF_FIELD(p, Ehdr, e_phentsize);
	ret_header->segment_count = (uint16_t)ELF_FIELD(p, Ehdr, e_phnum);
	ret_header->segment_offset = ELF_FIELD(p, Ehdr, e_phoff);
}

static void ELF_NAME(elf_get_segment)(const unsigned char *p, struct elf_segment *ret_segment)
{
	ret_segment->type = (uint32_t)ELF_FIELD(p, Phdr, p_type);
	ret_segment->flags = (uint32_t)ELF_FIELD(p, Phdr, p_flags);
	ret_segment->offset = ELF_FIELD(p, Phdr, p_offset);
	ret_segment->vaddr = ELF_FIELD(p, Phdr, p_vaddr);
	ret_segment->file_size = ELF_FIELD(p, Phdr, p_filesz);
	ret_segment->memory_size = ELF_FIELD(p, Phdr, p_memsz);
}

static void ELF_NAME(elf_get_dynamic)(const unsigned char *p, struct elf_dynamic *ret_dynamic)
{
	ret_dynamic->tag = ELF_FIELD(p, Dyn, d_tag);
	ret_dynamic->value = ELF_FIELD(p, Dyn, d_un);
}

static void ELF_NAME(elf_get_symbol)(const unsigned char *p, struct elf_symbol *ret_symbol)
{
	uint8_t info = (uint8_t)ELF_FIELD(p, Sym, st_info);

	ret_symbol->name = (uint32_t)ELF_FIELD(p, Sym, st_name);
	ret_symbol->value = ELF_FIELD(p, Sym, st_value);
	ret_symbol->size = ELF_FIELD(p, Sym, st_size);
	ret_symbol->section = (uint16_t)ELF_FIELD(p, Sym, st_shndx);
	ret_symbol->type = info & 0xf;
	ret_symbol->bind = (uint8_t)(info >> 4);
}

#undef ELF_PASTE_
#undef ELF_PASTE
#undef ELF_TYPE
#undef ELF_NAME
#undef ELF_FIELD
