#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The table of the virtual machines: docs/testing.md has the place that `make vm-table` writes to, and
# a row for each scenario of each machine; scripts/vm/table makes its rows from what was said.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
cd "$root" || exit 1

markers() { # FILE
	[ "$(grep -nE '^<!-- vm-table: (begin|end) -->$' "$1" | sed 's/^[0-9]*://' | tr '\n' ' ')" = \
		'<!-- vm-table: begin --> <!-- vm-table: end --> ' ]
}

# Each machine of tests/vm/machines with its programs that print figures: "MACHINE SCENARIO".
rows_wanted() {
	# shellcheck disable=SC2329 # called by the file
	machine() {
		local name=$1
		awk -v name="$name" '
			/ expect [^ ]+ [^ ]+ [^ ]+$/ { print name " " $4 }
			$3 == "lacks" { for (i = 4; i <= NF; i++) print name " " $i }
			/ scenario / { print name " " (/ --killed / ? "killed-" : "") $NF }'
	}
	# shellcheck disable=SC2329 # called by the file
	partner() { cat >/dev/null; }
	# shellcheck disable=SC2034 # named by its rows
	local x86_64=build/x86_64-musl i386=build/i386 aarch64=build/aarch64 riscv64=build/riscv64
	# shellcheck source=/dev/null
	. tests/vm/machines
}

# FILE: its rows, as "MACHINE SCENARIO" or "MACHINE CLOCKSOURCE".
rows_of() {
	sed -n '/^<!-- vm-table: begin -->$/,/^<!-- vm-table: end -->$/p' "$1" |
		sed -n 's/^| \([^ |]*\) | \([^ |]*\) | .*/\1 \2/p' | grep -vE '^(machine) '
}

has_rows() {
	local missing
	missing=$(comm -23 <(rows_wanted | sort -u) <(rows_of "$1" | sort -u))
	[ -z "$missing" ] || { echo "$missing" && false; }
}

run 'docs/testing.md has the lines that the table stands between' markers docs/testing.md
run 'each scenario of each machine is in it' has_rows docs/testing.md
grep -v '^| exact | leap-insert ' docs/testing.md >"$tap_dir/less.md"
refuse 'a row that is missing is noticed' has_rows "$tap_dir/less.md"
is "$(cat "$tap_dir/said")" 'exact leap-insert' 'by its name'

export VM_OUT=$tap_dir/out
mkdir -p "$VM_OUT/m1"
echo m1 >"$VM_OUT/names"
printf 'expect 20 expect tsc full page\nsteady 60 scenario steady\nlacks 10 lacks S3\n' >"$VM_OUT/m1.list"
echo '# figures lacks=S3' >"$VM_OUT/m1/lacks"
echo '# figures clocksource=tsc trust=full route=page kernel_ns=80 page_ns=44' >"$VM_OUT/m1/expect"
echo '# figures scenario=steady reads=1000 page=99.50% outside=0 worst_ns=0 changing_ns=-7 error_ns=55' \
	'follow_us=8634 back=0' >"$VM_OUT/m1/steady"
printf 'before\n<!-- vm-table: begin -->\nold\n<!-- vm-table: end -->\nafter\n' >"$tap_dir/doc.md"
run 'the table is written' scripts/vm/table --write "$tap_dir/doc.md"
is "$(grep -c '^| m1 ' "$tap_dir/doc.md") $(grep -cE '^(before|after)$' "$tap_dir/doc.md") $(grep -c old "$tap_dir/doc.md")" \
	'3 2 0' 'between the lines, and nothing else is touched'
is "$(grep '^| m1 | steady ' "$tap_dir/doc.md")" \
	'| m1 | steady | 99.50% of 1000 | 0 | -7 ns of 55 | 8.6 ms | 0 |' 'with the figures that were said'
is "$(grep '^| m1 | S3 ' "$tap_dir/doc.md")" '| m1 | S3 | not on this machine | | | | |' \
	'or that there is nothing to be said'
echo 'nothing' >"$tap_dir/none.md"
refuse 'a file without these lines is refused' scripts/vm/table --write "$tap_dir/none.md"
rm "$VM_OUT/names"
refuse 'no run, no table' scripts/vm/table
tap_done
