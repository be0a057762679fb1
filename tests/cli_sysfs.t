#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What info says of other machines' clocksources: the trust that follows, whether the clocks are
# slow, the cure and when it is safe. Fixtures of sysfs, cases N07, N08, M04, M05, M18 and Q02.
. "$(dirname "$(readlink -f "$0")")/tap.sh"
files=$tap_dir/sys/devices/system/clocksource/clocksource0

fixture() { # CURRENT AVAILABLE
	rm -rf "$tap_dir/sys"
	mkdir -p "$files"
	printf '%s\n' "$1" >"$files/current_clocksource"
	printf '%s \n' "$2" >"$files/available_clocksource"
}
info() {
	"$B/vclock" info --sysfs "$tap_dir/sys" "$@" >"$tap_dir/out" 2>"$tap_dir/err"
}
says() {
	grep -qF -- "$1" "$tap_dir/out"
	ok $? "... says: $1" || sed 's/^/# /' "$tap_dir/out"
}
says_not() {
	! grep -qF -- "$1" "$tap_dir/out"
	ok $? "... does not say: $1"
}
# CURRENT AVAILABLE TRUST SLOW. What it says in words stands in the same output.
judged() {
	fixture "$1" "$2"
	info --json
	is "$? $(jq -r '"\(.counter.trust) \(.clocksource.slow) \(.clocksource.current)"' "$tap_dir/out")" \
		"0 $3 $4 $1" "$1 out of ($2): trust $3, slow: $4"
}

judged tsc 'tsc kvm-clock acpi_pm' full false
says 'gains little'
says '"cure": null'
info
[ "$(grep -cE '^(Counter|Clocksource|Verdict)  *[^ ]' "$tap_dir/out")" -eq 3 ]
ok $? '... in words too'
says_not 'Cure'
judged xen 'xen tsc hpet acpi_pm' watched true
says 'no vDSO path: every read is a system call'
says 'echo tsc >'
says 'Safe when the host does not emulate the counter'
says 'gains much'
judged hpet 'tsc hpet acpi_pm' watched true
says 'echo tsc >'
says 'Safe when nobody chose hpet'
judged hpet 'hpet acpi_pm' never true
says 'The kernel does not list the counter'
says_not 'echo tsc >'
says 'vclock cannot help there'
judged acpi_pm 'acpi_pm' never true
says 'Do not force it back with tsc=reliable'
judged acpi_pm 'tsc acpi_pm' watched true
says 'echo tsc >'
judged kvm-clock 'kvm-clock tsc acpi_pm' prove false
says 'this machine is not moved to hosts with another counter rate'
judged kvm-clock kvm-clock never false
says 'gains nothing'
says 'The present clocksource is the right one then.'
judged hyperv_clocksource_tsc_page 'hyperv_clocksource_tsc_page hyperv_clocksource_msr acpi_pm' never false
judged hyperv_clocksource_tsc_page 'hyperv_clocksource_tsc_page tsc' prove false
judged hyperv_clocksource_msr 'hyperv_clocksource_msr acpi_pm' never true
judged jiffies 'jiffies' never true
says 'steps of a tick'
judged refined-jiffies 'tsc refined-jiffies' never true
judged tsc-early 'tsc-early hpet' wait false
says 'still measuring'
judged marvel 'marvel tsc' never false
says 'a clocksource that vclock does not know'
# A name inside another is not the name.
judged hpet 'hpet not-tsc tscx' never true

# Unreadable is not "tsc".
fixture tsc tsc
rm "$files/current_clocksource"
info
ok $? 'a missing current_clocksource is no failure'
says 'not trusted: the kernel'
says 'cannot be read'
fixture tsc tsc
rm "$files/available_clocksource"
info --json
is "$(jq -r .counter.trust "$tap_dir/out")" never 'a missing available_clocksource: never'
fixture tsc tsc
rm "$files/current_clocksource"
mkdir "$files/current_clocksource"
info --json
is "$(jq -r .counter.trust "$tap_dir/out")" never 'a folder in its place: never'
rm -rf "$tap_dir/sys"
mkdir "$tap_dir/sys"
info --json
is "$(jq -r .counter.trust "$tap_dir/out")" never 'an empty sysfs: never'
fixture "$(printf 'ts\033[31mc')" "$(head -c 5000 /dev/zero | tr '\0' x)"
info
! grep -q "$(printf '\033')" "$tap_dir/out"
ok $? 'control characters do not reach the terminal'

# Q02: the system calls of each function, also of such a machine.
fixture hpet hpet
info --json
is "$(jq -r '.calls[] | select(.function == "vclock_gettime") | .calls' "$tap_dir/out")" \
	clock_gettime 'the system calls of vclock_gettime are listed'
is "$(jq '[.calls[].function] | length > 8' "$tap_dir/out")" true '... and of the others'

# M05: the frequency is measured; a fixture has nothing to read it from.
is "$(jq '.counter.hz > 1000000 or (.counter.readable | not)' "$tap_dir/out")" true \
	'the frequency is measured'

refuse 'a missing folder is refused' "$B/vclock" info --sysfs "$tap_dir/none"
is "$("$B/vclock" info --sysfs "$tap_dir/none" 2>&1)" \
	"vclock: info: --sysfs: $tap_dir/none: No such file or directory" '... with a reason'
tap_done
