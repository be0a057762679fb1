# SPDX-License-Identifier: MIT
# tap.sh - the TAP of shell tests, sourced by tests/*.t. Runs by hand from any folder; without a
# runner the build folder is the native one.
# shellcheck shell=bash
set -u
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
B=${B:-$root/build/$(uname -m)}
tap_count=0 tap_failed=0
tap_dir=$(mktemp -d)
trap 'rm -rf "$tap_dir"' EXIT

# ok STATUS WHAT: passes when STATUS is 0.
ok() {
	tap_count=$((tap_count + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $tap_count - $2"
		return 0
	fi
	echo "not ok $tap_count - $2"
	tap_failed=$((tap_failed + 1))
	return 1
}

# is GOT WANTED WHAT
is() {
	if [ "$1" = "$2" ]; then
		ok 0 "$3"
	else
		ok 1 "$3" || true
		printf 'got:    %s\nwanted: %s\n' "$1" "$2" | sed 's/^/# /'
		return 1
	fi
}

# run WHAT COMMAND...: passes when the command does; shows what it said when not.
run() {
	local what=$1
	shift
	if "$@" >"$tap_dir/said" 2>&1; then
		ok 0 "$what"
	else
		ok 1 "$what" || true
		sed 's/^/# /' "$tap_dir/said" | head -n 15
		return 1
	fi
}

# install_for_others FOLDER: vclock as it is installed, for another user, who may not be allowed to
# look to where the tree lies, as in root's home.
install_for_others() {
	mkdir -p "$1/bin" "$1/lib/vclock"
	cp "$B/vclock" "$1/bin/"
	cp -r "$B/../images/." "$1/lib/vclock"
	cp "$B/vclock-tools" "$1/lib/vclock/"
	chmod -R a+rX "$1"
}

# refuse WHAT COMMAND...: passes when the command fails with a status that is its own, not a signal's.
refuse() {
	local what=$1 status=0
	shift
	"$@" >"$tap_dir/said" 2>&1 || status=$?
	[ "$status" -ne 0 ] && [ "$status" -lt 126 ]
	ok $? "$what"
}

# The reason must stand in tests/skips.list.
skip() {
	tap_count=$((tap_count + 1))
	echo "ok $tap_count - $1 # SKIP $2"
}

diag() {
	echo "# $*"
}

# The plan, and the test's exit status. Last line of a test.
tap_done() {
	echo "1..$tap_count"
	exit $((tap_failed != 0))
}
