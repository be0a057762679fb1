#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vclock vdso, as typed: what it prints of good images, and one line and the right status for each
# bad input.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
vclock=$B/vclock
cc=${CELL_CC:-gcc}
cd "$tap_dir" || exit 1

vdso() { # ARGUMENT...: status, out, err
	status=0
	"$vclock" vdso "$@" >out 2>err </dev/null || status=$?
}

# good WHAT ARGUMENT...
good() {
	local what=$1
	shift
	vdso "$@"
	[ "$status" -eq 0 ] && [ -s out ] && [ ! -s err ]
	ok $? "$what" || sed 's/^/# /' err
}

# bad STATUS LINE WHAT ARGUMENT...: exactly that line on stderr, nothing on stdout.
bad() {
	local wanted=$1 line=$2 what=$3
	shift 3
	vdso "$@"
	is "$status: $(cat err)$(cat out)" "$wanted: vclock: vdso: $line" "$what"
}

has() { # LINE WHAT
	grep -Fxq -- "$1" out
	ok $? "$2" || head -n 12 out | sed 's/^/# /'
}

# The process's own.
good 'own image'
has 'hash: sysv, gnu' 'hash tables' || true
has 'relocations: none' 'the kernel has no relocations'
grep -q '^indirect branches: none ([0-9]* instructions)$' out
ok $? 'its code was decoded, and has no indirect branch'
grep -Eq '^clock_gettime +__vdso_clock_gettime@LINUX_2.6 +found$' out
ok $? 'the functions that vclock looks for'
grep -Eq '^__vdso_clock_gettime +LINUX_2.6 +func +global +0x[0-9a-f]+ +[0-9]+$' out
ok $? 'symbols with versions'
good 'the image of a process' --pid $$
good 'JSON' --json
perl -MJSON::PP -0777 -ne '
	$d = decode_json($_);
	sub need { exit 1 unless $_[0] }
	need($d->{vclock} && $d->{command} eq "vdso");
	need($d->{class} == 64 && $d->{machine} && $d->{address} && $d->{soname} =~ /^linux-/);
	need(@{$d->{hashes}} && @{$d->{versions}} && !grep { $_ } values %{$d->{relocations}});
	need(keys %{$d->{relocations}} == 4 && $d->{size} > 1000 && $d->{image} eq "this process");
	need($d->{code}{decoded} && !defined $d->{code}{reason} && $d->{code}{instructions} > 50);
	need($d->{code}{indirect_branches} == @{$d->{code}{indirect_branch_addresses}});
	need(grep { $_->{name} =~ /clock_gettime$/ && $_->{defined} && $_->{version} } @{$d->{symbols}});
	need(grep { $_->{function} eq "clock_gettime" && $_->{state} eq "found" } @{$d->{functions}});
' out
ok $? 'JSON has the documented keys'

# Images of our own. g jumps and h calls through a register and through memory; f reaches g.
cat >image.s <<'S'
	.globl f, h, unused
	.type f, @function
	.type h, @function
f:	call g
	ret
	.size f, . - f
h:	test %eax, %eax
	jne 1f
	ret
	int3
1:
at_call:
	call *8(%eax)
	ret
	.size h, . - h
	.type g, @function
g:	nop
at_jump:
	jmp *%eax
	jmp *%ecx
	.size g, . - g
S
cat >image64.s <<'S'
	.globl f
	.type f, @function
f:	jmp *%rax
	.size f, . - f
S
cat >map <<'M'
LINUX_2.7 { global: f; h; local: *; };
M
build() { # STYLE OUTPUT EMULATION SOURCE
	as --"$([ "$3" = elf_i386 ] && echo 32 || echo 64)" -o image.o "$4" &&
		ld -m "$3" -shared -soname "$2" --hash-style="$1" --version-script map -o "$2" image.o
}
build gnu gnu.so elf_i386 image.s && build sysv sysv.so elf_i386 image.s &&
	build both both.so elf_x86_64 image64.s
