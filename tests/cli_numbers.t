#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# One parser for all numbers: what it takes, what it refuses, and one clear message.
. "$(dirname "$(readlink -f "$0")")/tap.sh"

# refused WHAT MESSAGE ARGUMENT...: exit status 2 and the message.
refused() {
	local what=$1 message=$2 status=0
	shift 2
	"$B/vclock" "$@" >"$tap_dir/out" 2>"$tap_dir/err" || status=$?
	is "$status $(cat "$tap_dir/err" "$tap_dir/out")" "2 vclock: $message" "$what"
}

for text in '' x 0 -1 +1 ' 1' '1 ' 1x 1.5 1e3 010 0x 1025 18446744073709551616 99999999999999999999999; do
	refused "--threads '$text'" "bench: --threads: $text: not a number from 1 to 1024" \
		bench --threads "$text"
done
refused '--rounds 1000001' 'bench: --rounds: 1000001: not a number from 1 to 1000000' \
	bench --rounds 1000001
refused '--pid 0' 'info: --pid: 0: not a number from 1 to 2147483647' info --pid 0
refused '--pid 2^31' 'info: --pid: 2147483648: not a number from 1 to 2147483647' \
	info --pid 2147483648
for text in ' 1' +1 01; do
	refused "clock '$text'" "bench: $text: not a clock; see \`vclock bench --help\`" \
		bench "$text"
done
refused '--threads alone' "bench: --threads: needs an argument; see \`vclock bench --help\`" \
	bench --threads
is "$("$B/vclock" bench --rounds 0x2 --json getpid | jq .rounds)" 2 '--rounds 0x2 is two'
tap_done
