#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# `vclock verify` as typed: the table, one route, suites by name, JSON, wrong input, exit codes.
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

vclock=$B/vclock

# verify ARG...: runs it; output in $tap_dir/out and err, exit status in $status.
verify() {
	status=0
	"$vclock" verify "$@" >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
}

show() {
	sed 's/^/# /' "$tap_dir/out" "$tap_dir/err"
}

verify --seconds 1
is "$status" 0 'a run over everything passes' || show
suites='bracket causality monotonicity coarse skew resolution getres errors fork'
for suite in $suites; do
	grep -q "^$suite .* ok\|^$suite .* not possible" "$tap_dir/out" || echo "$suite"
done >"$tap_dir/missing"
is "$(cat "$tap_dir/missing")" '' '... and every suite has a row'
is "$(grep -c ' FAIL' "$tap_dir/out")" 0 '... without a failure'
grep -q '^Page: ' "$tap_dir/out"
ok $? '... and says whether there is a page'
[ ! -s "$tap_dir/err" ]
ok $? '... with nothing on stderr'

verify --help
help_suites=$(sed -n '/^Suites/,/^$/p' "$tap_dir/out" | tr '\n' ' ' | sed 's/.*: //; s/\. *$//')
is "$help_suites" "$suites" '--help names every suite'

verify --seconds 1 --route syscall bracket errors
is "$status" 0 'the system call alone' || show
is "$(awk '$1 == "bracket" && $2 == "MONOTONIC" { print $4 + $5 }' "$tap_dir/out")" 0 \
	'... answers without page and vDSO'
is "$(sed -n '/^SUITE/,/^$/p' "$tap_dir/out" | awk 'NF > 0 && $1 != "SUITE" { print $1 }' |
	sort -u | tr '\n' ' ')" \
	'bracket errors ' '... and only the suites that were named run'

verify --seconds 1 --route vdso --by-syscall bracket
if [ "$status" -eq 3 ]; then
	is "$(cat "$tap_dir/err")" 'vclock: verify: vdso: the kernel gives this process none' \
		'without a vDSO, one line says so'
else
	is "$status" 0 'the vDSO, judged by the system call' || show
fi

# Where the kernel does not trust the counter, the page is not possible unless one insists.
verify --seconds 1 --route page getres
if [ "$status" -eq 3 ]; then
	is "$(wc -l <"$tap_dir/err") $(wc -c <"$tap_dir/out")" '1 0' \
		'a page that may not be used: one line, no table'
	grep -q '^vclock: verify: page: .*trust' "$tap_dir/err"
	ok $? '... which says why' || show
else
	is "$status" 0 'the page, where the kernel trusts the counter' || show
fi

# A machine that is busy for 20 ms at a time can leave too few reads to the page: three tries.
for _ in 1 2 3; do
	verify --seconds 2 --route page --trust-counter bracket causality
	if [ "$status" -eq 0 ] || ! grep -q 'came from the page' "$tap_dir/out"; then
		break
	fi
done
is "$status" 0 'the page, if one insists' || show
is "$(awk '$1 == "bracket" && $2 == "MONOTONIC" { print ($4 * 100 >= $3 * 95) }' "$tap_dir/out")" 1 \
	'... answers 95 % or more'

verify --seconds 1 --json bracket skew
is "$status" 0 '--json' || show
python3 - "$tap_dir/out" "$root/docs/json.md" <<'EOF'
import json, sys
run = json.load(open(sys.argv[1]))
assert run["seconds"] == 1 and run["failed"] == 0 and run["ok"] > 0
assert {"bracket", "skew"} == {row["suite"] for row in run["results"]}
for row in run["results"]:
    assert row["verdict"] in ("ok", "not-possible"), row
    assert row["reads"] == row["by_page"] + row["by_vdso"] + row["by_syscall"], row
documented = open(sys.argv[2]).read().split("## vclock verify")[1].split("\n## ")[0]
for key in list(run) + list(run["results"][0]):
    assert key in ("vclock", "command") or f"`{key}`" in documented, key
for row in run["results"]:
    assert row["outside"] == 0
EOF
ok $? '... is one object, and adds up' || show

verify --seconds 0
is "$status $(cat "$tap_dir/err")" \
	'2 vclock: verify: --seconds: 0: not a number from 1 to 86400' '--seconds 0'
verify --seconds soon
is "$status" 2 '--seconds with a word'
verify --route fast
is "$status $(cat "$tap_dir/err")" \
	'2 vclock: verify: --route: fast: not one of page, vdso, syscall' '--route with a word'
verify brackets
# shellcheck disable=SC2016
is "$status $(cat "$tap_dir/err")" \
	'2 vclock: verify: brackets: unknown suite; see `vclock verify --help`' 'an unknown suite'
verify --rout
is "$status" 2 'an option without its argument'
"$vclock" verify --seconds 1 errors >/dev/full 2>"$tap_dir/err"
is "$?" 4 'a full disk under stdout'

tap_done
