#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The manual of the library and its headers name the same functions: each exported one that a public
# header declares has a page, and each function that a page of section 3 shows is declared.
# shellcheck source=tests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# Names that a header declares or defines, one a line.
declared() {
	grep -ohE '\bvclock_[a-z0-9_]+\(' "$root"/include/vclock.h "$root"/include/vclock/*.h |
		tr -d '(' | sort -u
}

# exported MAP: its global names.
exported() {
	sed -n 's/^	\(vclock_[a-z0-9_]*\);$/\1/p' "$1" | sort -u
}

# named FOLDER: the names that its pages are about.
named() {
	sed -n 's/^\.Nm \([^ ]*\).*/\1/p' "$1"/*.3 | sort -u
}

# shown FOLDER: every function that its pages have as one of ours.
shown() {
	sed -n 's/^\.F[no] \(vclock_[^ ]*\).*/\1/p' "$1"/*.3 | sort -u
}

# Each prints what is missing, and fails then.
each_export_has_a_page() {
	local missing
	missing=$(comm -23 <(comm -12 <(exported "$1") <(declared)) <(named "$2"))
	[ -z "$missing" ] || { echo "$missing" && false; }
}

each_function_is_declared() {
	local missing
	missing=$(comm -23 <(sort -u <(shown "$1") <(named "$1")) <(declared))
	[ -z "$missing" ] || { echo "$missing" && false; }
}

each_name_is_shown() {
	local missing
	missing=$(comm -3 <(named "$1") <(shown "$1") | grep -v '^	')
	[ -z "$missing" ] || { echo "$missing" && false; }
}

# An error's brackets hold that error: .Bq takes all of its line.
each_bracket_ends() {
	local page
	for page in "$1"/*.[1-9]; do
		mandoc -T ascii "$page" | sed 's|.\x08||g' | grep -E '\[-E[A-Z0-9]+[^]A-Z0-9]' && return 1
	done
	return 0
}

map=$root/src/lib/libvclock.map
[ "$(exported "$map" | wc -l)" -gt 20 ] && [ "$(declared | wc -l)" -gt 20 ]
ok $? 'there are names to compare'
run 'each exported function has a page' each_export_has_a_page "$map" "$root/man"
run 'each function of the pages is declared' each_function_is_declared "$root/man"
run 'each name of a page is shown by it' each_name_is_shown "$root/man"
run "each error's brackets hold it alone" each_bracket_ends "$root/man"

# A copy with one fault.
man=$tap_dir/man
fresh() {
	rm -rf "$man"
	cp -r "$root/man" "$man"
}

fresh
sed -i '/^\.Nm vclock_stamp_ns$/d' "$man/vclock_stamp.3"
refuse 'a function without a page is noticed' each_export_has_a_page "$map" "$man"
is "$(cat "$tap_dir/said")" vclock_stamp_ns 'by its name'
fresh
echo '.Fn vclock_made_up void' >>"$man/vclock_stamp.3"
refuse 'a made-up function is noticed' each_function_is_declared "$man"
is "$(cat "$tap_dir/said")" vclock_made_up 'by its name'
fresh
sed -i 's/^\.Nm vclock_stamp ,$/.Nm vclock_stump ,/' "$man/vclock_stamp.3"
refuse 'a misspelt name of a page is noticed' each_function_is_declared "$man"
fresh
sed -i '/^\.Fn vclock_getpid_slow/d' "$man/vclock_getpid.3"
refuse 'a name that its page does not show is noticed' each_name_is_shown "$man"
fresh
echo '.Bq \- Ns Er EIO , Bq \- Ns Er ENXIO' >>"$man/vclock_stamp.3"
refuse 'an error within the brackets of another is noticed' each_bracket_ends "$man"
tap_done
