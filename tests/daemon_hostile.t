#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A vclockd in bad company: no place for its page, its files taken away, cut and overwritten, others
# that want the same page, storms of signals, no standard files. It ends with a reason, or goes on;
# two never write one page. Cases S09, S12, S13, S17.
. "$(dirname "$(readlink -f "$0")")/tap.sh"
# A sanitizer that looks for leaks at the end makes system calls that the daemon's filter does not
# allow.
export ASAN_OPTIONS=detect_leaks=0
folder=$tap_dir/run
page=$folder/page
mkdir -m 0755 "$folder"

daemon() {
	"$B/vclockd" --foreground --page "$page" --trust-counter --priority 0 2>"$tap_dir/said" &
	daemon=$!
}
# Some seconds each, on a busy machine.
await() {
	for _ in $(seq 1 300); do
		"$@" && return 0
		sleep 0.05
	done
	return 1
}
# Whether PID keeps the page.
keeps() {
	[ "$("$B/vclock" page --check --json "$page" 2>/dev/null | jq -r '"\(.usable) \(.writer_pid)"')" = "true $1" ]
}
leave() {
	kill "$daemon" 2>/dev/null
	wait "$daemon" 2>/dev/null
	status=$?
}
# Another one on the same page: its status and what it says.
other() {
	status=0
	timeout 20 "$B/vclockd" --foreground --page "$page" --trust-counter --priority 0 2>"$tap_dir/other" || status=$?
}
inode() {
	stat -c %i "$1" 2>/dev/null
}
is_new() {
	[ -e "$1" ] && [ "$(inode "$1")" != "$2" ]
}
clear_folder() {
	rm -rf "$folder"
	mkdir -m 0755 "$folder"
}

# The lock file is removed: the page is locked too, and the lock comes back.
daemon
await keeps "$daemon"
ok $? 'a daemon keeps a page'
old=$(inode "$page")
# Whichever comes first: the daemon makes a new one, or the other one does.
rm -f "$page.lock"
other
is "$status $(cat "$tap_dir/other")" "3 vclockd: $page: process $daemon keeps this page" \
	'without the lock file a second daemon is kept out by the page'
await [ -e "$page.lock" ]
ok $? '... the lock file comes back'
sleep 1.2
other
keeps "$daemon" && [ "$status" -eq 3 ] && [ "$(inode "$page")" = "$old" ]
ok $? '... and the first goes on'

# Lock and page are removed, and another one is faster than the first can see.
kill -STOP "$daemon"
rm -f "$page.lock" "$page"
first=$daemon
"$B/vclockd" --foreground --page "$page" --trust-counter --priority 0 2>"$tap_dir/other" &
daemon=$!
await keeps "$daemon"
kill -CONT "$first"
timeout 20 tail --pid="$first" -f /dev/null
wait "$first"
is "$? $(cat "$tap_dir/said")" "3 vclockd: $page: process $daemon keeps this page" \
	'who has lost lock and page ends, and says to whom'
await keeps "$daemon"
ok $? '... the other one keeps the page'

# The whole folder.
rm -rf "$folder"
sleep 1.2
mkdir -m 0755 "$folder"
await keeps "$daemon"
ok $? 'a folder that is removed and made again has the page again'
await [ -e "$page.lock" ]
ok $? '... and the lock'

# Written into, under readers: who may do that may give them any time, but they neither crash nor
# hang, and find the new file by themselves.
old=$(inode "$page")
VCLOCK_PAGE=$page timeout 60 "$B/vclock" verify --seconds 3 bracket >"$tap_dir/verify" 2>&1 &
readers=$!
sleep 0.5
head -c 4096 /dev/urandom | dd of="$page" conv=notrunc 2>/dev/null
is_another() { is_new "$page" "$old" && keeps "$daemon"; }
await is_another
ok $? 'a page that was written into is replaced'
old=$(inode "$page")
# In range, and not what the publisher wrote.
printf '\x1f' | dd of="$page" bs=1 seek=12 conv=notrunc 2>/dev/null
await is_another
ok $? '... in one byte, too'
wait "$readers"
status=$?
[ "$status" -le 1 ] && grep -q MONOTONIC "$tap_dir/verify"
ok $? "... and readers go on ($status)" || diag "$(tail -n 5 "$tap_dir/verify")"

