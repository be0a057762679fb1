#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench with a timer that goes back (case M21), and with a counter that is forbidden: figures for
# what is left, a line about it, and an exit status that shows it. Nothing aborts.
. "$(dirname "$(readlink -f "$0")")/tap.sh"

# The counter is taken away once the loader is done, which leaves CLOCK_MONOTONIC_RAW by syscall();
# that one goes back where BACK is set.
cat >"$tap_dir/deny.c" <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>

static long long back;

__attribute__((constructor)) static void deny(void)
{
	prctl(PR_SET_TSC, PR_TSC_SIGSEGV, 0, 0, 0);
}

long syscall(long nr, ...)
{
	static long (*next)(long, ...);
	__builtin_va_list ap;
	long a[6], r;
	int i;

	if (next == 0)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	__builtin_va_start(ap, nr);
	for (i = 0; i < 6; i++)
		a[i] = __builtin_va_arg(ap, long);
	__builtin_va_end(ap);
	r = next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
	if (getenv("BACK") != 0 && nr == SYS_clock_gettime && a[0] == CLOCK_MONOTONIC_RAW && ++back % 7 == 0)
		((struct timespec *)a[1])->tv_sec -= 5;
	return r;
}
C
# A sanitizer must be the first library of a program, and would not be.
if [ -n "${CELL_SAN:-}" ]; then
	run 'the tool is there' test -x "$B/vclock"
	tap_done
fi
run 'the preload builds' "${CELL_CC:-cc}" -shared -fPIC -o "$tap_dir/deny.so" "$tap_dir/deny.c" -ldl
bench() {
	status=0
	LD_PRELOAD=$tap_dir/deny.so "$@" >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
}

bench "$B/vclock" bench --rounds 50 --json monotonic getpid
is "$status $(wc -c <"$tap_dir/err")" '0 0' 'a forbidden counter: exit status 0'
is "$(jq -r .timer "$tap_dir/out")" CLOCK_MONOTONIC_RAW '... timed with another clock'
is "$(jq '[.rows[] | select(.what == "counter" or .how == "vdso" or has("cycles"))] | length' "$tap_dir/out")" \
	0 '... nothing that would read the counter is run'
is "$(jq '[.rows[] | select(.how == "so")] | length' "$tap_dir/out")" 2 '... the library is measured all the same'
bench "$B/vclock" info --json
is "$status $(jq -r '.probe' "$tap_dir/out")" '0 counter forbidden' '... and info says so'

bench env BACK=1 "$B/vclock" bench --rounds 50 --json monotonic getpid
is "$status" 1 'a timer that goes back: exit status 1'
grep -qE '^vclock: bench: CLOCK_MONOTONIC_RAW: went back in [0-9]+ batches, which were left out$' "$tap_dir/err"
ok $? '... and one line about it'
negative=$(jq '[.rows[].negative] | add' "$tap_dir/out")
[ "$negative" -gt 0 ] && grep -q " $negative batches" "$tap_dir/err"
ok $? '... with their number'
is "$(jq '[.rows[] | select(.rounds + .negative != 50)] | length' "$tap_dir/out")" 0 '... all rounds are accounted for'
tap_done
