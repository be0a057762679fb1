#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each public header compiles alone, in C99 -pedantic and in C++11, by gcc and clang, for x86_64 and
# i386 (there with 32- and 64-bit time_t). include/vclock needs nothing of a C library: it compiles
# with the compiler's own stdint and stddef and nothing else. A header that breaks either is refused.
# shellcheck source=tests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

warn="-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wcast-qual -Wcast-align -Wshadow -Wundef -Werror"
time64="-D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64"
i386="-march=i686"
clang_i386="--target=i686-linux-gnu -isystem /usr/i686-linux-gnu/include $i386"

# NAME | compiler and flags
c_compilers="
gcc x86_64|gcc
clang x86_64|clang
gcc i386|i686-linux-gnu-gcc $i386
gcc i386, 64-bit time|i686-linux-gnu-gcc $i386 $time64
clang i386|clang $clang_i386
clang i386, 64-bit time|clang $clang_i386 $time64
musl|musl-gcc
"
cxx_compilers="
g++ x86_64|g++
clang++ x86_64|clang++
g++ i386|i686-linux-gnu-g++ $i386
g++ i386, 64-bit time|i686-linux-gnu-g++ $i386 $time64
clang++ i386|clang++ $clang_i386
"

# compile COMMAND INCLUDE_DIR LANGUAGE HEADER...: each header, alone and twice, in a program that is
# empty otherwise.
compile() {
	local command=$1 include=$2 language=$3 header
	shift 3
	for header; do
		printf '#include "%s"\n#include "%s"\nint nothing(void);\nint nothing(void)\n{\n\treturn 0;\n}\n' \
			"$header" "$header" >"$tap_dir/alone.$language"
		# shellcheck disable=SC2086 # words of a command
		$command $warn "-I$include" -fsyntax-only "$tap_dir/alone.$language" || return 1
	done
}

# program COMMAND LANGUAGE: the example of README.md; what it asks for is the default in gnu99.
program() {
	local unasked=
	[[ $1 != *gnu99 ]] || unasked='/_POSIX_C_SOURCE/d'
	sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed "1d;\$d;$unasked" >"$tap_dir/program.$2"
	# shellcheck disable=SC2086
	$1 $warn -O2 "-I$root/include" -c -o /dev/null "$tap_dir/program.$2"
}

# manual PAGE FILE: the code of a page's EXAMPLES. What is no whole program is made one, with what its
# SYNOPSIS includes.
manual() {
	sed -n '/^\.Sh EXAMPLES/,/^\.Sh /{/^\.Bd /,/^\.Ed/{/^\./d;s/\\e/\\/g;p}}' "$1" >"$tap_dir/block"
	[ -s "$tap_dir/block" ] || return 1
	{
		if ! is_program "$1"; then
			printf '#include <%s>\n' stdio.h sys/auxv.h
			sed -n 's/^\.In \(.*\)/#include <\1>/p' "$1"
		fi
		if grep -q '^}$' "$tap_dir/block"; then
			cat "$tap_dir/block"
		else
			echo 'int example(void);'
			echo 'int example(void) {'
			cat "$tap_dir/block"
			echo 'return 0; }'
		fi
	} >"$2"
}

is_program() {
	grep -q '^int main(' "$1"
}

# manual_program COMMAND LANGUAGE PAGE
manual_program() {
	manual "$3" "$tap_dir/manual.$2" || return 1
	# shellcheck disable=SC2086
	$1 $warn -Wno-unused -O2 "-I$root/include" -c -o /dev/null "$tap_dir/manual.$2"
}

# freestanding COMMAND INCLUDE_DIR HEADER...
freestanding() {
	local command=$1 own
	shift
	# shellcheck disable=SC2086
	own=$($command -print-file-name=include)
	compile "$command -std=c99 -ffreestanding -nostdinc -isystem $own" "$1" c "${@:2}"
}

mapfile -t island < <(cd "$root/include" && find vclock -name '*.h' | LC_ALL=C sort)
# The page comes before an architecture's file, as counter.h says.
mapfile -t alone < <(printf '%s\n' "${island[@]}" | grep -v /arch/)
is "$((${#alone[@]} >= 6))" 1 'there are headers to compile'

while IFS='|' read -r name command; do
	[ -n "$name" ] || continue
	run "C99, $name" compile "$command -std=c99 -Wstrict-prototypes" "$root/include" c vclock.h \
		"${alone[@]}"
	# Only vclock.h includes what these change.
	for source in -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE; do
		run "C99 $source, $name" compile "$command -std=c99 $source -Wstrict-prototypes" \
			"$root/include" c vclock.h
	done
	run "C11, $name" compile "$command -std=c11" "$root/include" c vclock.h
	# As a user's program has them: optimised, and used.
	for language in c99 gnu99; do
		run "README.md's program, $language, $name" program "$command -std=$language" c
	done
