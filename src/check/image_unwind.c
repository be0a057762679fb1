/* SPDX-License-Identifier: MIT */
/* image_unwind.c - see image_unwind.h. Must never follow an offset out of the file. */
#include "check/image_unwind.h"

#include <string.h>

/* Encodings of pointers: relative to the place, or to the header; signed or unsigned 4 bytes. */
#define ENCODING_PCREL_SDATA4 0x1b
#define ENCODING_UDATA4 0x03
#define ENCODING_DATAREL_SDATA4 0x3b
#define HEADER_BYTES 12u
#define ENTRY_BYTES 8u

/* A stretch of the file that is read from front to back; overrun is sticky. */
struct cursor {
	const unsigned char *at, *end;
	bool overrun;
};

struct entry {
	uint64_t start, size;
	struct cursor cie, fde; /* their instructions */
	uint64_t code_align;
};

static uint32_t take32(struct cursor *c)
{
	uint32_t value = 0;

	if (c->end - c->at < 4) {
		c->overrun = true;
		return 0;
	}
	memcpy(&value, c->at, 4);
	c->at += 4;
	return value;
}

static uint8_t take8(struct cursor *c)
{
	if (c->at == c->end) {
		c->overrun = true;
		return 0;
	}
	return *c->at++;
}

static void skip(struct cursor *c, uint64_t bytes)
{
	if ((uint64_t)(c->end - c->at) < bytes) {
		c->overrun = true;
		c->at = c->end;
		return;
	}
	c->at += bytes;
}

/* LEB128. The sign makes no difference to where it ends. */
static uint64_t take_leb(struct cursor *c)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = take8(c);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while ((byte & 0x80) && !c->overrun);
	return value;
}

static struct cursor cursor_at(const struct image_unwind *u, uint64_t offset)
{
	struct cursor c = {.at = u->bytes, .end = u->bytes, .overrun = offset > u->size};

	if (!c.overrun) {
		c.at = u->bytes + offset;
		c.end = u->bytes + u->size;
	}
	return c;
}

static uint64_t offset_of(const struct image_unwind *u, const struct cursor *c)
{
	return (uint64_t)(c->at - u->bytes);
}

/* The body of the record at offset: after its length, up to its end. */
static struct cursor record_at(const struct image_unwind *u, uint64_t offset)
{
	struct cursor c = cursor_at(u, offset);
	uint32_t length = take32(&c);

	if (length < 4 || length > (uint64_t)(c.end - c.at))
		c.overrun = true; /* the end mark, the 64-bit form, or more than there is */
	else
		c.end = c.at + length;
	return c;
}

static const char *read_cie(const struct image_unwind *u, uint64_t offset, struct entry *e)
{
	struct cursor c = record_at(u, offset);
	char augmentation[4] = "";
	uint32_t mark = take32(&c);
	uint8_t version = take8(&c);
	unsigned i;

	/* Version 3 differs in the register's encoding: the same for all below 128. */
	if (mark != 0 || (version != 1 && version != 3))
		return "an entry's common part is not one";
	for (i = 0; i < sizeof(augmentation) - 1; i++) {
		augmentation[i] = (char)take8(&c);
		if (augmentation[i] == '\0')
			break;
	}
	if (i == sizeof(augmentation) - 1 && take8(&c) != 0)
		return "an unknown augmentation";
	if (strcmp(augmentation, "zR") != 0 && strcmp(augmentation, "zRS") != 0)
		return "an unknown augmentation";
	e->code_align = take_leb(&c);
	take_leb(&c); /* data alignment */
	if (take8(&c) >= 128)
		return "an unknown return address register";
	if (take_leb(&c) != 1 || take8(&c) != ENCODING_PCREL_SDATA4 || c.overrun)
		return "an unknown pointer encoding";
	e->cie = c;
	return NULL;
}

static const char *read_entry(const struct image_unwind *u, uint64_t offset, struct entry *e)
{
	struct cursor c = record_at(u, offset);
	uint64_t here = offset_of(u, &c);
	uint32_t back = take32(&c);
	const char *words;

	if (c.overrun || back == 0 || back > here)
		return "an entry ends outside the file, or is none";
	words = read_cie(u, here - back, e);
	if (words != NULL)
		return words;
	here = offset_of(u, &c);
	e->start = here + (uint64_t)(int64_t)(int32_t)take32(&c);
	e->size = take32(&c);
	skip(&c, take_leb(&c));
	if (c.overrun)
		return "an entry ends outside the file";
	e->fde = c;
	return NULL;
}

/* One instruction past its first byte: how far the place moves, and whether it defines the frame.
 */
