#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# A profiler under vclock run: perf names the image's functions, which it finds in the file on disk,
# and unwinds from them to the program's. Cases D06, D08.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
cd "$tap_dir" || exit 1
cat >spin.c <<'EOF2'
#include <stdio.h>
#include <time.h>
__attribute__((noinline)) long read_clock(void)
{
	struct timespec start, now;
	long sum = 0, i;

	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		for (i = 0; i < 1000; i++) {
			clock_gettime(CLOCK_MONOTONIC, &now);
			sum += now.tv_nsec;
		}
	} while (now.tv_sec < start.tv_sec + 60);
	return sum;
}
int main(void)
{
	long sum = read_clock();

	printf("%ld\n", sum);
	return 0;
}
EOF2
run 'a program is built' gcc -O2 -g -o spin spin.c

if ! perf record -e cpu-clock -o try true >/dev/null 2>&1; then
	skip 'a profile' 'perf may not record here'
	tap_done
fi
# CPU time by the kernel's own timer: a virtual machine has no other counter for it. perf is pointed
# at a program that runs: one that it starts, and that executes another, it does not unwind each time,
# with vclock or without.
"$B/vclock" run --trust-counter --require --verbose ./spin >out 2>err &
program=$!
for _ in $(seq 1 100); do
	grep -q 'has the image' err && break
	sleep 0.1
done
run 'a program under vclock run is profiled' perf record -F 250 -e cpu-clock --call-graph dwarf -o data \
	-p "$program" -- sleep 2
kill "$program" 2>/dev/null
wait "$program" 2>/dev/null
timeout 60 perf script -i data --no-inline -F ip,sym,dso 2>/dev/null >frames
# A sample is a paragraph, a line for each frame: address, symbol, (object); the innermost first.
# Those that were taken in the image: how many, how many of them without a name, how many unwind to
# the program's two functions.
awk 'BEGIN { RS = ""; FS = "\n" }
	$1 ~ /vdso-x86_64\.so\)/ {
		count++
		unnamed += $1 ~ /\[unknown\]/
		unwound += /read_clock .*\/spin\).*main .*\/spin\)/
		calls += $1 ~ /__vdso_clock_gettime/
	}
	END { printf "%d %d %d %d\n", count, unnamed, unwound, calls }' frames >counts
read -r count unnamed unwound calls <counts
diag "$count samples in the image, $unnamed without a name, $unwound unwound, $calls in __vdso_clock_gettime"
[ "$count" -ge 30 ] && [ $((2 * calls)) -ge "$count" ]
ok $? 'samples were taken in the image, most of them in its clock_gettime'
is "$unnamed" 0 'D08: each has a name'
[ $((100 * unwound)) -ge $((95 * count)) ]
ok $? 'D06: from them it unwinds to the program'"'"'s functions'
tap_done
