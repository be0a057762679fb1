#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The runner can fail: a test that fails, dies, hangs, stops early, or skips without leave makes the
# run fail, and only a good one, or a skip on the list, passes.
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

mkdir -p "$tap_dir/cell/tests"
listed=$(grep -v -e '^#' -e '^\[' "$root/tests/skips.list" | head -n 1)

# verdict NAME: runs the shell text on standard input as a test; "pass" or "fail".
verdict() {
	local file=$tap_dir/cell/tests/$1
	{ echo '#!/usr/bin/env bash'; cat; } >"$file"
	chmod +x "$file"
	if VCLOCK_TEST_LIMIT=2 "$root/scripts/run-tests" "$file" >"$tap_dir/prove" 2>&1 &&
		grep -q '^Result: PASS$' "$tap_dir/prove"; then
		echo pass
	else
		echo fail
	fi
}

is "$(verdict good <<<'echo "ok 1 - a"; echo 1..1')" pass 'a good test passes'
is "$(verdict bad <<<'echo "not ok 1 - a"; echo 1..1; exit 1')" fail 'a failing test fails'
is "$(verdict bad_zero <<<'echo "not ok 1 - a"; echo 1..1')" fail '... also with exit status 0'
is "$(verdict status <<<'echo "ok 1 - a"; echo 1..1; exit 3')" fail 'a bad exit status fails'
is "$(verdict killed <<<'echo "ok 1 - a"; echo 1..1; kill -SEGV $$')" fail 'a test that dies fails'
is "$(verdict no_plan <<<'echo "ok 1 - a"')" fail 'a test without a plan fails'
is "$(verdict silent <<<'exit 0')" fail 'a silent test fails'
is "$(verdict short <<<'echo 1..2; echo "ok 1 - a"')" fail 'a test that stops early fails'
is "$(verdict hangs <<<'echo "ok 1 - a"; echo 1..1; sleep 600')" fail 'a hanging test fails'
grep -q 'time limit of 2 s' "$tap_dir/prove"
ok $? '... and the runner says why'
is "$(verdict stray <<<'setsid sleep 20 & echo "ok 1 - a"; echo 1..1')" pass \
	'a stray child cannot hold up the run'
is "$(verdict skips <<<'echo "ok 1 - a # SKIP because I say so"; echo 1..1')" fail \
	'a skip that is not on the list fails'
is "$(verdict skips_low <<<'echo "ok 1 - a # skip because I say so"; echo 1..1')" fail \
	'... however it is spelt'
is "$(verdict skips_all <<<'echo "1..0 # SKIP because I say so"')" fail 'a test all skipped fails'
is "$(verdict bails_out <<<'echo "Bail out! no"; exit 1')" fail 'a test that bails out fails'
grep -q '^Bailout' "$tap_dir/prove"
is $? 1 '... and does not end the others'
is "$(verdict todo <<<'echo "not ok 1 - a # TODO later"; echo 1..1')" fail 'TODO excuses nothing'
is "$(verdict emulated <<<'echo "ok 1 - a # SKIP the emulator has no vDSO"; echo 1..1')" fail \
	'a skip for the emulator fails without one'
if [ -n "$listed" ]; then
	said=$(printf '%q' "ok 1 - a # SKIP $listed")
	is "$(verdict listed <<<"echo $said; echo 1..1")" pass 'a skip on the list passes'
fi
"$root/scripts/run-tests" >/dev/null 2>&1
is $? 1 'no tests at all is a failure'
tap_done
