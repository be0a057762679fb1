#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# info --pid: what /proc shows of another process's clocks.
. "$(dirname "$(readlink -f "$0")")/tap.sh"

sleep 60 &
sleeper=$!
info() {
	"$B/vclock" info --pid "$@" >"$tap_dir/out" 2>"$tap_dir/err"
}
get() {
	jq -r "$1" "$tap_dir/out"
}

info "$sleeper"
is "$? $(wc -l <"$tap_dir/err")" '0 0' 'a process of ours: exit status 0'
grep -q "^Process *$sleeper, " "$tap_dir/out"
ok $? '... is named'
info "$sleeper" --json
ok $? 'by --json'
is "$(get .pid)" "$sleeper" '... its id'
maps=$(grep -c '\[vdso\]$' "/proc/$sleeper/maps")
is "$(get .vdso.mapped)" "$([ "$maps" -gt 0 ] && echo true || echo false)" '... its vDSO, as in its maps'
start=$(sed -n 's/^\([0-9a-f]*\)-.* \[vdso\]$/\1/p' "/proc/$sleeper/maps")
is "$(get .vdso.address)" "$((16#${start:-0}))" '... and where it is'
is "$(get .vdso.data_mappings)" "$(grep -c '\[vvar' "/proc/$sleeper/maps")" '... and its data'
is "$(get '.vdso.sysinfo_ehdr == .vdso.address')" true '... of which the program was told'
is "$(get .bits)" 64 '... 64-bit'
is "$(get .page_mappings)" 0 '... no page'
is "$(get '.time_namespace_same or (.time_namespace_known | not)')" true '... the same time namespace'
kill "$sleeper"
wait "$sleeper" 2>/dev/null

# A process that has mapped a page, and is in another time namespace where that can be had.
cat >"$tap_dir/map.c" <<'C'
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	int fd = open(argv[argc - 1], O_RDONLY);
	return mmap(0, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED || write(1, "\n", 1) != 1 ||
	       sleep(60);
}
C
run 'a program that maps a page' "${CELL_CC:-cc}" -o "$tap_dir/map" "$tap_dir/map.c"
head -c 4096 /dev/zero >"$tap_dir/page"
enter=
unshare --time --boottime 1000 true 2>/dev/null && enter='unshare --time --boottime 1000'
mkfifo "$tap_dir/ready"
# shellcheck disable=SC2086 # words
$enter "$tap_dir/map" "$tap_dir/page" >"$tap_dir/ready" &
mapper=$!
read -r _ <"$tap_dir/ready"
VCLOCK_PAGE=$tap_dir/page info "$mapper" --json
is "$(get .page)" "$tap_dir/page" '... is seen to have it'
if [ -n "$enter" ]; then
	is "$(get '.time_namespace_known and (.time_namespace_same | not)')" true \
		'... and to be in another time namespace'
	VCLOCK_PAGE=$tap_dir/page info "$mapper"
	grep -q 'boottime 1000.000000000 s' "$tap_dir/out"
	ok $? '... with its offsets'
fi
kill "$mapper"
wait "$mapper" 2>/dev/null

status=0
info "$sleeper" || status=$?
is "$status $(cat "$tap_dir/err")" "2 vclock: info: --pid: $sleeper: no such process" \
	'a process that has gone: exit status 2'
refuse '--pid and --sysfs exclude each other' "$B/vclock" info --pid 1 --sysfs /
tap_done
