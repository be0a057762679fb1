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

# Output that cannot be written.
for arguments in --version --help 'info' 'bench --rounds 1 getpid'; do
	status=0
	# shellcheck disable=SC2086 # words
	"$vclock" $arguments >/dev/full 2>"$tap_dir/err" || status=$?
	is "$status" 4 "$arguments into a full disk: exit status 4"
	is "$(cat "$tap_dir/err")" 'vclock: stdout: No space left on device' '... and says so once'
done
status=0
"$vclock" --version >&- 2>"$tap_dir/err" || status=$?
is "$status" 4 'a closed stdout: exit status 4'
is "$(grep -c '^vclock: stdout: ' "$tap_dir/err")" 1 '... and says so'
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
tap_done