done <<<"$c_compilers"
while IFS='|' read -r name command; do
	[ -n "$name" ] || continue
	run "C++11, $name" compile "$command -std=c++11" "$root/include" cc vclock.h "${alone[@]}"
	run "README.md's program, C++11, $name" program "$command -std=c++11" cc
done <<<"$cxx_compilers"
run 'C11 with GNU, gcc x86_64' compile 'gcc -std=gnu11' "$root/include" c vclock.h "${alone[@]}"
run 'README.md, C11, gcc' program 'gcc -std=c11' c
run 'README.md, C++20, g++' program 'g++ -std=c++20' cc
run 'C++20, g++' compile 'g++ -std=c++20' "$root/include" cc vclock.h "${alone[@]}"

# Whole programs in every language that the headers are for; the others have C11's initialisers.
programs=0 parts=0
for page in "$root"/man/*.3; do
	grep -q '^\.Sh EXAMPLES' "$page" || continue
	name=$(basename "$page")
	if is_program "$page"; then
		programs=$((programs + 1))
		while IFS='|' read -r compiler command; do
			[ -n "$compiler" ] || continue
			for language in c99 c11; do
				run "$name, $language, $compiler" manual_program "$command -std=$language" c "$page"
			done
		done <<<"$c_compilers"
		while IFS='|' read -r compiler command; do
			[ -n "$compiler" ] || continue
			run "$name, C++11, $compiler" manual_program "$command -std=c++11" cc "$page"
		done <<<"$cxx_compilers"
	else
		parts=$((parts + 1))
		for command in gcc clang; do
			run "$name, C11, $command" manual_program "$command -std=c11 -D_POSIX_C_SOURCE=200809L" c "$page"
		done
	fi
done
is "$((programs >= 1)) $((parts >= 4))" '1 1' 'there are examples in the manual'
sed '/_POSIX_C_SOURCE/d' "$root/man/vclock_gettime.3" >"$tap_dir/asks_not.3"
refuse 'an example that does not ask for what it uses is noticed' manual_program 'gcc -std=c99' c \
	"$tap_dir/asks_not.3"
sed 's/vclock_gettime(CLOCK_MONOTONIC, /vclock_gettime(/' "$root/man/vclock_gettime.3" >"$tap_dir/wrong.3"
refuse 'an example that is out of date is noticed' manual_program 'gcc -std=c11' c "$tap_dir/wrong.3"

run 'without a C library, gcc' freestanding gcc "$root/include" "${alone[@]}"
run 'without a C library, clang' freestanding clang "$root/include" "${alone[@]}"
run 'without a C library, gcc i386' freestanding i686-linux-gnu-gcc "$root/include" "${alone[@]}"

# What must be refused.
cp -r "$root/include" "$tap_dir/include"
echo '#include <string.h>' >>"$tap_dir/include/vclock/page.h"
refuse 'a libc header in the island is noticed' freestanding gcc "$tap_dir/include" "${alone[@]}"
cp "$root/include/vclock/page.h" "$tap_dir/include/vclock/page.h"
run '... and the same tree without it passes' freestanding gcc "$tap_dir/include" "${alone[@]}"
cat >>"$tap_dir/include/vclock/page.h" <<'X'
static inline unsigned char narrow(int x) { return x; }
X
refuse 'a silent narrowing is noticed' compile 'gcc -std=c99' "$tap_dir/include" c vclock/page.h
cp "$root/include/vclock/page.h" "$tap_dir/include/vclock/page.h"
cat >>"$tap_dir/include/vclock/page.h" <<'X'
static inline unsigned sign(int x) { return 1u + x; }
X
refuse 'a silent change of sign is noticed' compile 'gcc -std=c99' "$tap_dir/include" c vclock/page.h
cp "$root/include/vclock/page.h" "$tap_dir/include/vclock/page.h"
sed -i '/#include "compiler.h"/d' "$tap_dir/include/vclock/page.h"
refuse 'a header that leans on another is noticed' compile 'gcc -std=c99' "$tap_dir/include" c \
	vclock/page.h
cp "$root/include/vclock/page.h" "$tap_dir/include/vclock/page.h"
echo '_Static_assert(1, "one");' >>"$tap_dir/include/vclock/page.h"
refuse 'C11 in a public header is noticed' compile 'g++ -std=c++11' "$tap_dir/include" cc vclock/page.h
tap_done
