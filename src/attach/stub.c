/* SPDX-License-Identifier: MIT */
/* stub.c - see stub.h. */
#include "attach/stub.h"

#include "attach/arch/stub_host.h"

const struct stub_arch *stub_arch_of(bool is_64)
{
	return stub_host_arch(is_64);
}
