#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The finder needs no libc and no relocation: its objects ask for nothing but each other, and a
# program without a C library finds its vDSO with them.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
cc=${CELL_CC:-gcc}
objects=("$B"/obj/src/elf/*.o)

# A sanitizer's own calls are not ours.
wanted=$(nm -u "${objects[@]}" | awk '$1 == "U" { print $2 }' |
	grep -Ev '^(vclock_elf_|elf_|vdso_|_GLOBAL_OFFSET_TABLE_|__asan_|__ubsan_)' | sort -u)
is "$wanted" '' 'no object needs anything from outside src/elf'
if [ -z "${CELL_SAN:-}" ]; then
	sections=$(readelf -SW "${objects[@]}" | awk '/ \.(data|bss|tbss|tdata)/ && $0 !~ / 000000 00 /')
	is "$sections" '' 'no object has data that is written or relocated'
fi

cat >"$tap_dir/start.c" <<'C'
#include <vclock/elf.h>

/* The stack at the entry: argc, argv, NULL, environment, NULL, auxiliary vector. */
__attribute__((noreturn, used)) static void begin(const unsigned long *stack)
{
	const unsigned long *at = stack + 1 + stack[0] + 1;
	struct vclock_vdso vdso;
	long status = 1;

	while (*at)
		at++;
	for (at++; at[0]; at += 2)
		if (at[0] == 33)
			break;
	if (at[0] && vclock_vdso_find((const void *)at[1], 0, &vdso) == 0 && vdso.clock_gettime) {
		long ts[2] = {0, 0};

		status = ((int (*)(int, long *))vdso.clock_gettime)(0, ts) == 0 && ts[0] > 1 ? 0 : 2;
	}
	for (;;)
		__asm__ __volatile__("syscall" : : "a"(60L), "D"(status) : "rcx", "r11", "memory");
}

__asm__(".globl _start\n_start:\n\txor %ebp, %ebp\n\tmov %rsp, %rdi\n\tand $-16, %rsp\n\tcall begin\n");
C
# Compiled without a sanitizer, which needs libc.
build() {
	# shellcheck disable=SC2086 # a command with its arguments
	$cc -O2 -Wall -Werror -ffreestanding -fno-stack-protector -nostdlib -static "$@" -I "$root/include" \
		-I "$root/src" -o "$tap_dir/start" "$tap_dir/start.c" "$root"/src/elf/*.c
}
build
ok $? 'a program without a C library is built'
run 'it finds and calls clock_gettime (V03)' "$tap_dir/start"
build -fPIE -static-pie -Wl,--no-dynamic-linker
ok $? 'a position-independent one that nobody relocates is built'
run 'it does so too' "$tap_dir/start"
tap_done
