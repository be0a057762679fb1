#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# docs/ names files of the tree that are there, and docs/testing.md has each case that a test names.
# shellcheck source=tests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
cd "$root" || exit 1

# files_exist FILE...: prints the names, or patterns, that match nothing.
files_exist() {
	local name missing=0
	while IFS= read -r name; do
		compgen -G "$name" >/dev/null || { echo "$name" && missing=1; }
	done < <(grep -ohE '\b(tests|fuzz|scripts|src|docs|include|mk)/[A-Za-z0-9_./*-]*[A-Za-z0-9_]' "$@" | sort -u)
	return "$missing"
}

# Case numbers that tests name in their comments, but for those of standards.
cases_in() {
	grep -rohE '\b[EVCTMFDXQSBN][0-9]{2}\b' "$@" | grep -vE '^C(99|11)$' | sort -u
}

# has_cases FILE FOLDER
has_cases() {
	local missing
	missing=$(comm -13 <(cases_in "$1") <(cases_in "$2"))
	[ -z "$missing" ] || { echo "$missing" && false; }
}

run 'each file that docs name is there' files_exist docs/*.md
run 'each case that a test names is in docs/testing.md' has_cases docs/testing.md tests

echo 'see tests/lib_made_up.c and tests/lib_*.c' >"$tap_dir/made_up.md"
refuse 'a file that is not there is noticed' files_exist "$tap_dir/made_up.md"
is "$(cat "$tap_dir/said")" tests/lib_made_up.c 'by its name'
grep -v '^| S13 ' docs/testing.md >"$tap_dir/without.md"
refuse 'a case that is missing is noticed' has_cases "$tap_dir/without.md" tests
is "$(cat "$tap_dir/said")" S13 'by its number'
tap_done