# Others may write it: it is replaced whether they do or not, and the old one ends.
leave
daemon
await keeps "$daemon"
exposed() { # WHAT COMMAND...
	local what=$1
	shift
	old=$(inode "$page")
	exec 8<"$page" # as a reader that has it mapped
	said=$(wc -l <"$tap_dir/said")
	"$@"
	await is_another
	ok $? "$what: another page takes its place"
	is "$(stat -c '%a %u' "$page") $(tail -n "+$((said + 1))" "$tap_dir/said")" "644 $(id -u) vclockd: $page: its owner or mode was \
changed so that others could write it: replaced by a new page" '... mode 0644, and says so once'
	# retired, of the live slot
	is "$(perl -e 'local $/; $_ = <STDIN>; $g = unpack("x8 L<", $_);
		print unpack("L<", substr($_, 128 + 576 * ($g & 1) + 524, 4))' <&8)" 8 '... the old one has ended'
	exec 8<&-
}
exposed 'mode 0666' chmod 0666 "$page"
exposed 'mode 0664' chmod 0664 "$page"
exposed 'mode 0646' chmod 0646 "$page"
if [ "$(id -u)" -eq 0 ]; then
	exposed 'another owner' chown 65534 "$page"
else
	skip 'another owner' 'needs root'
fi
old=$(inode "$page")
chmod 0600 "$page"
sleep 1.2
is "$(stat -c %a "$page") $(inode "$page")" "600 $old" 'a mode that only keeps readers out is left as it is'
chmod 0644 "$page"
await keeps "$daemon"

# Cut: who cuts a mapped file kills who maps it. The next one makes a new file.
truncate -s 0 "$page"
wait "$daemon"
status=$?
daemon
await keeps "$daemon"
ok $? "a page that was cut ends its daemon ($status), and the next makes a new one"

# Signals.
for _ in $(seq 1 2000); do kill -HUP "$daemon"; done
keeps "$daemon"
ok $? 'thousands of SIGHUP change nothing'
for _ in $(seq 1 2000); do kill -TERM "$daemon" 2>/dev/null || break; done
wait "$daemon"
is "$? $("$B/vclock" page --check "$page" 2>&1 >/dev/null)" \
	"0 vclock: page: $page: ended: the publisher was stopped" 'thousands of SIGTERM end it in good order'
daemon
await keeps "$daemon"
kill -USR1 "$daemon"
wait "$daemon" 2>/dev/null
daemon
await keeps "$daemon"
ok $? 'one that died of a signal is followed by the next'
leave

# A race for one page.
rounds=3 odd=0
[ -z "${VCLOCK_TEST_LONG:-}" ] || rounds=50
for round in $(seq 1 $rounds); do
	[ $((round % 2)) -ne 1 ] || clear_folder
	pids=()
	for i in 1 2 3 4; do
		"$B/vclockd" --foreground --page "$page" --trust-counter --priority 0 2>"$tap_dir/race.$i" &
		pids+=($!)
	done
	is_one_left() { [ "$(jobs -rp | wc -l)" -eq 1 ]; }
	await is_one_left || odd=$((odd + 1))
	winner=$(jobs -rp | head -n 1)
	await keeps "$winner" || odd=$((odd + 1))
	for i in 1 2 3 4; do
		[ "${pids[i - 1]}" != "$winner" ] || continue
		wait "${pids[i - 1]}"
		[ $? -eq 3 ] && grep -q 'keeps this page$' "$tap_dir/race.$i" || odd=$((odd + 1))
	done
	daemon=$winner
	leave
	[ "$status" -eq 0 ] || odd=$((odd + 1))
done
is "$odd" 0 'of four that start at once one keeps the page, and three say so'

# Without standard files nothing that it opens takes their place.
clear_folder
"$B/vclockd" --foreground --page "$page" --trust-counter --priority 0 <&- >&- 2>&- &
daemon=$!
await keeps "$daemon"
is "$(readlink "/proc/$daemon/fd/0" "/proc/$daemon/fd/1" "/proc/$daemon/fd/2" | sort -u)" /dev/null \
	'closed standard files stay out of the way'
leave

# Into the background: who started it may go on at once, and the lock has not stayed behind.
status=0
timeout 20 "$B/vclockd" --page "$page" --trust-counter --priority 0 >"$tap_dir/out" 2>&1 9>"$tap_dir/held" || status=$?
"$B/vclock" page --check "$page" >/dev/null 2>"$tap_dir/err"
is "$status $? $(cat "$tap_dir/out" "$tap_dir/err")" '0 0 ' \
	'it goes into the background when the page answers, also where an old one lies'
