#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# readme.t: the example of README.md compiles and runs as printed, and the commands it names exist.
. "$(dirname "$(readlink -f "$0")")/tap.sh"

cd "$tap_dir" || exit 1
sed -n '/^```c$/,/^```$/p' "$root/README.md" | sed '1d;$d' >example.c
ok "$([ "$(wc -l <example.c)" -ge 20 ]; echo $?)" "README.md has an example"
read -ra cc <<<"${CELL_CC:-gcc}"
read -ra flags <<<"${CELL_LDFLAGS:-}"
run "it compiles with warnings as errors" "${cc[@]}" -std=gnu11 -Wall -Wextra -Werror \
	-I"$root/include" example.c "$B/libvclock.a" "${flags[@]}" -pthread -o example
run "it runs" ./example
cp said example.out
run "it says the time" grep -qE '^[0-9]+\.[0-9]{9} wall, [0-9]+\.[0-9]{9} monotonic$' example.out
run "a stamp converts" grep -qE '^stamped [0-9]+ ns before$' example.out
for script in try test; do
	run "scripts/$script is there" test -x "$root/scripts/$script"
done
for command in info bench verify page vdso; do
	run "vclock $command is there" "$B/vclock" "$command" --help
done
tap_done
