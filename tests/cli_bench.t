#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# bench: its rows, its forms of output, and that it cannot be fooled. Figures are not judged here:
# see cli_ratios.t.
. "$(dirname "$(readlink -f "$0")")/tap.sh"

# Rows come out complete in few rounds; only their figures would be poor.
bench() {
	status=0
	"$B/vclock" bench --rounds 4 "$@" >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
}
get() {
	jq -r "$1" "$tap_dir/out"
}
list() {
	get '.rows[] | "\(.what) \(.how)"' >"$tap_dir/rows"
}
has() { # WHAT HOW
	is "$(grep -cx "$1 $2" "$tap_dir/rows")" 1 "row: $1 $2"
}

bench --json
is "$status $(wc -c <"$tap_dir/err")" '0 0' 'everything by --json: exit status 0, nothing on stderr'
is "$(get '.command, .rounds, .threads' | tr '\n' ' ')" 'bench 4 1 ' 'it says what it did'
list
for row in 'loop empty' 'counter unordered' 'counter ordered' 'getpid syscall' 'getpid so' \
	'getpid inline' 'getpid libc' 'getpid optimised-away' 'raise libc' 'now libc' 'now vdso' 'now so' \
	'gettimeofday libc' 'gettimeofday vdso' 'gettimeofday vdso-null' 'gettimeofday syscall' \
	'gettimeofday so' 'time libc' 'time vdso' 'time syscall' 'time so' 'getcpu libc' 'getcpu vdso' \
	'getcpu syscall' 'getcpu so' 'realtime vdso-gettimeofday'; do
	# shellcheck disable=SC2086 # words
	has $row
done
for clock in realtime monotonic monotonic_raw boottime tai; do
	for way in libc vdso syscall so so-own so-ns; do
		has "$clock" "$way"
	done
done
for clock in realtime_coarse monotonic_coarse process_cputime_id thread_cputime_id; do
	for way in libc vdso syscall so; do
		has "$clock" "$way"
	done
done
is "$(get '[.rows[] | select(.rounds + .negative != 4)] | length')" 0 'every row has all its rounds'
is "$(get '[.rows[] | select(.ns.min > .ns.median or .ns.median > .ns.p99)] | length')" 0 \
	'minimum <= median <= p99'
is "$(get '[.rows[] | select(.how == "syscall" and .ns.min < 20)] | length')" 0 \
	'a system call is none that costs nothing'
is "$(get '.library')" "$B/libvclock.so.0" 'the shared library beside the tool is the one measured'

# The loop that fools people is labelled, and nothing else is. A sanitizer's checks keep it.
if [ -z "${CELL_SAN:-}" ]; then
	is "$(get '[.rows[] | select(.optimised_away) | "\(.what) \(.how)"] | join(", ")')" \
		'getpid optimised-away' 'what was optimised away is labelled'
fi
# X03: what a clock says of its resolution and what it does are two figures.
is "$(get '[.clocks[] | select(.clock == "MONOTONIC") | .resolution_ns, .step_ns] | map(. > 0) | all')" \
	true 'clock_getres and the smallest step stand side by side'
is "$(get '[.clocks[].clock] | index("REALTIME+MONOTONIC", "getpid") != null')" \
	$'true\ntrue' 'before and after has a line for each'
is "$(get '[.ratios[] | has("value") and has("bound") and has("holds") and has("gates")] | all')" true \
	'ratios come with bound and verdict'

# Only what is asked for.
bench --json CLOCK_TAI 1 raw getpid
is "$(get '[.rows[].what] | unique | join(" ")')" 'counter getpid loop monotonic monotonic_raw tai' \
	'clocks by name, number and nickname'

# A page of a publisher of its own.
bench --json --trust-counter monotonic realtime now
is "$(get .page.in_use)" true 'with --trust-counter there is a page'
list
for row in 'monotonic inline' 'monotonic inline-ns' 'monotonic inline-unordered' 'realtime inline' \
	'now inline' 'monotonic so-vdso' 'monotonic image' 'monotonic image-own' 'monotonic image-switch' \
	'realtime image' 'realtime image-own'; do
	# shellcheck disable=SC2086 # words
	has $row
done
is "$(get '[.ratios[] | select(.name == "image / vDSO") | .value > 0.2 and .value < 5] | tojson')" '[true]' \
	'the image is held against the kernel'"'"'s vDSO'
bench --json --trust-counter tai raw monotonic_coarse time gettimeofday getcpu
list
for row in 'tai image' 'tai image-own' 'monotonic_raw image' 'monotonic_raw image-switch' \
	'monotonic_coarse image' 'time image' 'gettimeofday image' 'getcpu image'; do
	# shellcheck disable=SC2086 # words
	has $row
done
is "$(grep -c 'monotonic_raw image-own\|coarse image-' "$tap_dir/rows")" 0 'no row of an entry that is not there'
# A copy without images beside it.
mkdir -p "$tap_dir/alone"
cp "$B/vclock" "$B/vclock-tools" "$tap_dir/alone/"
"$tap_dir/alone/vclock" bench --rounds 2 --json time >"$tap_dir/out"
is "$? $(get '[.rows[].how] | index("vdso") != null')" '0 true' 'away from its images it measures the rest'
bench --json monotonic
trust=$("$B/vclock" info --json | jq -r .counter.trust)
if [ "$trust" = never ]; then
	is "$(get '.page.in_use, (.page.message | test("--trust-counter"))' | tr '\n' ' ')" 'false true ' \
		'without trust there is none, and it says how to see one'
