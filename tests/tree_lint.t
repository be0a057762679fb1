#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Each part of the lint can fail: a small tree with faults in it is refused, for each of them, and the
# same tree without a fault is not.
# shellcheck source=tests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"

# A project of the same scripts, with one good file in each place.
tree=$tap_dir/tree
fresh() {
	rm -rf "$tree"
	mkdir -p "$tree"/{include/vclock,src/keeper,src/publish,src/cli,tests,man}
	mkdir "$tree/scripts"
	cp -r "$root"/{Makefile,mk,.clang-format,.clang-tidy,.shellcheckrc} "$tree"
	cp "$root"/scripts/{lint-includes,lint-tree,lint-tree.allow,tree-files} "$tree/scripts"
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

# Our own two tell each breach: a tree with many is looked at once.
# breaches PART: what it says of the tree.
breaches() {
	refuse "$1: a tree with faults" lint "$1"
	cp "$tap_dir/said" "$tap_dir/breaches"
	fresh
}
# breach WHAT FILE REASON: was among them.
breach() {
	grep -Eq "^(\./)?$2:[0-9]+:.*$3" "$tap_dir/breaches"
	ok $? "$1" || sed 's/^/# /' "$tap_dir/breaches"
}

fresh
for part in format includes tree shell man cppcheck tidy; do
	run "$part: a good tree passes" lint "$part"
done

printf 'int  spaces ;\n' >>"$tree/src/keeper/keep.c"
faulty format 'format: two blanks'

good_c '"publish/writer.h"' >"$tree/src/keeper/above.c"
good_c '"vclock/publish.h"' >"$tree/src/keeper/public.c"
good_c '<stdio.h>' >"$tree/src/keeper/print.c"
printf '#include <string.h>\n' >>"$tree/include/vclock/page.h"
printf '#include "../vclock.h"\n' >>"$tree/include/vclock/publish.h"
good_c '"keeper/gone.h"' >"$tree/src/publish/gone.c"
mkdir "$tree/src/new" && good_c '<stdint.h>' >"$tree/src/new/new.c"
breaches includes
breach 'includes: keeper from publish, which is above it' src/keeper/above.c 'may not include src/publish'
breach 'includes: keeper from a public header that it may not have' src/keeper/public.c \
	'may not include include/vclock/publish.h'
breach 'includes: stdio in the keeper' src/keeper/print.c 'may not include <stdio.h>'
breach 'includes: libc in the island' include/vclock/page.h 'may not include <string.h>'
breach 'includes: the island from the API' include/vclock/publish.h 'may not include include/vclock.h'
breach 'includes: a header that is not there' src/publish/gone.c 'is not there'
breach 'includes: a folder that the table does not know' src/new/new.c 'has no line in the table'

sed -i 1d "$tree/src/keeper/keep.c"
cp "$tree/src/publish/writer.c" "$tree/src/cli/writer.c"
{
	printf '/* SPDX-License-Identifier: MIT */\nvoid f(void)\n{\n'
	printf '\tf();\n%.0s' {1..61}
	printf '}\n'
} >"$tree/src/cli/long.c"
printf '#if defined(__x86_64__)\n#endif\n' >>"$tree/src/keeper/keep.c"
printf 'extern double x;\n' >>"$tree/src/keeper/keep.c"
printf '/* TO''DO: later */\n' >>"$tree/src/cli/writer.c"
printf '/* /ho''me/me/x */\n' >>"$tree/src/publish/writer.c"
printf 'int x; \n' >>"$tree/src/publish/writer.h"
printf '#include <stdio.h>\nvoid g(void);\nvoid g(void)\n{\n\tputs("");\n}\n' >>"$tree/src/cli/long.c"
breaches tree
breach 'tree: no SPDX line' src/keeper/keep.c 'no SPDX line'
breach 'tree: two files of one name' src/publish/writer.c 'the same file name as src/cli/writer.c'
breach 'tree: a function of 61 lines' src/cli/long.c 'a function of 61 lines'
breach 'tree: #if on an architecture' src/keeper/keep.c '#if on architecture'
breach 'tree: floating point in the keeper' src/keeper/keep.c 'no floating point'
breach 'tree: a command that prints past output.c' src/cli/long.c 'only output.c prints'
breach 'tree: an unfinished place' src/cli/writer.c 'an unfinished place'
breach 'tree: a path of one machine' src/publish/writer.c 'a path of one machine'
breach 'tree: blanks at the end of a line' src/publish/writer.h 'blanks at the end'

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
