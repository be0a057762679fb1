#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The images' link rule refuses what an image may not be: each image here is linked wrong on purpose
# in one way, and the rule names that way and leaves no file behind.
# shellcheck source-path=SCRIPTDIR
. "$(dirname "$0")/tap.sh"

images=$root/build/images
cd "$tap_dir" || exit 1
script=$images/obj/x86_64.lds
map=$root/src/image/arch/image_x86_64.map
# As mk/image.mk links.
flags=(-shared -nostdlib "-Wl,--no-undefined" "-Wl,--build-id=sha1" "-Wl,-z,noexecstack" "-Wl,-S"
	"-Wl,-z,max-page-size=4096" "-Wl,--no-warn-rwx-segments")
soname=-Wl,-soname,linux-vdso.so.1
hash=-Wl,--hash-style=both
frames=-Wl,--eh-frame-hdr

# linked NAME [OBJECT...]: with $script, $map, $soname, $hash, $frames
linked() {
	local name=$1
	shift
	gcc "${flags[@]}" "$soname" "$hash" ${frames:+"$frames"} "-Wl,-T,$script" \
		"-Wl,--version-script,$map" -o "$name.linked" "$images/obj/x86_64.o" "$@" \
		>link.said 2>&1
}

# object NAME [c|assembler [FLAG]]: from stdin
object() {
	gcc -x "${2:-c}" -O2 -fPIC -ffreestanding -fcf-protection=none ${3:+"$3"} -c -o "$1.o" - || exit 1
}

# refused RULE WHAT NAME [OBJECT...]
refused() {
	local rule=$1 what=$2 name=$3
	shift 3
	if ! linked "$name" "$@"; then
		ok 1 "$what: cannot even be linked"
		sed 's/^/# /' link.said
		return
	fi
	echo old >"$name.so"
	if "$images/link_rule" "$name.linked" "$name.so" >said 2>&1; then
		ok 1 "$what: refused"
	elif [ -e "$name.so" ]; then
		ok 1 "$what: leaves no file"
	elif ! grep -q ": $rule: " said; then
		ok 1 "$what: refused by the rule \"$rule\""
	else
		ok 0 "$what: refused by the rule \"$rule\""
		return
	fi
	sed 's/^/# /' said
}

with() { # with VARIABLE VALUE COMMAND...
	local -n variable=$1
	local old=$variable
	variable=$2
	shift 2
	"$@"
	variable=$old
}

edited() { # edited SED-EXPRESSION: the linker script, changed
	sed -E "$1" "$images/obj/x86_64.lds" >edited.lds
	cmp -s edited.lds "$images/obj/x86_64.lds" && echo "# $1 changes nothing" >&2
	echo "$tap_dir/edited.lds"
}

loose='s/ASSERT\(SIZEOF.*$//; s/^ *\.refused : /.data : /'

linked good
run "the image as it is passes" "$images/link_rule" good.linked good.so
run "and is written" test -s good.so

echo 'int x = 1; int *get(void); int *get(void) { return &x; }' | object data c -fvisibility=hidden
refuse "data does not pass the linker script" linked x data.o
with script "$(edited "$loose")" refused data "a variable" data data.o
echo 'static int x; int *get(void); int *get(void) { return &x; }' | object bss c -fvisibility=hidden
with script "$(edited "$loose")" refused data "a variable that is 0" bss bss.o
echo 'extern int clock_gettime(void); void *get(void); void *get(void) { return clock_gettime; }' |
	object got
