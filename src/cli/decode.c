/* SPDX-License-Identifier: MIT */
/*
 * decode.c - see decode.h. It and image_code.c are the files that know capstone.
 *
 * Each byte of the image is decoded as the start of an instruction once at most, so hostile code
 * costs no more than its length.
 */
#include "cli/decode.h"

#include <elf.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "elf/elf_image.h"

#if VCLOCK_HAS_LIBS

#include <capstone/capstone.h>

struct walk {
	const struct vclock_elf *elf;
	struct decode *result;
	csh handle;
	cs_insn *insn;
	unsigned char *seen; /* one byte for each of the image */
	uint64_t *todo;	     /* image addresses; each is put there once */
	size_t todo_count;
};

static bool open_capstone(const struct vclock_elf *elf, csh *ret_handle)
{
	cs_err error;

	if (elf->machine == EM_X86_64 && elf->is_64)
		error = cs_open(CS_ARCH_X86, CS_MODE_64, ret_handle);
	else if (elf->machine == EM_386 && !elf->is_64)
		error = cs_open(CS_ARCH_X86, CS_MODE_32, ret_handle);
	else if (elf->machine == EM_AARCH64 && elf->is_64)
		error = cs_open(CS_ARCH_ARM64, CS_MODE_ARM, ret_handle);
	else
		return false;
	return error == CS_ERR_OK && cs_option(*ret_handle, CS_OPT_DETAIL, CS_OPT_ON) == CS_ERR_OK;
}

/* Marks the place as a start of code to come, if it is in the image and was not met before. */
static void add_target(struct walk *w, uint64_t vaddr)
{
	uint64_t room;
	const unsigned char *at = elf_locate(w->elf, vaddr, 1, &room);

	if (at == NULL || w->seen[at - w->elf->image])
		return;
	w->seen[at - w->elf->image] = 1;
	w->todo[w->todo_count++] = vaddr;
}

/* The operand of a direct branch: the only one, or the last where a register is tested. */
static bool immediate_target(const struct walk *w, const cs_insn *insn, uint64_t *ret_target)
{
	const cs_detail *d = insn->detail;

	if (w->elf->machine == EM_AARCH64) {
		const cs_arm64 *a = &d->arm64;

		if (a->op_count == 0 || a->operands[a->op_count - 1].type != ARM64_OP_IMM)
			return false;
		*ret_target = (uint64_t)a->operands[a->op_count - 1].imm;
		return true;
	}
	if (d->x86.op_count == 0 || d->x86.operands[0].type != X86_OP_IMM)
		return false;
	*ret_target = (uint64_t)d->x86.operands[0].imm;
	return true;
}

/* Whether the next instruction is reached too: not after a jump that is always taken. */
static bool falls_through(const struct walk *w, const cs_insn *insn)
{
	if (!cs_insn_group(w->handle, insn, CS_GRP_JUMP) ||
	    cs_insn_group(w->handle, insn, CS_GRP_CALL))
		return true;
	if (w->elf->machine != EM_AARCH64)
		return insn->id != X86_INS_JMP && insn->id != X86_INS_LJMP;
	if (insn->id == ARM64_INS_BL || insn->id == ARM64_INS_BLR)
		return true;
	return insn->id != ARM64_INS_BR &&
	       !(insn->id == ARM64_INS_B && (insn->detail->arm64.cc == ARM64_CC_INVALID ||
					     insn->detail->arm64.cc == ARM64_CC_AL));
}

static bool ends_code(const struct walk *w, const cs_insn *insn)
{
	if (cs_insn_group(w->handle, insn, CS_GRP_RET) ||
	    cs_insn_group(w->handle, insn, CS_GRP_IRET))
		return true;
	if (w->elf->machine == EM_AARCH64)
		return insn->id == ARM64_INS_BRK;
	return insn->id == X86_INS_INT3 || insn->id == X86_INS_HLT || insn->id == X86_INS_UD2;
}

static bool is_branch(const struct walk *w, const cs_insn *insn)
{
	return cs_insn_group(w->handle, insn, CS_GRP_JUMP) ||
	       cs_insn_group(w->handle, insn, CS_GRP_CALL) ||
	       (w->elf->machine == EM_AARCH64 &&
		(insn->id == ARM64_INS_BL || insn->id == ARM64_INS_BLR));
}

static void add_branch(struct decode *result, uint64_t vaddr)
{
	if (result->branches_count < DECODE_BRANCHES_MAX)
		result->branches[result->branches_count] = vaddr;
	result->branches_count++;
}

/* false: the code ends here. */
static bool take_instruction(struct walk *w, const cs_insn *insn)
{
	uint64_t target;

	w->result->instructions++;
	if (ends_code(w, insn))
		return false;
	if (!is_branch(w, insn))
		return true;
	if (immediate_target(w, insn, &target))
		add_target(w, w->elf->is_64 ? target : (uint32_t)target);
	else
		add_branch(w->result, insn->address);
	return falls_through(w, insn);
}

static void walk_from(struct walk *w, uint64_t vaddr)
{
	uint64_t room;
	const uint8_t *at = elf_locate(w->elf, vaddr, 1, &room);
	size_t left = at ? (size_t)room : 0;

	for (bool first = true;; first = false) {
		unsigned char *seen = at ? &w->seen[at - w->elf->image] : NULL;

		/* Entries of the list are marked already; what follows them may have been met. */
		if (left == 0 || (!first && *seen))
			return;
		*seen = 1;
		if (!cs_disasm_iter(w->handle, &at, &left, &vaddr, w->insn)) {
			w->result->unknown++;
			return;
		}
		if (!take_instruction(w, w->insn))
			return;
	}
}

static void add_functions(struct walk *w)
{
	struct vclock_elf_symbol symbol;

	for (uint64_t i = 0; i < w->elf->symtab_count; i++) {
		if (vclock_elf_symbol(w->elf, i, &symbol) || symbol.type != STT_FUNC ||
		    symbol.section == SHN_UNDEF || symbol.section == SHN_ABS)
			continue;
		add_target(w, symbol.value);
	}
}

static int compare_addresses(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void decode_image(const struct vclock_elf *elf, struct decode *ret_decode)
{
	struct walk w = {.elf = elf, .result = ret_decode};
	size_t stored;

	memset(ret_decode, 0, sizeof(*ret_decode));
	if (!open_capstone(elf, &w.handle)) {
		ret_decode->refusal = "no decoder for this machine";
		return;
	}
	w.insn = cs_malloc(w.handle);
	w.seen = cli_alloc(elf->size);
	w.todo = cli_alloc(elf->size * sizeof(*w.todo));
	add_functions(&w);
	while (w.insn != NULL && w.todo_count > 0)
		walk_from(&w, w.todo[--w.todo_count]);
	stored = ret_decode->branches_count < DECODE_BRANCHES_MAX ? ret_decode->branches_count
								  : DECODE_BRANCHES_MAX;
	qsort(ret_decode->branches, stored, sizeof(ret_decode->branches[0]), compare_addresses);
	free(w.todo);
	free(w.seen);
	cs_free(w.insn, 1);
	cs_close(&w.handle);
}

#else

void decode_image(const struct vclock_elf *elf, struct decode *ret_decode)
{
	(void)elf;
	memset(ret_decode, 0, sizeof(*ret_decode));
	ret_decode->refusal = "this build has no decoder";
}

#endif
