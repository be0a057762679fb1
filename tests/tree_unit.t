#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The systemd unit of vclockd: systemd finds nothing to say about it, and its filter lets every system
# call through that vclockd makes, from its start to its end.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
unit=$tap_dir/vclockd.service

# verify SED: what systemd says of the unit, edited.
verify() {
	sed "s#^ExecStart=[^ ]*#ExecStart=$B/vclockd#; $1" "$root/packaging/vclockd.service" >"$unit"
	systemd-analyze verify --man=no "$unit" 2>&1
}
is "$(verify '')" '' 'systemd has nothing to say about the unit'
verify 's/^RestrictNamespaces/&Too/' | grep -q RestrictNamespacesToo
ok $? '... a misspelt setting it has'

# The calls of a group, and of the groups in it.
calls_of() {
	systemd-analyze syscall-filter 2>/dev/null | awk -v names="$*" '
		/^@/ { group = $1; next }
		/^ +[^# ]/ { members[group] = members[group] " " $1 }
		function show(name,   list, count, i) {
			if (name !~ /^@/) { print name; return }
			count = split(members[name], list, " ")
			for (i = 1; i <= count; i++)
				show(list[i])
		}
		END {
			count = split(names, list, " ")
			for (i = 1; i <= count; i++)
				show(list[i])
		}' | sort -u
}
# systemd adds @default and execve to each list of what is allowed.
allowed=$(sed -n 's/^SystemCallFilter=\([^~]\)/\1/p' "$root/packaging/vclockd.service" | tr '\n' ' ')
denied=$(sed -n 's/^SystemCallFilter=~//p' "$root/packaging/vclockd.service" | tr '\n' ' ')
# shellcheck disable=SC2086 # lists of words
{
	calls_of $allowed @default execve >"$tap_dir/allowed"
	calls_of $denied >"$tap_dir/denied"
}
comm -23 "$tap_dir/allowed" "$tap_dir/denied" >"$tap_dir/left"
is "$(grep -cxE 'ppoll|clock_gettime|read' "$tap_dir/left") $(grep -cxE 'adjtimex|clock_settime|mount' "$tap_dir/left")" \
	'3 0' 'its filter lets clocks be read, and not be set'

# Some seconds of it: its look at the CPUs comes in the second.
mkdir "$tap_dir/run"
page=$tap_dir/run/page
NOTIFY_SOCKET=$tap_dir/notify WATCHDOG_USEC=1000000 timeout -s TERM 4 strace -f -qq -o "$tap_dir/calls" \
	"$B/vclockd" --foreground --page "$page" --trust-counter >"$tap_dir/said" 2>&1
sed -nE 's/^[0-9]+ +([a-z_0-9]+)\(.*/\1/p; s/^[0-9]+ +<\.\.\. ([a-z_0-9]+) resumed.*/\1/p' "$tap_dir/calls" |
	sort -u >"$tap_dir/made"
is "$(grep -cxE 'ppoll|sendto|seccomp|rename|sched_setaffinity' "$tap_dir/made") $(stat -c %s "$page")" '5 4096' \
	'vclockd under strace keeps a page' || diag "$(cat "$tap_dir/said")"
is "$(comm -23 "$tap_dir/made" "$tap_dir/left" | tr '\n' ' ')" '' \
	'... and makes no system call that its unit denies'
tap_done
