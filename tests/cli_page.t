#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vclock page: what is on a page, that a wrong one is named, and that --watch ends. Cases S05, S06,
# S07, S18.
. "$(dirname "$(readlink -f "$0")")/tap.sh"
. "$root/tests/page.sh"

look() {
	status=0
	timeout 20 "$B/vclock" page "$@" >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
}
# wrong STATUS WORDS WHAT: in one line on stderr, in the text, by --json.
wrong() {
	look --check --json "$page"
	is "$status $(cat "$tap_dir/err")" "$1 vclock: page: $page: $2" "$3"
	is "$(jq -r '"\(.wrong) \(.usable) \(.verdict)"' "$tap_dir/out")" \
		"$([ "$1" = 1 ] && echo true || echo false) false $2" '... by --json'
}

# A page that is kept.
"$B/vclockd" --foreground --page "$page" --trust-counter --priority 0 >"$tap_dir/daemon" 2>&1 &
daemon=$!
# A daemon that is late at one moment will be back.
for _ in $(seq 1 100); do
	look --check "$page"
	[ "$status" -ne 0 ] || break
	sleep 0.1
done
is "$status" 0 'a page that is kept passes --check'
look --json "$page"
is "$status $(jq -r '"\(.path) \(.usable) \(.wrong) \(.verdict) \(.writer_pid) \(.interval_ns) \(.flags) \(.same_boot)"' "$tap_dir/out")" \
	"0 $page true false kept $daemon 10000000 1 true" 'its fields'
is "$(jq -r '[.clocks[].name] | sort | join(" ")' "$tap_dir/out")" \
	'BOOTTIME BOOTTIME_ALARM MONOTONIC MONOTONIC_RAW REALTIME REALTIME_ALARM TAI' '... all clocks'
is "$(jq '.age_ns < 1000000000 and .error_ns > 0 and .generation > 0 and .counter_hz > 1000 and
	(.raw_ppb | fabs) < 110000000 and .ahead_ns > 0' "$tap_dir/out")" true '... in range'
# One look of several may meet a daemon that is late; that is what null says.
for _ in $(seq 1 50); do
	look --json "$page"
	[ "$(jq '.kernel_ppb != null and .clocks[1].offset_min_ns != null' "$tap_dir/out")" != true ] || break
	sleep 0.1
done
is "$(jq '.error_ns as $e | [.clocks[] | select(.offset_min_ns != null) |
	.offset_min_ns <= $e + 100000 and .offset_max_ns >= -$e - 100000] | length >= 5 and all' "$tap_dir/out")" true \
	'clocks are bracketed by the kernel'
is "$(jq '(.kernel_ppb | fabs) < 1000000 + .kernel_within_ppb' "$tap_dir/out")" true \
	'... and their rate is that of the kernel'
now=$(date +%s)
is "$(jq --argjson now "$now" '[.clocks[] | select(.id == 0) | .now.sec - $now | fabs < 5][0]' "$tap_dir/out")" true \
	'REALTIME is the time of day'
VCLOCK_PAGE=$page "$B/vclock" page >"$tap_dir/out"
is "$(grep -c "^Page *$page: kept$" "$tap_dir/out") $(grep -c "^Writer *process $daemon," "$tap_dir/out")" '1 1' \
	'VCLOCK_PAGE names the page'

# --watch
timeout 20 "$B/vclock" page --watch "$page" | head -n 30 >"$tap_dir/out"
ends=("${PIPESTATUS[@]}")
is "$(grep -c '^Page ' "$tap_dir/out" | sed 's/[^1].*/more/')" more '--watch prints again'
[ "${ends[0]}" -ne 124 ]
ok $? '... and ends when nobody reads it any more'
! grep -q $'\033' "$tap_dir/out"
ok $? '... without a terminal it sends no control codes'
timeout -s INT 1.5 "$B/vclock" page --watch "$page" >"$tap_dir/out"
is $? 124 '... and when interrupted'
look --watch --json "$page"
is "$status" 2 '--watch --json is refused'
look "$page" "$page"
is "$status" 2 'two pages are refused'

cp "$page" "$tap_dir/copy"
kill "$daemon"
wait "$daemon" 2>/dev/null
look "$page"
is "$status $(grep -c "^Page *$page: ended: the publisher was stopped$" "$tap_dir/out")" '0 1' 'an ended page is shown'
look --check "$page"
is "$status $(cat "$tap_dir/err")" "1 vclock: page: $page: ended: the publisher was stopped" '... and fails --check'
sleep 1.2
look --check "$tap_dir/copy"
is "$status $(cat "$tap_dir/err")" \
	"1 vclock: page: $tap_dir/copy: ended: its writer has stopped or gone" 'a page whose writer died fails --check'
