#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Readers that come while vclockd starts, users who may not read the page, a daemon that is process
# 1 of its namespace, and what is left behind when it has gone. Cases S11, S19, S20.
. "$(dirname "$(readlink -f "$0")")/tap.sh"
folder=$tap_dir/run
page=$folder/page
mkdir -m 0755 "$folder"
chmod 0755 "$tap_dir"

daemon() {
	"$B/vclockd" --foreground --page "$page" --trust-counter --priority 0 2>>"$tap_dir/daemon" &
	daemon=$!
}
# Some seconds for a daemon on a busy machine.
is_kept() {
	for _ in $(seq 1 200); do
		"$B/vclock" page --check "$page" >/dev/null 2>&1 && return 0
		sleep 0.05
	done
	return 1
}
leave() {
	kill "$daemon"
	wait "$daemon" 2>/dev/null
}
left() {
	find "$folder" -mindepth 1 -printf '%f\n' | sort | tr '\n' ' '
}

# S11: a reader finds no page, or a good one; never one that is half made. The 2nd time there is an
# old one to take over, the 3rd time a wrong one to replace.
rounds=3
[ -z "${VCLOCK_TEST_LONG:-}" ] || rounds=100
odd=0
for round in $(seq 1 $rounds); do
	[ $((round % 3)) -ne 1 ] || rm -f "$page"
	[ $((round % 3)) -ne 0 ] || head -c 4096 /dev/zero >"$page"
	daemon
	readers=
	for i in $(seq 1 10); do
		timeout 20 "$B/vclock" page --check "$page" >/dev/null 2>"$tap_dir/reader.$i" &
		readers="$readers $!"
	done
	# shellcheck disable=SC2086
	wait $readers
	is_kept || {
		odd=$((odd + 1))
		diag "round $round: no page at last"
	}
	allowed='No such file|ended: |no line published yet'
	[ $((round % 3)) -ne 0 ] || allowed="$allowed|not a page"
	if cat "$tap_dir"/reader.* | grep -vE "$allowed" >"$tap_dir/odd"; then
		odd=$((odd + 1))
		diag "$(head -n 3 "$tap_dir/odd")"
	fi
	leave
done
is "$odd" 0 'readers that start with the daemon find no page or a whole one'
is "$(left)" 'page page.lock ' 'S20: the page and its lock stay, and nothing else'

# S19: who may not read the page is told nothing, and runs as without one.
daemon
is_kept
if [ "$(id -u)" -eq 0 ]; then
	install_for_others "$tap_dir/user"
	chmod 0755 "$tap_dir"
	chmod 0600 "$page"
	status=0
	VCLOCK_PAGE=$page setpriv --reuid 65534 --regid 65534 --clear-groups "$tap_dir/user/bin/vclock" info --json \
		>"$tap_dir/out" 2>"$tap_dir/err" || status=$?
	is "$status $(wc -c <"$tap_dir/err") $(jq -r .page.source "$tap_dir/out")" '0 0 none' \
		'a page that this user may not read: silence, and the kernel answers'
	status=0
	setpriv --reuid 65534 --regid 65534 --clear-groups "$tap_dir/user/bin/vclock" page "$page" >/dev/null \
		2>"$tap_dir/err" || status=$?
	is "$status $(cat "$tap_dir/err")" "2 vclock: page: $page: Permission denied" '... and vclock page says so'
	chmod 0644 "$page"
else
	skip 'another user' 'needs root'
fi
leave

# No boot id, as without /proc: no reader would take the page, so there is none.
if [ "$(id -u)" -eq 0 ] && unshare -m mount --bind /dev/null /proc/sys/kernel/random/boot_id 2>/dev/null; then
	mkdir -m 0755 "$tap_dir/boot"
	for where in '' --foreground; do
		status=0
		# shellcheck disable=SC2016
		timeout 20 unshare -m sh -c 'mount --bind /dev/null /proc/sys/kernel/random/boot_id && exec "$@"' sh \
			"$B/vclockd" $where --page "$tap_dir/boot/page" --trust-counter --priority 0 \
			2>"$tap_dir/err" || status=$?
		is "$status $(cat "$tap_dir/err")" "3 vclockd: /proc/sys/kernel/random/boot_id: the boot's id cannot be \
read, and no reader would take the page: is /proc mounted?" "an unknown boot ${where:-in the background}"
	done
	is "$(find "$tap_dir/boot" -mindepth 1)" '' '... leaves nothing'
else
	skip 'an unknown boot' 'needs root'
fi

# S20: as process 1, twice; names do not come from process ids.
if unshare --pid --fork true 2>/dev/null; then
	good=0
	for _ in 1 2; do
		timeout 15 unshare --pid --fork --kill-child "$B/vclockd" --foreground --page "$page" \
			--trust-counter --priority 0 2>>"$tap_dir/daemon" &
		daemon=$!
		is_kept && [ "$("$B/vclock" page --json "$page" | jq .writer_pid)" -eq 1 ] &&
			good=$((good + 1))
		leave
		# Its end is a SIGKILL: until its last line is a second old, the page passes.
		sleep 1.5
	done
	is "$good" 2 'process 1 of a namespace keeps a page, twice'
	is "$(left)" 'page page.lock ' '... and leaves nothing'
else
	skip 'process 1' 'needs root'
fi
tap_done