static bool take_instruction(struct cursor *c, uint8_t op, uint64_t *ret_advance, bool *ret_defines)
{
	*ret_advance = 0;
	*ret_defines = false;
	if (op >> 6 == 1)
		*ret_advance = op & 0x3f;
	else if (op >> 6 == 2)
		take_leb(c);
	if (op >> 6 != 0)
		return true;
	switch (op) {
	case 0x00: /* nop */
	case 0x0a: /* remember */
	case 0x0b: /* restore */
	case 0x2d: /* the return address is signed, on aarch64 */
		return true;
	case 0x02: /* advance */
		*ret_advance = take8(c);
		return true;
	case 0x03:
		*ret_advance = take8(c);
		*ret_advance |= (uint64_t)take8(c) << 8;
		return true;
	case 0x04:
		*ret_advance = take32(c);
		return true;
	case 0x06: /* one number */
	case 0x07:
	case 0x08:
	case 0x0e:
	case 0x13:
	case 0x2e:
		take_leb(c);
		return true;
	case 0x0d: /* the frame is register, and the offset that it was: 0 at first, on riscv64 */
		*ret_defines = true;
		take_leb(c);
		return true;
	case 0x0c: /* the frame is register and offset */
	case 0x12:
		*ret_defines = true;
		/* fall through */
	case 0x05: /* two numbers */
	case 0x09:
	case 0x11:
	case 0x14:
		take_leb(c);
		take_leb(c);
		return true;
	case 0x0f: /* the frame is an expression */
		*ret_defines = true;
		skip(c, take_leb(c));
		return true;
	case 0x10: /* a register by an expression */
	case 0x16:
		take_leb(c);
		skip(c, take_leb(c));
		return true;
	default:
		return false;
	}
}

static const char *walk_instructions(struct cursor c, const struct entry *e, bool *has_frame)
{
	uint64_t place = 0, advance;
	bool defines;

	while (c.at < c.end) {
		if (!take_instruction(&c, take8(&c), &advance, &defines))
			return "an unknown instruction";
		if (c.overrun)
			return "an instruction ends outside its entry";
		*has_frame |= defines;
		if (advance != 0 && !*has_frame)
			return "an entry does not say where the frame is";
		place += advance * e->code_align;
		if (place > e->size)
			return "an entry's instructions go past its code";
	}
	return NULL;
}

static const char *check_entry(const struct image_unwind *u, const struct entry *e)
{
	const struct entry cie = {.size = 0};
	bool has_frame = false;
	const char *words = walk_instructions(e->cie, &cie, &has_frame);

	if (words == NULL)
		words = walk_instructions(e->fde, e, &has_frame);
	if (words == NULL && !has_frame)
		words = "an entry does not say where the frame is";
	if (words == NULL && (e->start > u->size || e->size > u->size - e->start))
		words = "an entry's code is outside the file";
	return words;
}

/* Entry i of the table: the address it is for, and where its record is. */
static uint64_t table_start(const struct image_unwind *u, uint64_t i, uint64_t *ret_record)
{
	struct cursor c = cursor_at(u, u->table + i * ENTRY_BYTES);
	uint64_t start = u->header + (uint64_t)(int64_t)(int32_t)take32(&c);

	*ret_record = u->header + (uint64_t)(int64_t)(int32_t)take32(&c);
	return start;
}

static const char *check_table(const struct image_unwind *u)
{
	uint64_t i, start, record, last = 0;
	struct entry e;
	const char *words;

	for (i = 0; i < u->count; i++) {
		start = table_start(u, i, &record);
		if (i > 0 && start <= last)
			return "the table is not sorted";
		last = start;
		words = read_entry(u, record, &e);
		if (words == NULL)
			words = check_entry(u, &e);
		if (words != NULL)
			return words;
		if (e.start != start)
			return "the table leads to another function's entry";
	}
	return NULL;
}

const char *image_unwind_open(const unsigned char *bytes, size_t size, uint64_t offset,
			      uint64_t length, struct image_unwind *ret_unwind)
{
	struct image_unwind u = {.bytes = bytes, .size = size, .header = offset};
	struct cursor c = cursor_at(&u, offset);
	const char *words;

	if (c.overrun || length < HEADER_BYTES || length > size - offset)
		return ".eh_frame_hdr is outside the file";
	if (take8(&c) != 1 || take8(&c) != ENCODING_PCREL_SDATA4 || take8(&c) != ENCODING_UDATA4 ||
	    take8(&c) != ENCODING_DATAREL_SDATA4)
		return ".eh_frame_hdr has no table, or one of an unknown form";
	take32(&c); /* .eh_frame itself */
	u.count = take32(&c);
	u.table = offset_of(&u, &c);
	if (u.count == 0 || u.count > (length - HEADER_BYTES) / ENTRY_BYTES)
		return "the table is empty, or longer than its section";
	words = check_table(&u);
	if (words == NULL)
		*ret_unwind = u;
	return words;
}

bool image_unwind_covers(const struct image_unwind *u, uint64_t address, uint64_t size)
{
	uint64_t i, record, found = UINT64_MAX;
	struct entry e;

	for (i = 0; i < u->count && table_start(u, i, &record) <= address; i++)
		found = record;
	return found != UINT64_MAX && read_entry(u, found, &e) == NULL &&
	       address - e.start <= e.size && size <= e.size - (address - e.start);
}
