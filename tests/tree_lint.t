#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each part of the lint can fail: a small tree with one fault in it is refused, and the same tree
# without the fault is not.
# shellcheck source=tests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# A project of the same scripts, with one good file in each place.
tree=$tap_dir/tree
fresh() {
	rm -rf "$tree"
	mkdir -p "$tree"/{include/vclock,src/keeper,src/publish,src/cli,tests,man}
	cp -r "$root"/{Makefile,mk,scripts,.clang-format,.clang-tidy,.shellcheckrc} "$tree"
	echo '/* SPDX-License-Identifier: MIT */' | tee "$tree"/include/vclock.h \
		"$tree"/include/vclock/{page,publish}.h >"$tree/src/publish/writer.h"
	good_c '"vclock/page.h"' >"$tree/src/keeper/keep.c"
	echo 'int keep(int x);' >>"$tree/src/publish/writer.h"
	good_c '"writer.h"' >"$tree/src/publish/writer.c"
	printf '#!/bin/sh\n# SPDX-License-Identifier: MIT\necho "$1"\n' >"$tree/tests/good.sh"
	printf '.\\" SPDX-License-Identifier: MIT\n.Dd January 1, 2020\n.Dt GOOD 1\n.Os\n.Sh NAME\n.Nm good\n.Nd is good\n' \
		>"$tree/man/good.1"
}

# good_c INCLUDE
good_c() {
	printf '/* SPDX-License-Identifier: MIT */\n#include %s\n\n' "$1"
	printf 'int keep(int x);\nint keep(int x)\n{\n\treturn x;\n}\n'
}

# The two that are ours alone are called without make, which is slow.
lint() {
	case $1 in
	includes | tree) "$tree/scripts/lint-$1" ;;
	*) make -s -C "$tree" "lint-$1" CPPFLAGS= CFLAGS= CC=gcc ;;
	esac
}

# faulty PART WHAT: the tree with the fault is refused.
faulty() {
	refuse "$2" lint "$1"
	fresh
}

fresh
for part in format includes tree shell man cppcheck tidy; do
	run "$part: a good tree passes" lint "$part"
done

printf 'int  spaces ;\n' >>"$tree/src/keeper/keep.c"
faulty format 'format: two blanks'

good_c '"publish/writer.h"' >"$tree/src/keeper/keep.c"
faulty includes 'includes: keeper from publish, which is above it'
good_c '"vclock/publish.h"' >"$tree/src/keeper/keep.c"
faulty includes 'includes: keeper from a public header that it may not have'
good_c '<stdio.h>' >"$tree/src/keeper/keep.c"
faulty includes 'includes: stdio in the keeper'
printf '#include <string.h>\n' >>"$tree/include/vclock/page.h"
faulty includes 'includes: libc in the island'
printf '#include "../vclock.h"\n' >>"$tree/include/vclock/page.h"
faulty includes 'includes: the island from the API'
good_c '"keeper/gone.h"' >"$tree/src/publish/writer.c"
faulty includes 'includes: a header that is not there'
mkdir "$tree/src/new" && good_c '<stdint.h>' >"$tree/src/new/new.c"
faulty includes 'includes: a folder that the table does not know'

sed -i 1d "$tree/src/keeper/keep.c"
faulty tree 'tree: no SPDX line'
cp "$tree/src/keeper/keep.c" "$tree/src/cli/keep.c"
faulty tree 'tree: two files of one name'
{
	printf '/* SPDX-License-Identifier: MIT */\nvoid f(void)\n{\n'
	printf '\tf();\n%.0s' {1..61}
	printf '}\n'
} >"$tree/src/cli/long.c"
faulty tree 'tree: a function of 61 lines'
printf '#if defined(__x86_64__)\n#endif\n' >>"$tree/src/keeper/keep.c"
faulty tree 'tree: #if on an architecture'
printf 'extern double x;\n' >>"$tree/src/keeper/keep.c"
faulty tree 'tree: floating point in the keeper'
printf '/* TO''DO: later */\n' >>"$tree/src/keeper/keep.c"
faulty tree 'tree: an unfinished place'
printf '/* /ho''me/me/x */\n' >>"$tree/src/keeper/keep.c"
faulty tree 'tree: a path of one machine'
printf 'int x; \n' >>"$tree/src/keeper/keep.c"
faulty tree 'tree: blanks at the end of a line'

printf 'cd $1\n' >>"$tree/tests/good.sh"
faulty shell 'shell: an unquoted variable'
printf '.Sh NAME\n.Xx\n' >>"$tree/man/good.1"
faulty man 'man: an unknown macro'
printf 'int f(void);\nint f(void)\n{\n\tint a[3] = {0};\n\n\treturn a[4];\n}\n' \
	>>"$tree/src/keeper/keep.c"
faulty cppcheck 'cppcheck: behind the end of an array'
printf 'int f(int a);\nint f(int a)\n{\n\treturn a == 1 || a == 1;\n}\n' \
	>>"$tree/src/keeper/keep.c"
faulty tidy 'tidy: the same test twice'
tap_done
