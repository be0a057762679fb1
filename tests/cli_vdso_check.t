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

# Of machines that vclock does not run on yet: where there is a compiler for them. Each has one return
# made a jump through another register, which must be seen.
for arch in aarch64 riscv64; do
	image=$images/vdso-$arch.so
	if [ ! -e "$image" ]; then
		skip "the $arch image" 'no compiler for that machine'
		continue
	fi
	run "the $arch image passes" "$vclock" vdso --check "$image"
	is "$(grep -c ': holds$' said)" 10 'each of ten rules is named'
	perl -0777 -pe 's/\xc0\x03\x5f\xd6/\x20\x01\x1f\xd6/; s/\x82\x80(?=.*\.symtab)/\x82\x82/s' "$image" >branch.so
	"$vclock" vdso --check branch.so >said
	is "$?: $(grep -c '^branches: broken$' said)" '1: 1' "$arch: a jump through a register is seen"
	[ "$arch" = aarch64 ] || continue
	# The last function's first instruction, bti c, becomes a nop.
	perl -0777 -pe 's/.*\K\x5f\x24\x03\xd5/\x1f\x20\x03\xd5/s' "$image" >pad.so
	"$vclock" vdso --check pad.so >said
	is "$?: $(grep -c 'does not begin with a landing pad' said)" '1: 1' "$arch: a missing landing pad is seen"
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