with script "$(edited "$loose")" refused data "a GOT" got got.o
printf '.section .rodata\n.quad __vdso_clock_gettime\n' | object rel assembler
with script "$(edited "$loose; s/\*\(\.rodata/& .rodata/")" refused relocations "a relocation" \
	rel rel.o -Wl,-z,notext

with script "$(edited 's/FLAGS\(5\)/FLAGS(7)/')" refused segments "a writable PT_LOAD" writable
echo 'const int table[] = {1, 2, 3};' | object rodata c -fvisibility=hidden
with script "$(edited 's/dynamic PT_DYNAMIC/second PT_LOAD FLAGS(4); &/; s/(\.rodata\.\*.*) :text/\1 :second/
	')" refused segments "a second PT_LOAD" two rodata.o
with script "$(edited 's/\. = SIZEOF_HEADERS/. = 0x10000 + SIZEOF_HEADERS/')" refused segments \
	"a PT_LOAD that is not at 0" high
with script "$(edited 's/(dynamic PT_DYNAMIC FLAGS)\(4\)/\1(6)/')" refused headers \
	"a writable PT_DYNAMIC" dynamic
with script "$(edited 's/note PT_NOTE/interp PT_INTERP FLAGS(4); &/; s/:text :dynamic/& :interp/')" \
	refused headers "a PT_INTERP" interp
with script "$(edited 's/note PT_NOTE/tls PT_TLS FLAGS(4); &/; s/:text :dynamic/& :tls/')" \
	refused headers "a PT_TLS" tls

with hash -Wl,--hash-style=gnu refused hashes "no DT_HASH" gnu
with hash -Wl,--hash-style=sysv refused hashes "no DT_GNU_HASH" sysv
with soname -Wl,-soname,libother.so refused versions "another soname" soname
echo '{ global: clock_gettime; __vdso_*; gettimeofday; time; clock_getres; getcpu; getrandom;
	local: *; };' >plain.map
with map plain.map refused versions "no versions" plain
echo 'int more(void); int more(void) { return 1; }' | object more
sed 's/local:/more; &/' "$map" >more.map
with map more.map refused exports "one export more" more more.o
sed '/__vdso_clock_gettime_tai/d' "$map" >less.map
with map less.map refused exports "one export less" less
sed 's/LINUX_2.6/LINUX_2.7/' "$map" >other.map
with map other.map refused exports "another version" other

echo 'int call(int (*f)(int)); int call(int (*f)(int)) { return f(1) + 1; }' | object call
refused branches "a call through a pointer" call call.o
printf '.text\njump: .cfi_startproc\njmp *%%rax\n.cfi_endproc\n' | object jump assembler
refused branches "a jump through a register" jump jump.o
printf '.text\njump: .cfi_startproc\njmp *image_time_unit(%%rip)\n.cfi_endproc\n' |
	object page assembler
refused branches "a jump through the time page" page page.o
printf '.text\njump: .cfi_startproc\njmp *image_process_unit+20(%%rip)\n.cfi_endproc\n' |
	object odd assembler
refused branches "a jump through half a slot" odd odd.o
echo 'int f(int); int f(int x) { switch (x) { case 0: return 5; case 1: return 9; case 2: return 2;
	case 3: return 77; case 4: return f(x + 1) * 3; case 5: return f(x * 2) + x; case 6: return 8;
	default: return f(x - 1) / 5; } }' | object table c -fjump-tables
refused branches "a jump table" table table.o

with frames "" with script "$(edited '/eh_frame_hdr/ { /PT_/d; /:/d }')" refused unwind \
	"no table for unwinders" nohdr
echo 'int f(int); int f(int x) { return x + 1; }' | object bare c -fno-asynchronous-unwind-tables
refused unwind "a function without unwind information" bare bare.o
printf '.text\n.type f, @function\nf: .cfi_startproc\n.cfi_escape 0x3f\nret\n.cfi_endproc\n.size f, .-f\n' |
	object strange assembler
refused unwind "an unknown instruction for unwinders" strange strange.o

# The linker itself makes no PT_GNU_RELRO here: the third program header's type.
cp good.linked relro.linked
printf '\122\345\164\144' | dd of=relro.linked bs=1 seek=$((64 + 2 * 56)) conv=notrunc status=none
refuse "a PT_GNU_RELRO is refused" "$images/link_rule" relro.linked relro.so
cp said by; run "by its rule" grep -q ': headers: has a PT_GNU_RELRO' by

printf 'int main;' >text
refuse "no ELF file is refused" "$images/link_rule" text text.so
refuse "a missing file is refused" "$images/link_rule" missing missing.so
tap_done
