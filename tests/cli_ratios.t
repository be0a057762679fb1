#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The ratios that the project states, between minima of one run. They gate where the kernel's
# clocksource is the counter and its vDSO works: best of some runs there, for other tenants of the
# machine disturb single ones. Elsewhere they are printed.
. "$(dirname "$(readlink -f "$0")")/tap.sh"

# Names of gating ratios that no run so far has held, out of the runs' outputs.
failing() {
	jq -rs '[.[].ratios[] | select(.gates)] | group_by(.name) | map(select(all(.holds | not))) |
		.[][0].name' "$@"
}

# Must fail: a run with a ratio over its bound, and one that does not hold although another does.
cat >"$tap_dir/bad.json" <<'JSON'
{"ratios": [{"name": "a", "gates": true, "holds": false}, {"name": "b", "gates": true, "holds": true},
	{"name": "c", "gates": false, "holds": false}]}
JSON
is "$(failing "$tap_dir/bad.json")" a 'a ratio over its bound is found'
echo '{"ratios": [{"name": "a", "gates": true, "holds": true}]}' >"$tap_dir/good.json"
is "$(failing "$tap_dir/bad.json" "$tap_dir/good.json")" '' 'one that another run holds is not'

for n in 1 2 3; do
	"$B/vclock" bench --json --trust-counter realtime monotonic raw boottime tai now getpid \
		>"$tap_dir/run$n.json"
	[ -n "$(failing "$tap_dir"/run*.json)" ] || break
done
jq -r '.ratios[] | "# \(.name): \(.value) (\(.relation) \(.bound)) \(if .holds then "holds" else "does not hold" end)"' \
	"$tap_dir/run$n.json"
is "$(jq -r '.machine.counter_is_clocksource and .machine.vdso_answers_monotonic' "$tap_dir/run1.json")" \
	"$(jq -r '[.ratios[].gates] | unique | .[]' "$tap_dir/run1.json")" \
	'they gate where the counter is the clocksource and the vDSO answers, and only there'
# A sanitizer's checks are not what is measured.
if [ -z "${CELL_SAN:-}" ]; then
	[ "$(jq '.ratios | length' "$tap_dir/run1.json")" -ge 15 ]
	ok $? 'all ratios of this architecture are there'
	is "$(jq -r '.ratios[] | select(.name == "getpid inline / syscall") | .holds' "$tap_dir/run1.json")" \
		true 'getpid holds anywhere'
	is "$(failing "$tap_dir"/run*.json)" '' 'every gating ratio holds in one run at least'
fi
tap_done