elif [ "$trust" = full ]; then
	is "$(get .page.in_use)" true 'with trust there is one without asking'
fi

bench --format=go monotonic getpid
is "$status" 0 '--format=go'
is "$(grep -cvE '^(goos|goarch|pkg): |^Benchmark[A-Z][A-Za-z]*/[a-z0-9-]+	[0-9]+	-?[0-9.]+ ns/op$' "$tap_dir/out")" \
	0 '... nothing but what benchstat reads'
is "$(grep -c '^BenchmarkMonotonic/libc' "$tap_dir/out")" 4 '... a value for each part of the rounds'
[ -n "${CELL_SAN:-}" ] || {
	! grep -q optimised-away "$tap_dir/out"
	ok $? '... without the loop that was optimised away'
}
bench --threads 2 --format=go monotonic
is "$status $(grep -c '^BenchmarkMonotonic/libc-2	' "$tap_dir/out")" '0 8' '--threads 2: both count'

bench monotonic realtime_coarse getpid
is "$status" 0 'text'
for words in 'Before and after' 'OPTIMISED AWAY' 'Ratios of minima' 'LIBC NOW' 'P99'; do
	[ -n "${CELL_SAN:-}" ] && [ "$words" = 'OPTIMISED AWAY' ] && continue
	grep -q "$words" "$tap_dir/out"
	ok $? "... has: $words"
done

# Progress on a terminal only.
script -qec "stty cols 200; '$B/vclock' bench --rounds 20 getpid >'$tap_dir/out'" /dev/null >"$tap_dir/err" </dev/null
grep -q 'round 10 of 20' "$tap_dir/err"
ok $? 'progress on a terminal'
! grep -q 'round 10' "$tap_dir/out"
ok $? '... on stderr'

# The picture.
bench --plot "$tap_dir/x.svg" getpid
is "$status $(head -c 5 "$tap_dir/x.svg") $(grep -c 'getpid syscall' "$tap_dir/x.svg")" '0 <?xml 1' '--plot'
status=0
PATH=/nonexistent "$B/vclock" bench --plot "$tap_dir/y.svg" getpid >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
is "$status $(cat "$tap_dir/err")" '3 vclock: --plot: gnuplot: not installed' '... without gnuplot'
[ ! -e "$tap_dir/y.svg" ] && [ ! -s "$tap_dir/out" ]
ok $? '... says so before anything is measured'
bench --plot "$tap_dir/none/x.svg" getpid
is "$status $(cat "$tap_dir/err")" \
	"2 vclock: bench: --plot: $tap_dir/none/x.svg: No such file or directory" '... into no folder'

bench --plot /dev/full getpid
is "$status $(cat "$tap_dir/err")" '4 vclock: bench: --plot: /dev/full: No space left on device' '... into a full disk'
mkfifo "$tap_dir/fifo"
# Its reader opens it together with the command, and has gone when the measuring is over.
: <"$tap_dir/fifo" &
bench --plot "$tap_dir/fifo" getpid
is "$status $(cat "$tap_dir/err")" "4 vclock: bench: --plot: $tap_dir/fifo: Broken pipe" '... into a pipe that nobody reads'
# A gnuplot that fails without a word, one that does no more than half of it, and a size limit.
mkdir "$tap_dir/bin"
gnuplot_that() { # COMMAND
	printf '#!/bin/sh\n[ "$1" = --version ] && exit\n%s\n' "$1" >"$tap_dir/bin/gnuplot"
	chmod +x "$tap_dir/bin/gnuplot"
	PATH=$tap_dir/bin:$PATH bench --plot "$tap_dir/x.svg" getpid
}
gnuplot_that 'exit 1'
is "$status $(cat "$tap_dir/err")" '4 vclock: --plot: gnuplot: failed' '... by a gnuplot that fails'
gnuplot_that 'cat >/dev/null; echo "<svg>"'
is "$status $(cat "$tap_dir/err")" '4 vclock: --plot: gnuplot: its picture is not whole' '... by one that stops half way'
gnuplot_that 'cat >/dev/null; ulimit -f unlimited; seq 2000; echo "</svg>"'
is "$status $(head -n 1 "$tap_dir/x.svg") $(tail -n 1 "$tap_dir/x.svg")" '0 1 </svg>' '... by a good one: all of it'
status=0
(
	ulimit -S -f 1
	"$B/vclock" bench --rounds 2 --plot "$tap_dir/x.svg" getpid >/dev/null 2>"$tap_dir/err"
) || status=$?
is "$status $(cat "$tap_dir/err")" '4 vclock: --plot: gnuplot: its picture is not whole' '... with a size limit'

# Wrong input.
bench sundial
is "$status $(cat "$tap_dir/err")" \
	"2 vclock: bench: sundial: not a clock; see \`vclock bench --help\`" 'an unknown clock'
bench --format=xml
is "$status $(cat "$tap_dir/err")" '2 vclock: bench: --format: xml: not a format; there is go' \
	'an unknown format'
bench --json --format=go
is "$status $(cat "$tap_dir/err")" '2 vclock: bench: --json and --format: one of them' 'two formats'
tap_done