daemon=$("$B/vclock" page --check --json "$page" | jq .writer_pid)
other
is "$status $(cat "$tap_dir/other")" "3 vclockd: $page: process $daemon keeps this page" '... with the lock'
is "$(readlink "/proc/$daemon/fd/0" "/proc/$daemon/fd/1" "/proc/$daemon/fd/2" "/proc/$daemon/cwd" | sort -u | tr '\n' ' ')" \
	'/ /dev/null ' '... and nothing of the terminal'
[ ! -e "/proc/$daemon/fd/9" ]
ok $? '... nor of what the script held open'
kill "$daemon"
await [ ! -e "/proc/$daemon" ]
ok $? '... SIGTERM ends it'
status=0
timeout 20 "$B/vclockd" --page "$tap_dir/none/page" --trust-counter 2>"$tap_dir/err" || status=$?
is "$status $(cat "$tap_dir/err")" "4 vclockd: $tap_dir/none/page: No such file or directory" \
	'what fails in the background is told before'

mkdir "$tap_dir/here"
daemon=$(cd "$tap_dir/here" && timeout 20 "$B/vclockd" --page page --trust-counter --priority 0 2>"$tap_dir/err" &&
	"$B/vclock" page --check --json page | jq .writer_pid)
is "$(cd "$tap_dir/here" && echo *) $(cat "$tap_dir/err")" 'page page.lock ' \
	'a path of the folder that it was started in'
kill "$daemon"
await [ ! -e "/proc/$daemon" ]

# That folder is gone: its name cannot be told, and the page must not land in /.
mkdir "$tap_dir/gone"
for where in '' --foreground; do
	name=vclock-test-$$
	status=0
	# shellcheck disable=SC2086
	(cd "$tap_dir/gone" && rmdir "$tap_dir/gone" && exec timeout 20 "$B/vclockd" $where --page "$name" \
		--trust-counter --priority 0) 2>"$tap_dir/err" || status=$?
	is "$status $(cat "$tap_dir/err")$(ls "/$name"* 2>/dev/null)" "4 vclockd: $name: No such file or directory" \
		"a folder that has gone ${where:-in the background}"
	mkdir "$tap_dir/gone"
done
status=0
(cd "$tap_dir/gone" && rmdir "$tap_dir/gone" && exec timeout 20 "$B/vclockd" --sysfs sys --page "$tap_dir/none" \
	--trust-counter --priority 0) 2>"$tap_dir/err" || status=$?
is "$status $(cat "$tap_dir/err")" '4 vclockd: sys: No such file or directory' '... for --sysfs too'

# What is in the way and no page was put there by somebody, or PATH is wrong.
echo 'some notes' >"$tap_dir/notes"
status=0
timeout 20 "$B/vclockd" --foreground --page "$tap_dir/notes" --trust-counter 2>"$tap_dir/err" || status=$?
is "$status $(cat "$tap_dir/err" "$tap_dir/notes")" "4 vclockd: $tap_dir/notes: File exists
some notes" 'a file that is no page stays'
for where in '' --foreground; do
	status=0
	# shellcheck disable=SC2086
	timeout 20 "$B/vclockd" $where --page "$tap_dir/notes" --trust-counter 2>"$tap_dir/err" || status=$?
	is "$status $(ls -d "$tap_dir"/notes*)" "4 $tap_dir/notes" "... without a lock beside it ${where:-in the background}"
done
# Of a page's size, and of this user: no earlier daemon's page all the same.
yes 'more notes' | head -c 4096 >"$tap_dir/notes"
sum=$(cksum <"$tap_dir/notes")
status=0
timeout 5 "$B/vclockd" --foreground --page "$tap_dir/notes" --trust-counter 2>"$tap_dir/err" || status=$?
is "$status $(cat "$tap_dir/err") $(cksum <"$tap_dir/notes") $(ls -d "$tap_dir"/notes*)" \
	"4 vclockd: $tap_dir/notes: File exists $sum $tap_dir/notes" '... of the size of a page, too'
(ulimit -f 0 && "$B/vclockd" --foreground --page "$tap_dir/limited" --trust-counter 2>&1) | cat >"$tap_dir/err"
is "$(cat "$tap_dir/err")$(ls "$tap_dir"/limited* 2>/dev/null)" "vclockd: $tap_dir/limited: File too large" \
	'a limit on the size of files'

