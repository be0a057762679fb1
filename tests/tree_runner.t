#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The runner can fail: a test that fails, dies, hangs, stops early, or skips without leave makes the
# run fail, and only a good one, or a skip on the list, passes.
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

mkdir -p "$tap_dir/cell/tests"
listed=$(grep -v -e '^#' -e '^\[' "$root/tests/skips.list" | head -n 1)

# test_of NAME: the shell text on standard input is a test.
test_of() {
	local file=$tap_dir/cell/tests/$1
	{ echo '#!/usr/bin/env bash'; cat; } >"$file"
	chmod +x "$file"
}

# run_all NAME ...: one run of them all; what prove says is kept.
run_all() {
	VCLOCK_TEST_LIMIT=2 "$root/scripts/run-tests" "${@/#/$tap_dir/cell/tests/}" >"$tap_dir/prove" 2>&1
}

# verdict NAME: of the last run: "pass" or "fail".
verdict() {
	if grep -Eq "/$1 \.+ ok +[0-9]+ ms" "$tap_dir/prove"; then
		echo pass
	elif grep -Eq "/$1 +\(Wstat: " "$tap_dir/prove"; then
		echo fail
	else
		echo none
	fi
}

test_of good <<<'echo "ok 1 - a"; echo 1..1'
test_of stray <<<'setsid sleep 20 & echo "ok 1 - a"; echo 1..1'
test_of listed <<<"echo $(printf '%q' "ok 1 - a # SKIP $listed"); echo 1..1"
test_of bad <<<'echo "not ok 1 - a"; echo 1..1; exit 1'
test_of bad_zero <<<'echo "not ok 1 - a"; echo 1..1'
test_of status <<<'echo "ok 1 - a"; echo 1..1; exit 3'
test_of killed <<<'echo "ok 1 - a"; echo 1..1; kill -SEGV $$'
test_of no_plan <<<'echo "ok 1 - a"'
test_of silent <<<'exit 0'
test_of short <<<'echo 1..2; echo "ok 1 - a"'
test_of hangs <<<'echo "ok 1 - a"; echo 1..1; sleep 600'
test_of skips <<<'echo "ok 1 - a # SKIP because I say so"; echo 1..1'
test_of skips_low <<<'echo "ok 1 - a # skip because I say so"; echo 1..1'
test_of skips_all <<<'echo "1..0 # SKIP because I say so"'
test_of bails_out <<<'echo "Bail out! no"; exit 1'
test_of todo <<<'echo "not ok 1 - a # TODO later"; echo 1..1'
test_of emulated <<<'echo "ok 1 - a # SKIP the emulator has no vDSO"; echo 1..1'

run_all good stray listed
is "$? $(grep -c '^Result: PASS$' "$tap_dir/prove")" '0 1' 'a run of good tests passes'
is "$(verdict good)" pass 'a good test passes'
is "$(verdict stray)" pass 'a stray child cannot hold up the run'
is "$(verdict listed)" pass 'a skip on the list passes'
is "$(grep -cE '^ +[0-9.]+ s  .*/cell/tests/(good|stray|listed)$' "$tap_dir/prove")" 3 \
	'the slowest are told'

run_all good bad_zero
is "$? $(grep -c '^Result: FAIL$' "$tap_dir/prove")" '1 1' 'one failing test makes the run fail'
run_all killed
is "$? $(grep -c '^Result: FAIL$' "$tap_dir/prove")" '1 1' 'one that dies makes the run fail'

# All the others at once, the one that would end the run before the last.
run_all bad bad_zero status killed no_plan silent short hangs skips skips_low skips_all todo emulated \
	bails_out good
is "$? $(grep -c '^Result: FAIL$' "$tap_dir/prove")" '1 1' 'a run with failing tests fails'
is "$(verdict bad)" fail 'a failing test fails'
is "$(verdict bad_zero)" fail '... also with exit status 0'
is "$(verdict status)" fail 'a bad exit status fails'
is "$(verdict killed)" fail 'a test that dies fails'
is "$(verdict no_plan)" fail 'a test without a plan fails'
is "$(verdict silent)" fail 'a silent test fails'
is "$(verdict short)" fail 'a test that stops early fails'
is "$(verdict hangs)" fail 'a hanging test fails'
grep -q 'hangs: time limit of 2 s' "$tap_dir/prove"
ok $? '... and the runner says why'
is "$(verdict skips)" fail 'a skip that is not on the list fails'
is "$(verdict skips_low)" fail '... however it is spelt'
is "$(verdict skips_all)" fail 'a test all skipped fails'
is "$(verdict bails_out)" fail 'a test that bails out fails'
grep -q '^Bailout' "$tap_dir/prove"
is "$? $(verdict good)" '1 pass' '... and does not end the others'
is "$(verdict todo)" fail 'TODO excuses nothing'
is "$(verdict emulated)" fail 'a skip for the emulator fails without one'
"$root/scripts/run-tests" >/dev/null 2>&1
is $? 1 'no tests at all is a failure'
tap_done
