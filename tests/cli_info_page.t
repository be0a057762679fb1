#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# info names what is wrong with a page file, exits with 1 when it can never be used, and is not
# misled by it. Cases M03, X05, S05, S06, S07, S18.
. "$(dirname "$(readlink -f "$0")")/tap.sh"
. "$root/tests/page.sh"

info() {
	status=0
	VCLOCK_PAGE=$page timeout 20 "$B/vclock" info "$@" >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
}
# wrong WORDS WHAT: exit status 1, and one line that names the file and the fault.
wrong() {
	info
	is "$status" 1 "$2: exit status 1"
	is "$(cat "$tap_dir/err")" "vclock: info: $page: $1" '... and the reason'
	grep -qF "$1" "$tap_dir/out"
	ok $? '... also among the rest'
}

page mult=0
wrong 'invalid page: multiplier 0' 'multiplier 0'
! grep -qiE '\b(inf|nan)\b' "$tap_dir/out"
ok $? '... no inf, no nan'
info --json
is "$status $(jq -r '"\(.page.file_wrong) \(.page.source)"' "$tap_dir/out")" '1 true none' \
	'... the same by --json'
page rawmult=0
wrong 'invalid page: multiplier 0' 'multiplier 0 of MONOTONIC_RAW'
page version=2
wrong 'page format 2, this is for format 1' 'another version'
page version=2 bytes=64
wrong 'page format 2, this is for format 1' 'another version that is shorter'
page magic=1
wrong 'not a page' 'no magic'
page bytes=0
wrong 'not a page' 'an empty file'
page bytes=100
wrong 'invalid page: 100 bytes, and it says 4096' 'a page that was cut'
page shift=64
wrong 'invalid page: shift 64' 'a shift that would be undefined'
page length=4294967295
wrong 'invalid page: cycles of a line 4294967295' 'a line that is too long'
page fns=18446744073709551615
wrong 'invalid page: nanoseconds of a base 17179869183' 'a base that would overflow'
page hz=0
wrong 'invalid page: counter Hz 0' 'a counter that stands still'
rm -f "$page"
mkdir "$page"
wrong 'not a page' 'a folder'
rm -rf "$page"
mkfifo "$page"
wrong 'not a page' 'a pipe: nobody waits for it'
page
chmod 0666 "$page"
wrong 'not owned by root or this user, or writable by others' 'a page that anybody can write'

# Not in use, but no fault of the file.
page
info
is "$status $(tr -s ' ' <"$tap_dir/out" | grep -c 'Page none. .*: does not say of which boot it is')" '0 1' \
	'a page of an unknown boot: said, exit status 0'
perl -pi -e 'BEGIN { undef $/ } substr($_, 32, 1) = "\1"' "$page"
info
is "$status $(tr -s ' ' <"$tap_dir/out" | grep -c 'Page none. .*: of another boot')" '0 1' \
	'a page of another boot: said, exit status 0'
rm -f "$page"
info
is "$status $(tr -s ' ' <"$tap_dir/out" | grep -c "Page none. $page: No such file")" '0 1' \
	'no page: said, exit status 0'

# No reader follows a link, wherever it leads.
page
mv "$page" "$tap_dir/target"
for target in "$tap_dir/target" /dev/zero "$tap_dir/none"; do
	rm -f "$page"
	ln -s "$target" "$page"
	wrong 'a symbolic link, which no reader follows' "a symbolic link to $(basename "$target")"
	info --json
	is "$status $(jq -r '"\(.page.file_wrong) \(.page.source)"' "$tap_dir/out")" '1 true none' '... by --json'
	status=0
	"$B/vclock" page "$page" >/dev/null 2>"$tap_dir/err" || status=$?
	is "$status $(cat "$tap_dir/err")" "1 vclock: page: $page: a symbolic link, which no reader follows" \
		'... and vclock page says the same'
done

# A good page, as long as it is kept and after.
rm -f "$page"
"$B/vclockd" --foreground --page "$page" --trust-counter --priority 0 >"$tap_dir/daemon" 2>&1 &
daemon=$!
routes() {
	jq -r '[.clocks[] | select(.error == null and .id != 2 and .id != 3 and .id != 5 and .id != 6)
		| .route] | unique | join(" ")' "$tap_dir/out"
}
# A daemon that is late at one moment will be back.
for _ in $(seq 1 100); do
	info --json
	[ "$(routes)" != page ] || break
	sleep 0.1
done
is "$status $(jq -r '"\(.page.source) \(.page.path) \(.page.writer_pid) \(.page.interval_ns)"' "$tap_dir/out")" \
	"0 file $page $daemon 10000000" 'a page that is kept is in use'
is "$(jq '.page.age_ns < 1000000000 and .page.error_ns > 0 and .page.generation > 0' "$tap_dir/out")" true \
	'... with its age, error and generation'
is "$(routes)" page '... and answers its clocks'
VCLOCK_ROUTE=vdso VCLOCK_PAGE=$page "$B/vclock" info >"$tap_dir/out"
is "$(tr -s ' ' <"$tap_dir/out" | grep -c "^Page none. $page: a page, but not asked for$")" 1 \
	'... unless VCLOCK_ROUTE does not allow it'
kill "$daemon"
wait "$daemon" 2>/dev/null
info --json
is "$status $(jq -r .page.source "$tap_dir/out")" '0 none' 'a page that was ended is not'

# Any bytes: an answer, never a crash or a hang.
seed=${VCLOCK_SEED:-$RANDOM}
diag "VCLOCK_SEED=$seed"
good=$tap_dir/good bad=0
page
cp "$page" "$good"
count=6
[ -z "${VCLOCK_TEST_LONG:-}" ] || count=1000
for i in $(seq 1 $count); do
	mangle $((seed * 100 + i)) <"$good" >"$page"
	info
	[ "$status" -le 1 ] || { bad=$((bad + 1)); diag "status $status for number $i"; }
done
is "$bad" 0 'random pages and flipped bits are answered'
tap_done
