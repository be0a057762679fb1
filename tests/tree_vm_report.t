#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a machine reported becomes one verdict for each program: good ones pass; a program that
# failed, was killed, hung, printed no plan, never ran or was cut off by a panic does not.
. "$(dirname "$(readlink -f "$0")")/tap.sh"
work=$tap_dir

# One run of prove over all that the last machine left: it names those that pass.
judge() {
	local files
	mapfile -t files < <(find "$work/out" -maxdepth 1 -type f -printf '%f\n')
	verdicts=$(cd "$work/out" &&
		prove --exec "$root/scripts/run-one $root/scripts/vm/replay" "${files[@]}" 2>/dev/null)
}
says() { # NAME good|bad WHAT
	grep -Eq "^$1 \.+ ok\$" <<<"$verdicts"
	local status=$?
	[ "$2" = good ] || status=$((status == 0))
	ok "$status" "$3"
}

split() { # QEMU_STATUS, the report on stdin
	rm -rf "$work/out"
	mkdir -p "$work/out/raw"
	cat >"$work/out/raw/report"
	: >"$work/out/raw/qemu"
	printf 'Kernel panic - not syncing\r\n' >"$work/out/raw/console"
	"$root/scripts/vm/split" "$work/out" "$work/list" "$1"
}

printf '%s 5 x\n' good failing status killed hung planless skipped never >"$work/list"
split 77 <<'REPORT'
machine clocksource tsc
begin good
|ok 1 - a
|1..1
end good exit 0
begin failing
|not ok 1 - a
|1..1
end failing exit 0
begin status
|ok 1 - a
|1..1
end status exit 3
begin killed
|ok 1 - a
|1..1
end killed signal 11
begin hung
|ok 1 - a
|1..1
end hung limit 5
begin planless
|ok 1 - a
end planless exit 0
begin skipped
|ok 1 - a # SKIP no reason on any list
|1..1
end skipped exit 0
REPORT
judge
says good good "a good program"
says failing bad "a failed test"
says status bad "a status that is not 0"
says killed bad "a signal"
says hung bad "a time limit"
says planless bad "no plan"
says skipped bad "a skip that is not on the list"
says never bad "a program that did not run"
says machine bad "a machine that did not run all of its list"

printf '%s 5 x\n' good cut >"$work/list"
report=$'begin good\n|ok 1 - a\n|1..1\nend good exit 0\n'
split 0 <<<"$report"$'begin cut\n|ok 1 - a\n|1..1'
judge
says good good "a panic: what was good before it"
says cut bad "a panic: the program that it cut off"
says machine bad "a panic: the machine"
grep -q 'console: Kernel panic' "$work/out/cut"
ok $? "a panic: its text is shown"

printf '%s 5 x\n' good >"$work/list"
# Of the machine's own two lines the first is about qemu's status.
ended() { grep -q '^ok 1 ' "$work/out/machine" && grep -q '^#status 0$' "$work/out/machine"; }
for status in 33 67 127; do
	split "$status" <<<"$report"
	ended
	ok $? "qemu's status $status: the machine came to its end"
done
for status in 0 1 34 65 124 137; do
	split "$status" <<<"$report"
	! ended
	ok $? "qemu's status $status: it did not"
done
: >"$work/list"
split 33 </dev/null
judge
says machine bad "an empty list"

tap_done
