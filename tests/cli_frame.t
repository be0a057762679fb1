#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The frame of the command: help, version, wrong usage, exit codes, and output that cannot be written.
. "$(dirname "$(readlink -f "$0")")/tap.sh"
vclock=$B/vclock

# check STATUS WHAT ARGUMENT...: the exit status; stdout and stderr are kept.
check() {
	local wanted=$1 what=$2 status=0
	shift 2
	"$vclock" "$@" >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
	is "$status" "$wanted" "$what: exit status $wanted"
}
# One line on stderr that begins with "vclock: " and has the text in it; nothing on stdout.
complains() {
	[ "$(wc -l <"$tap_dir/err")" -eq 1 ] && grep -q '^vclock: ' "$tap_dir/err" &&
		grep -qF -- "$1" "$tap_dir/err" && [ ! -s "$tap_dir/out" ]
	ok $? "... and one line about it: $1" || sed 's/^/# /' "$tap_dir/err"
}

check 0 --version --version
is "$(grep -cE '^vclock [0-9]+\.[0-9]+\.[0-9]+$' "$tap_dir/out")" 1 'the version is one line'
check 0 --help --help
cp "$tap_dir/out" "$tap_dir/help"
check 0 help help
run 'both helps are the same' cmp "$tap_dir/out" "$tap_dir/help"
[ ! -s "$tap_dir/err" ]
ok $? 'help goes to stdout'

