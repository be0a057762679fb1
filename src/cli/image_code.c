/* SPDX-License-Identifier: MIT */
/*
 * image_code.c - see image_code.h. Every byte of the code is decoded, from front to back: an
 * image's code has nothing between its functions but padding. Must never skip what it does not
 * know.
 */
#include "cli/image_code.h"

#if VCLOCK_HAS_LIBS

#include <capstone/capstone.h>
#include <elf.h>
#include <stdbool.h>

static bool is_indirect(csh handle, const cs_insn *insn)
{
	if (insn->id == X86_INS_LJMP || insn->id == X86_INS_LCALL)
		return true;
	if (!cs_insn_group(handle, insn, CS_GRP_JUMP) && !cs_insn_group(handle, insn, CS_GRP_CALL))
		return false;
	return insn->detail->x86.op_count != 1 || insn->detail->x86.operands[0].type != X86_OP_IMM;
}

static int sweep(csh handle, cs_insn *insn, const unsigned char *code, size_t size,
		 uint64_t address, uint64_t *ret_addresses, int max)
{
	int count = 0;

	while (size > 0) {
		if (!cs_disasm_iter(handle, &code, &size, &address, insn))
			return -1;
		if (!is_indirect(handle, insn))
			continue;
		if (count < max)
			ret_addresses[count] = insn->address;
		count++;
	}
	return count;
}

static int branches(uint16_t machine, const unsigned char *code, size_t size, uint64_t address,
		    uint64_t *ret_addresses, int max)
{
	cs_mode mode = machine == EM_X86_64 ? CS_MODE_64 : CS_MODE_32;
	cs_insn *insn;
	csh handle;
	int count = -1;

	if ((machine != EM_X86_64 && machine != EM_386) ||
	    cs_open(CS_ARCH_X86, mode, &handle) != CS_ERR_OK)
		return -1;
	cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
	insn = cs_malloc(handle);
	if (insn != NULL)
		count = sweep(handle, insn, code, size, address, ret_addresses, max);
	cs_free(insn, 1);
	cs_close(&handle);
	return count;
}

image_branches *const image_code_branches = branches;

#else

image_branches *const image_code_branches = NULL;

#endif