ok $? 'images are built'
good 'an image with DT_GNU_HASH only' gnu.so
has 'hash: gnu' 'says so' # E03
has 'class: ELF32' 'a 32-bit image is read by any build'
has 'versions: LINUX_2.7' 'its version'
jump=$(nm gnu.so | awk '$3 == "at_jump" { sub(/^0*/, "", $1); print $1 }')
call=$(nm gnu.so | awk '$3 == "at_call" { sub(/^0*/, "", $1); print $1 }')
list=$(printf '0x%x\n0x%x\n' "0x$jump" "0x$call" | sort | paste -sd, | sed 's/,/, /')
is "$(sed -n 's/^indirect branches: \(.*\) (.*/\1/p' out)" "$list" \
	'an indirect jump and an indirect call, reached by a direct call and jump; dead code is not'
good 'an image with DT_HASH only' sysv.so
has 'hash: sysv' 'says so'
good 'an image with both' both.so
has 'hash: sysv, gnu' 'says so'
grep -Eq '^clock_gettime .* missing$' out
ok $? 'functions that it lacks are missing'

# E08: the right name under another version.
sed 's/\bf\b/__vdso_time/g' image64.s >version.s
sed 's/ f; h;/ __vdso_time;/' map >map2 && mv map2 map
build gnu version.so elf_x86_64 version.s
ok $? 'an image with another version is built'
good 'it is read' version.so
grep -Eq '^time +__vdso_time@LINUX_2.6 +present, version mismatch$' out
ok $? 'present, version mismatch'

# Relocations as readelf counts them, in a library that has some.
echo 'extern int there(void); void *table[] = {(void *)there, table}; int f(void) { return there(); }' >reloc.c
# shellcheck disable=SC2086 # a command with its arguments
run 'an image with relocations is built' $cc -shared -fPIC -nostdlib -o reloc.so reloc.c
good 'it is read' reloc.so
wanted=$(readelf -rW reloc.so | sed -n "s/^Relocation section '\.rela\.\(dyn\|plt\)'.* contains \([0-9]*\) ent.*/\2 \1/p" |
	sed 's/dyn/RELA/; s/plt/PLT/' | paste -sd, | sed 's/,/, /')
is "$(sed -n 's/^relocations: //p' out)" "$wanted" 'relocations by kind'

# Hostile text does not reach the terminal.
perl -0777 -pe 's/\0both\.so\0/\0\x1b[2J\n\xff\x07\0/g' both.so >hostile.so
good 'an image with control characters in its name' hostile.so
! LC_ALL=C grep -q "$(printf '[^\t -~]')" out
ok $? 'they are not printed'
has 'soname: ?[2J???' 'but shown as question marks'

# Bad input.
: >empty
head -c 63 both.so >short
head -c 300 both.so >torn
echo 'some text' >text
mkfifo pipe
head -c 17000000 /dev/zero >large
mkdir folder
bad 2 'missing: No such file or directory' 'a missing file' missing
bad 2 'folder: is a directory' 'a directory' folder
bad 1 'empty: empty file' 'an empty file' empty
bad 1 'short: a header or table lies outside the image' 'a file of 63 bytes' short
bad 1 'torn: a header or table lies outside the image' 'a file that was cut' torn
bad 1 'text: not an ELF file' 'a text' text
bad 1 'image.o: not a shared object' 'an object file' image.o
bad 2 'pipe: not a regular file' 'a named pipe, without waiting' pipe
bad 2 '/dev/zero: not a regular file' 'a device' /dev/zero
bad 2 'large: too large for a vDSO' 'a file of 17 MB' large
bad 2 "process 4194304: no such process" 'a PID that does not exist' --pid 4194304
for pid in 0 -1 99999999999 x '' 1.5 ' 1' 1e3; do
	bad 2 "--pid: $pid: not a number from 1 to 4194304" "--pid '$pid'" --pid "$pid"
done
bad 2 "--pid: needs an argument; see \`vclock vdso --help\`" '--pid without a number' --pid
bad 2 "--nonsense: unknown option; see \`vclock vdso --help\`" 'an unknown option' --nonsense
bad 2 'text: one image at a time' 'two files' both.so text
bad 2 'both.so: either a file or --pid' 'a file and a process' --pid 1 both.so
good 'help' --help
grep -q -- '--pid PID' out
ok $? 'names the options'
status=0
"$vclock" vdso both.so >/dev/full 2>err || status=$?
is "$status" 4 'a full disk under stdout is a failure'
tap_done