commands=$(sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p' "$tap_dir/help")
is "$(grep -cE '^(info|bench)$' <<<"$commands")" 2 'info and bench are listed'
for command in $commands; do
	check 0 "$command --help" "$command" --help
	cp "$tap_dir/out" "$tap_dir/one"
	grep -q '^Usage: vclock' "$tap_dir/one"
	ok $? "... $command: begins with its usage"
	[ "$command" = help ] && continue
	grep -q '^  --help ' "$tap_dir/one"
	ok $? "... $command: lists --help"
	check 0 "help $command" help "$command"
	run "... help $command is the same" cmp "$tap_dir/out" "$tap_dir/one"
	wrong_usage=2
	[ "$command" = run ] && wrong_usage=125 # 2 is for the program's own status
	check "$wrong_usage" "$command with an unknown option" "$command" --no-such-option
	complains '--no-such-option: unknown option'
	check "$wrong_usage" "$command with an unknown letter" "$command" -Z
	complains '-Z: unknown option'
	check "$wrong_usage" "$command --help=x" "$command" --help=x
	complains '--help: takes no argument'
done

check 2 'no command'
grep -q '^Usage: vclock' "$tap_dir/err" && [ ! -s "$tap_dir/out" ]
ok $? '... the usage goes to stderr'
check 2 'an unknown command' foo
complains 'unknown command: foo'
check 2 'help of an unknown command' help foo
complains 'unknown command: foo'
check 2 'an unknown option' --foo
complains '--foo: unknown option'
check 2 'an empty command' ''
complains 'unknown command: '
check 2 'two commands to help' help info bench
complains 'bench: one command at a time'
check 2 'an operand to info' info something
complains 'something: takes no operand'

# Output that cannot be written, in one piece or in many: exit status 4, and the true reason once.
cannot_write() { # ARGUMENT...
	status=0
	"$vclock" "$@" >/dev/full 2>"$tap_dir/err" || status=$?
	is "$status $(cat "$tap_dir/err")" '4 vclock: stdout: No space left on device' "$* into a full disk"
	status=0
	"$vclock" "$@" >&- 2>"$tap_dir/err" || status=$?
	is "$status $(cat "$tap_dir/err")" '4 vclock: stdout: Bad file descriptor' '... into a closed stdout'
}
cannot_write --version
cannot_write --help
for command in $commands; do
	cannot_write "$command" --help
	cannot_write help "$command"
done
cannot_write info
cannot_write info --json
cannot_write info --pid $$
cannot_write info --pid $$ --json
cannot_write bench --rounds 1 getpid
cannot_write bench --rounds 1 getpid --json
cannot_write bench --rounds 1 getpid --format=go
cannot_write verify --seconds 1 errors
cannot_write verify --seconds 1 errors --json
cannot_write page --watch "$tap_dir/none"
image=$root/build/images/vdso-x86_64.so
cannot_write vdso "$image"
cannot_write vdso --json "$image"
cannot_write vdso --check "$image"
cannot_write vdso --check --json "$image"
status=0
"$vclock" info --sysfs "$tap_dir" >&- 2>/dev/null <&- || status=$?
is "$status" 4 'all closed: exit status 4'
# The reader has gone before the first write.
status=$( (trap '' PIPE
	sleep 0.2
	"$vclock" info --sysfs "$tap_dir" 2>"$tap_dir/err"
	echo $? >"$tap_dir/status") | : ; cat "$tap_dir/status")
is "$status" 4 'a pipe that nobody reads, SIGPIPE ignored: exit status 4'
[ ! -s "$tap_dir/err" ]
ok $? '... without a word'

for argument in --version --help; do
	status=0
	"$B/vclockd" $argument >/dev/full 2>"$tap_dir/err" || status=$?
	is "$status $(cat "$tap_dir/err")" '4 vclockd: stdout: No space left on device' "vclockd $argument into a full disk"
	status=0
	"$B/vclockd" $argument >&- 2>"$tap_dir/err" || status=$?
	is "$status $(cat "$tap_dir/err")" '4 vclockd: stdout: Bad file descriptor' '... into a closed stdout'
done

# A message is one line, whatever is in the name that it is about.
odd=$'a\nb\033[31m\177\302\205\377\200\303'
shown='a\nb\x1b[31m\x7f\xc2\x85\xff\x80\xc3'
one_line() { # WANTED COMMAND...: in all that it says
	local wanted=$1
	shift
	"$@" >"$tap_dir/out" 2>"$tap_dir/err"
	[ "$(wc -l <"$tap_dir/err")" -eq 1 ] && grep -qF -- "$wanted" "$tap_dir/err" &&
		! grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|[\x80-\xff]' "$tap_dir/out" "$tap_dir/err"
	ok $? "one line, of printable characters: $(printf '%q ' "${@:2:2}")" || sed 's/^/# /' "$tap_dir/err"
}
cp "$root/LICENSE" "$tap_dir/$odd"
export LC_ALL=C
one_line "unknown command: $shown" "$vclock" "$odd"
one_line "$shown: unknown option" "$vclock" "-$odd"
for command in $commands; do
	one_line "-$shown" "$vclock" "$command" "--$odd"
done
one_line "$shown: unknown suite" "$vclock" verify "$odd"
one_line "$shown: not a clock" "$vclock" bench "$odd"
one_line "$shown: not a number" "$vclock" bench --rounds "$odd"
one_line "/none/$shown: No such file" "$vclock" bench --plot "/none/$odd" getpid
one_line "$shown: No such file" "$vclock" page "$odd"
one_line "$tap_dir/$shown: not a page" "$vclock" page "$tap_dir/$odd"
one_line "$tap_dir/$shown: not a page" env VCLOCK_PAGE="$tap_dir/$odd" "$vclock" page
one_line "$tap_dir/$shown: not a page" env VCLOCK_PAGE="$tap_dir/$odd" "$vclock" info
one_line "$shown: No such file" "$vclock" info --sysfs "$odd"
one_line "$shown: No such file" "$vclock" vdso "$odd"
one_line "$tap_dir/$shown: not an ELF file" "$vclock" vdso "$tap_dir/$odd"
one_line "$shown: No such file" "$vclock" run "$odd"
cp "$(type -P true)" "$tap_dir/program-$odd"
one_line "program-$shown: " "$vclock" run --verbose --trust-counter "$tap_dir/program-$odd"
one_line "program-$shown: runs with the kernel's vDSO: " "$vclock" run --verbose --images /none --trust-counter \
	"$tap_dir/program-$odd"
daemon=$B/vclockd
one_line "$shown: unknown option" "$daemon" "--$odd"
one_line "$shown: unexpected argument" "$daemon" "$odd"
one_line "$shown: not a number" "$daemon" --interval "$odd"
one_line "/none/$shown" "$daemon" --foreground --trust-counter --page "/none/$odd"

# What a long name does not cost is the reason.
long=$(printf '%5000s' '' | tr ' ' a)
one_line "aaa: File name too long" "$vclock" page "$long"
one_line "aaa: File name too long" "$daemon" --foreground --trust-counter --page "/tmp/$long"

# JSON is UTF-8 whatever the name. Control characters are JSON's own to escape.
json() { # WANTED FILTER COMMAND...
	local wanted=$1 filter=$2
	shift 2
	"$@" >"$tap_dir/out" 2>"$tap_dir/err"
	iconv -f UTF-8 -t UTF-8 "$tap_dir/out" >"$tap_dir/utf8" || : >"$tap_dir/utf8"
	is "$(jq -r "$filter" "$tap_dir/utf8")" "$wanted" "--json is valid: $(printf '%q ' "${@:1:3}")"
}
json_shown=$(printf 'a\nb\033[31m\177\302\205')'\xff\x80\xc3'
json "$tap_dir/$json_shown" .path "$vclock" page --json "$tap_dir/$odd"
json "$tap_dir/$json_shown" .path env VCLOCK_PAGE="$tap_dir/$odd" "$vclock" page --json
json "$tap_dir/$json_shown" .page.file env VCLOCK_PAGE="$tap_dir/$odd" "$vclock" info --json
json "$tap_dir/$json_shown" .image "$vclock" vdso --check --json "$tap_dir/$odd"
cp "$image" "$tap_dir/image-$odd"
json "$tap_dir/image-$json_shown" .image "$vclock" vdso --json "$tap_dir/image-$odd"

# A page that is kept, in a place of such a name. The text forms have other characters than ASCII.
place=$tap_dir/$odd-page
"$daemon" --foreground --page "$place" --trust-counter --priority 0 2>/dev/null &
keeper=$!
for _ in $(seq 1 100); do
	"$vclock" page --check "$place" >/dev/null 2>&1 && break
	sleep 0.1
done
export VCLOCK_PAGE=$place
json "$tap_dir/$json_shown-page" .page.path "$vclock" info --json
json "$tap_dir/$json_shown-page" .page.path "$vclock" verify --json --seconds 1 getres
json "Page: $tap_dir/$json_shown-page, of process $keeper." .page.message "$vclock" bench --json --rounds 1 getpid
json "$tap_dir/$json_shown-page" .path "$vclock" page --json
for arguments in info page 'verify --seconds 1 getres' 'bench --rounds 1 getpid'; do
	# shellcheck disable=SC2086 # words
	"$vclock" $arguments >"$tap_dir/out"
	grep -qaF "$shown-page" "$tap_dir/out" && ! grep -qaP '[\x00-\x09\x0b-\x1f\x7f]|[\x80-\xff]' "$tap_dir/out"
	ok $? "a name as it is shown: $arguments"
done
kill "$keeper"
wait "$keeper" 2>/dev/null
tap_done
