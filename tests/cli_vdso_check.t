#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vclock vdso --check, as typed: the images pass, what is no such image does not, and says why.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
vclock=$B/vclock
images=$root/build/images
cd "$tap_dir" || exit 1

for arch in x86_64 i386; do
	run "the $arch image passes" "$vclock" vdso --check "$images/vdso-$arch.so"
	is "$(grep -c ': holds$' said)" 10 'each of ten rules is named'
done
run 'JSON' "$vclock" vdso --check --json "$images/vdso-x86_64.so"
perl -MJSON::PP -0777 -ne '$d = decode_json($_);
	exit !($d->{passes} && @{$d->{rules}} == 10 && $d->{findings} == 0 &&
		!grep { $_->{verdict} ne "holds" || @{$_->{findings}} } @{$d->{rules}});' said
ok $? 'JSON says the same'

check() { # ARGUMENT...: status, said
	status=0
	"$vclock" vdso --check "$@" >said 2>&1 </dev/null || status=$?
}
check "$B/libvclock.so.0"
is "$status" 1 'another library does not pass'
grep -q '^relocations: broken$' said
ok $? 'and the rules that it breaks are named'
head -c 3000 "$images/vdso-x86_64.so" >cut.so
check cut.so
is "$status" 1 'nor does an image that was cut'
check "$root/README.md" "$root/README.md"
is "$status" 2 'two files: wrong usage'
check
is "$status: $(cat said)" '2: vclock: vdso: --check: needs a file' 'no file: wrong usage'
check missing
is "$status" 2 'a missing file'
tap_done