# The lock file, or the one that is to become the page, is what is wrong, and is named.
mkdir -m 0755 "$tap_dir/locks"
page=$tap_dir/locks/page
at_fault() { # SUFFIX WORDS WHAT
	other
	is "$status $(cat "$tap_dir/other")" "4 vclockd: $page$1: $2" "$3"
	rm -rf "$page$1" "$page.lock"
}
mkdir "$page.lock"
at_fault .lock 'Is a directory' 'a folder in the place of the lock'
mkfifo "$page.lock"
at_fault .lock 'not a regular file' 'a pipe in the place of the lock'
ln -s nothing "$page.lock"
at_fault .lock 'Too many levels of symbolic links' 'a symbolic link in the place of the lock'
[ ! -e "$tap_dir/locks/nothing" ]
ok $? '... is not followed'
mkdir "$page.new"
at_fault .new 'not a regular file' 'a folder in the place of the new page'
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups "$B/vclock" --version >/dev/null 2>&1; then
	chmod 0755 "$tap_dir"
	: >"$page.lock"
	chmod 0600 "$page.lock"
	chmod 0777 "$tap_dir/locks"
	status=0
	timeout 20 setpriv --reuid 65534 --regid 65534 --clear-groups "$B/vclockd" --foreground --page "$page" \
		--trust-counter 2>"$tap_dir/err" || status=$?
	is "$status $(cat "$tap_dir/err")" "4 vclockd: $page.lock: Permission denied" 'a lock of another user'
	rm "$page.lock"
else
	skip 'a lock of another user' 'needs root'
fi

# What can only be a folder's name, or is one: at once, and with nothing left behind.
mkdir "$tap_dir/locks/sub"
cd "$tap_dir/locks" || exit 1
for name in . .. ./ sub sub/ page/ sub/. / "$tap_dir/locks/"; do
	status=0
	timeout 20 "$B/vclockd" --foreground --page "$name" --trust-counter 2>"$tap_dir/err" || status=$?
	is "$status $(sed 's/.*: //' "$tap_dir/err")" '4 Is a directory' "--page $name"
done
status=0
timeout 20 "$B/vclockd" --foreground --page '' --trust-counter 2>"$tap_dir/err" || status=$?
is "$status $(cat "$tap_dir/err")" '2 vclockd: --page: the path is empty' 'an empty --page'
cd / || exit 1
is "$(find "$tap_dir" -name '*.lock' -newer "$tap_dir/locks/sub") $(find "$tap_dir/locks" -mindepth 1 -printf '%f ')" ' sub ' \
	'... nothing is left behind'

# Places where no page can be made.
places() {
	local where=$1 words=$2 what=$3
	page=$where/page other
	is "$status $(cat "$tap_dir/other")" "4 vclockd: $where/page: $words" "$what"
}
mkdir "$tap_dir/small"
if [ "$(id -u)" -eq 0 ] && mount -t tmpfs -o size=8k none "$tap_dir/small" 2>/dev/null; then
	head -c 8192 /dev/zero >"$tap_dir/small/full"
	places "$tap_dir/small" 'No space left on device' 'a full file system'
	is "$(find "$tap_dir/small" -mindepth 1 -printf '%f\n' | sort | tr '\n' ' ')" 'full page.lock ' \
		'... where only the lock is left'
	rm "$tap_dir/small/full"
	page=$tap_dir/small/page
	daemon
	await keeps "$daemon"
	# The old page's memory stays mapped; what room there is beside it is taken before it goes.
	head -c 4096 /dev/zero >"$tap_dir/small/full"
	rm "$page"
	sleep 1.2
	[ ! -e "$page" ] && kill -0 "$daemon"
	ok $? 'a daemon whose page was deleted waits for room for another'
	rm -f "$tap_dir/small/full"
	await keeps "$daemon"
	ok $? '... and makes it then'
	leave
	rm -f "$tap_dir"/small/*
	mount -o remount,ro "$tap_dir/small"
	places "$tap_dir/small" 'Read-only file system' 'a read-only file system'
	umount "$tap_dir/small"
else
	skip 'a full file system' 'needs root'
fi
chmod 0755 "$tap_dir"
if [ "$(id -u)" -eq 0 ] && setpriv --reuid 65534 --clear-groups "$B/vclock" --version >/dev/null 2>&1; then
	clear_folder
	status=0
	timeout 20 setpriv --reuid 65534 --regid 65534 --clear-groups "$B/vclockd" --foreground \
		--page "$folder/page" --trust-counter 2>"$tap_dir/err" || status=$?
	is "$status $(cat "$tap_dir/err")" "4 vclockd: $folder/page: Permission denied" 'a folder of another user'
else
	skip 'a folder of another user' 'needs root'
fi
tap_done