perl -e 'local $/; $_ = <STDIN>; substr($_, 32, 1) ^= "\1"; print' <"$tap_dir/copy" >"$tap_dir/other"
look --check "$tap_dir/other"
is "$status $(cat "$tap_dir/err")" "1 vclock: page: $tap_dir/other: of another boot" 'a page of another boot too'
perl -e 'local $/; $_ = <STDIN>; substr($_, 32, 16) = "\0" x 16; print' <"$tap_dir/copy" >"$tap_dir/nobody"
look --check "$tap_dir/nobody"
is "$status $(cat "$tap_dir/err")" "1 vclock: page: $tap_dir/nobody: does not say of which boot it is" \
	'... and one that does not say of which'
# As without /proc.
without_boot() {
	unshare -m sh -c 'mount --bind /dev/null /proc/sys/kernel/random/boot_id && exec "$@"' sh "$@"
}
if [ "$(id -u)" -eq 0 ] && without_boot true 2>/dev/null; then
	words="of which boot cannot be told: this boot's id cannot be read: is /proc mounted?"
	status=0
	without_boot "$B/vclock" page --check "$tap_dir/copy" >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
	is "$status $(cat "$tap_dir/err")" "1 vclock: page: $tap_dir/copy: $words" '... and one of which it cannot be told'
	is "$(VCLOCK_PAGE=$tap_dir/copy without_boot "$B/vclock" info | tr -s ' \n' ' ' | grep -cF "$tap_dir/copy: $words")" 1 \
		'... as vclock info says too'
else
	skip 'no boot id' 'needs root'
fi

# What is no page.
rm -f "$page"
wrong 2 'No such file or directory' 'no file'
head -c 4096 /dev/zero >"$page"
wrong 1 'not a page' 'a page of zeros'
look "$page"
is "$status $(cat "$tap_dir/err")" "1 vclock: page: $page: not a page" '... without --check too'
: >"$page"
wrong 1 'not a page' 'an empty file'
cp "$root/LICENSE" "$page"
wrong 1 'not a page' 'a text'
rm "$page"
mkdir "$page"
wrong 1 'not a page' 'a folder'
rmdir "$page"
mkfifo "$page"
wrong 1 'not a page' 'a pipe: nobody waits for it'
rm "$page"
truncate -s 1T "$page"
wrong 1 'not a page' 'a terabyte of nothing'
rm "$page"
ln -s copy "$page"
wrong 1 'a symbolic link, which no reader follows' 'a symbolic link'

rm "$page"
page=/dev/zero
wrong 1 'not a page' 'a device'
page=$tap_dir/page

# A page, but for one field. The version is told before the size.
page version=2
wrong 1 'page format 2, this is for format 1' 'another version'
page version=2 size=64 bytes=64
wrong 1 'page format 2, this is for format 1' 'another version of another size'
page bytes=100
wrong 1 'invalid page: 100 bytes, and it says 4096' 'a page that was cut'
for size in 4088 0 8192; do
	page size=$size
	wrong 1 "invalid page: 4096 bytes, and it says $size" "size $size"
done
page magic=$((0x4b4c4356 + 1))
wrong 1 'not a page' 'another magic'
page mult=0
wrong 1 'invalid page: multiplier 0' 'multiplier 0'
page shift=34
wrong 1 'invalid page: shift 34' 'a shift that is too large'
page fns=$((1000000000 << 30))
wrong 1 'invalid page: nanoseconds of a base 1000000000' 'a base of a second'
page kind=9
wrong 1 'invalid page: counter kind 9' 'an unknown counter'
page
chmod 0666 "$page"
wrong 1 'not owned by root or this user, or writable by others' 'a page that anybody can write'
page generation=0
look --check "$page"
[ "$status" -eq 1 ]
ok $? 'a page that was never published fails --check'

# Any bytes: an answer, never a crash or a hang.
seed=${VCLOCK_SEED:-$RANDOM}
diag "VCLOCK_SEED=$seed"
good=$tap_dir/good bad=0
page
cp "$page" "$good"
count=8
[ -z "${VCLOCK_TEST_LONG:-}" ] || count=1000
for i in $(seq 1 $count); do
	mangle $((seed * 100 + i)) <"$good" >"$page"
	look --json "$page"
	if [ "$status" -gt 1 ] || ! jq -e .command "$tap_dir/out" >/dev/null; then
		bad=$((bad + 1))
		diag "status $status for number $i"
	fi
done
is "$bad" 0 'random pages and flipped bits are answered'
tap_done
