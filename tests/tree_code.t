#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What the compiler made of the library, on x86_64 and i386:
#   - a counter read has an LFENCE right before it, but in functions named unordered, and where it
#     only counts the second between two looks at a file;
#   - no RDTSCP and no RDPID: not every CPU and hypervisor has them (field cases C11, M06);
#   - no 64-bit division out of libgcc on i386;
#   - the readers make no call and no division;
#   - nothing calls the old vsyscall page (V01) or looks at [vvar] (V08);
#   - the bench's empty loop, which is taken out of all figures, counts in a register.
# Each check refuses a program that has the fault.
# shellcheck source=tests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
cd "$root" || exit 1

# disassemble FILE: once for each version of it.
disassemble() {
	local kept
	kept=$tap_dir/$(stat -c %i.%.9Y "$1")
	[ -e "$kept" ] || objdump -d --no-show-raw-insn "$1" >"$kept"
	cat "$kept"
}

# rdtsc_is_ordered FILE
rdtsc_is_ordered() {
	disassemble "$1" | awk -F '\t' '
		/^[0-9a-f]+ <.*>:$/ { name = $0; before = "" }
		NF >= 2 {
			if ($2 ~ /^rdtsc *$/ && before !~ /^lfence/ && name !~ /unordered|<reopen_look>/) {
				print "unordered rdtsc in " name
				bad = 1
			}
			reads += $2 ~ /^rdtsc *$/
			before = $2
		}
		END { if (reads == 0) print "no rdtsc at all"; exit bad || reads == 0 }'
}

# has_no PATTERN FILE: no instruction whose text matches.
has_no() {
	! disassemble "$2" | awk -F '\t' 'NF >= 2 { print $2 }' | grep -E "$1"
}

# The members that never run in a time call, nor in a step of the publisher, may divide.
has_no_libgcc_division() {
	! nm -A -u "$1" | grep -E '__(u?div|u?mod|u?divmod)(di|ti)[34]' |
		grep -vE ':(counter_status|publisher_thread|status)\.o:'
}

# hot_path FILE: the readers' own copies neither call nor divide. On i386 a function may call its own
# next instruction to learn where it lies.
hot_path() {
	local name
	for name in vclock_read_at vclock_read_timespec vclock_read_ns vclock_read_ns_unordered \
		vclock_read_now; do
		disassemble "$1" | awk -F '\t' -v name="$name" '
			/^[0-9a-f]+ <.*>:$/ { is_it = index($0, " <" name ">:") }
			is_it && NF >= 2 { count++ }
			is_it && NF >= 2 && $2 ~ /^(call|i?div|fi?div)/ && !($2 ~ /^call/ && index($2, "<" name "+")) { print name ": " $2; bad = 1 }
			END {
				print "# " name ": " count " instructions"
				exit bad || count < 20 || count > 600
			}' || return 1
	done
}

# counts_in_register OBJECT: its empty_loop touches no memory. GCC may give the name a suffix.
counts_in_register() {
	disassemble "$1" | awk -F '\t' '
		/^[0-9a-f]+ <.*>:$/ { is_loop = $0 ~ /<empty_loop/ }
		is_loop && NF >= 2 { count++ }
		is_loop && NF >= 2 && $2 ~ /\(%/ && $2 !~ /^(cs )?nop/ { print $2; bad = 1 }
		END { exit bad || count == 0 }'
}

# bad NAME SOURCE: compiles a program with a fault.
bad() {
	echo "$2" >"$tap_dir/$1.c"
	gcc -O1 -c -o "$tap_dir/$1.o" "$tap_dir/$1.c"
}

bad rdtsc 'unsigned f(void); unsigned f(void) { unsigned lo, hi; __asm__ __volatile__("rdtsc" : "=a"(lo), "=d"(hi)); return lo ^ hi; }'
refuse 'a counter read without LFENCE is noticed' rdtsc_is_ordered "$tap_dir/rdtsc.o"
bad none 'int f(void); int f(void) { return 0; }'
refuse '... and a library without any' rdtsc_is_ordered "$tap_dir/none.o"
bad rdtscp 'unsigned f(void); unsigned f(void) { unsigned lo, hi, aux; __asm__ __volatile__("rdtscp" : "=a"(lo), "=d"(hi), "=c"(aux)); return lo ^ hi ^ aux; }'
refuse 'RDTSCP is noticed' has_no '^(rdtscp|rdpid)' "$tap_dir/rdtscp.o"
echo 'unsigned long long f(unsigned long long a, unsigned long long b) { return a / b; }' \
	>"$tap_dir/division.c"
i686-linux-gnu-gcc -O1 -c -o "$tap_dir/division.o" "$tap_dir/division.c"
refuse 'a 64-bit division on i386 is noticed' has_no_libgcc_division "$tap_dir/division.o"
bad calls 'int g(void); int vclock_read_at(void); int vclock_read_at(void) { return g() + 1; }'
refuse 'a call in a reader is noticed' hot_path "$tap_dir/calls.o"
bad counter 'void empty_loop(unsigned n); void empty_loop(unsigned n) { for (; n != 0; n--) __asm__ __volatile__("" : : "r"(&n) : "memory"); }'
refuse 'a loop whose counter lies in memory is noticed' counts_in_register "$tap_dir/counter.o"

for arch in x86_64 i386; do
	for cc in gcc clang; do
		library=build/$arch$([ "$cc" = gcc ] || echo -clang)/libvclock.a
		run "$arch, $cc: the library builds" make -s ARCH=$arch CC=$cc CFLAGS='-O2 -g' lib
		run "$arch, $cc: every counter read is ordered" rdtsc_is_ordered "$library"
		run "$arch, $cc: no RDTSCP, no RDPID" has_no '^(rdtscp|rdpid)' "$library"
		run "$arch, $cc: no division out of libgcc" has_no_libgcc_division "$library"
		run "$arch, $cc: the readers call and divide nothing" hot_path "$library"
		run "$arch, $cc: no old vsyscall" has_no '0xffffffffff6' "$library"
	done
done

for cc in gcc clang; do
	object=build/x86_64$([ "$cc" = gcc ] || echo -clang)/obj/src/measure/measure.o
	run "$cc: the bench's tools build" make -s ARCH=x86_64 CC=$cc CFLAGS='-O2 -g' "$object"
	run "$cc: the empty loop counts in a register" counts_in_register "$object"
done

# source_has_no PATTERN FOLDER...
source_has_no() {
	! grep -rnE "$1" "${@:2}"
}
echo 'open("/proc/self/maps"); find("[vvar]")' >"$tap_dir/vvar"
refuse '[vvar] is noticed' source_has_no '"[^"]*\[vvar' "$tap_dir/vvar"
run 'the library does not look for [vvar]' source_has_no '"[^"]*\[vvar' include src/keeper src/elf \
	src/reference src/publish src/lib
run 'nothing knows the address of the old vsyscall page' source_has_no '(0x|-)f*ff600000' include src
tap_done
