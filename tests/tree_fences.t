#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What docs/memory-model.md says of aarch64 and riscv64, where fences are instructions, in what the
# compiler made of the library:
#   - a counter read has DSB ISHLD and ISB, or FENCE R,I, right before it, but in functions named
#     unordered, and where it only counts the second between two looks at a file;
#   - each reader has its two acquire fences, each function of the writer its release fences.
# Each check refuses a program that has the fault.
# shellcheck source=tests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
cd "$root" || exit 1

# instructions FILE: lines "<FUNCTION> INSTRUCTION OPERANDS".
instructions() {
	"$tools-objdump" -d --no-show-raw-insn "$1" | awk -F '\t' '
		/^[0-9a-f]+ <[^.].*>:$/ { name = $0; sub(/.*</, "<", name); sub(/:$/, "", name) }
		NF >= 2 {
			text = $2 (NF >= 3 ? " " $3 : "")
			sub(/ *(\/\/|#).*/, "", text)
			sub(/ *$/, "", text)
			print name " " text
		}'
}

# counter_is_ordered FILE
counter_is_ordered() {
	instructions "$1" | awk -v read=" $read\$" -v before="$before" '
		$1 != name { name = $1; last = "" }
		{
			if ($0 ~ read && last !~ before && name !~ /unordered|<reopen_look>/) {
				print "unordered counter read in " name
				bad = 1
			}
			reads += $0 ~ read
			sub(/^[^ ]* /, "")
			last = last $0 ";"
		}
		END { if (reads == 0) print "no counter read at all"; exit bad || reads == 0 }'
}

# has_fences COUNT PATTERN FILE FUNCTION...: so many in each, or more.
has_fences() {
	local count=$1 pattern=$2 file=$3 name found
	shift 3
	for name in "$@"; do
		found=$(instructions "$file" | grep -cE "^<$name> $pattern\$")
		echo "# $name: $found"
		[ "$found" -ge "$count" ] || return 1
	done
}

for arch in aarch64 riscv64; do
	tools=$arch-linux-gnu library=build/$arch/libvclock.a
	case $arch in
	aarch64)
		read='mrs.*cntvct_el0' before='dsb ishld;isb;$' acquire='dmb ishld' release='dmb ish'
		lesser='isb; mrs x0, cntvct_el0; ret'
		;;
	riscv64)
		read='rdtime .*' before='fence r,i;$'
		# GCC 12 takes the full one for both.
		acquire='fence( r,rw)?' release='fence( rw,w)?'
		lesser='fence rw, rw; rdtime a0; ret'
		;;
	esac
	if ! command -v "$tools-gcc" >/dev/null; then
		skip "$arch" 'no compiler for that machine'
		continue
	fi
	printf '.globl f\n.type f, %%function\nf: %s\n' "$lesser" >"$tap_dir/$arch.s"
	"$tools-as" -o "$tap_dir/$arch.o" "$tap_dir/$arch.s"
	refuse "$arch: a counter read with a lesser fence is noticed" counter_is_ordered "$tap_dir/$arch.o"
	refuse "$arch: a function with one fence at the most is noticed" has_fences 2 "$acquire" "$tap_dir/$arch.o" f
	run "$arch: the library builds" make -s ARCH=$arch CC=gcc CFLAGS='-O2 -g' lib
	run "$arch: every counter read is ordered" counter_is_ordered "$library"
	run "$arch: each reader has two acquire fences" has_fences 2 "$acquire" "$library" vclock_read_at \
		vclock_read_timespec vclock_read_ns vclock_read_now vclock_gettime64
	run "$arch: the writer has its release fences" has_fences 2 "$release" "$library" vclock_page_update \
		vclock_page_update_tz vclock_page_retire vclock_page_revive
done
tap_done
