#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vclock run --follow where the n-th step of what it does fails, for every n: the program runs right,
# in a place that looks as without; --verbose says why it does not follow, and with --require the
# program does not run.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
vclock=$B/vclock
cd "$tap_dir" || exit 1
images=$(readlink -f "$root/build/images")
loader=$(readlink -f /lib64/ld-linux-x86-64.so.2)
frun() { # ARGUMENT...: status, out, err
	status=0
	timeout 60 "$vclock" run --trust-counter --images "$images" "$@" >out 2>err </dev/null || status=$?
}
# What a program finds: the loader, the folder of the images, its mounts, its descriptors.
cat >look <<'EOF'
md5sum <"$1"
ls "$2"
awk '{ print $5, $6 }' /proc/self/mountinfo | sort
ls /proc/self/fd | wc -l
exit 7
EOF
look() { # OPTION...
	frun "$@" sh ./look "$loader" "$images"
}
sh ./look "$loader" "$images" >plain </dev/null
mounts=$(cat /proc/self/mountinfo)

look --follow --verbose
if grep -q 'does not follow' err; then
	skip 'all' 'no user namespaces for this user or on this kernel'
	tap_done
fi
is "$status $(grep -c 'follows dynamic programs' err)" '7 1' 'it follows'
! cmp -s out plain
ok $? '... which a program can see'

# The first step that is not one of these is of the launch itself.
steps=0 wrong=
for step in $(seq 1 60); do
	look --follow --verbose --fail-step "$step"
	grep -q 'does not follow' err || break
	steps=$step
	[ "$status" -eq 7 ] && cmp -s out plain && [ "$(grep -c 'does not follow: ..*' err)" -eq 1 ] &&
		grep -q 'has the image and a page of its own' err || wrong="$wrong $step:$status:$(cat err)"
done
diag "$steps steps"
is "$((steps >= 25 && steps < 60)) $wrong" '1 ' \
	'the n-th step fails: the program has the image, sees what it sees without, and it is told why'
[ "$status" -eq 7 ] && grep -q 'follows dynamic programs' err && grep -q "runs with the kernel's vDSO" err
ok $? '... and then come the steps of the launch'
wrong=
for step in $(seq 1 "$steps"); do
	look --follow --require --fail-step "$step"
	[ "$status" -eq 126 ] && [ ! -s out ] && grep -q 'does not run: ..*' err || wrong="$wrong $step:$status:$(cat err)"
done
is "$wrong" '' 'the n-th step fails: with --require the program does not run, and it is told why'
# Of the launch, tests/run_launcher.t judges what is told; its last step is told of nothing.
wrong=
for step in $(seq $((steps + 1)) $((steps + 20))); do
	look --follow --verbose --fail-step "$step"
	[ "$status" -eq 7 ] && [ "$(wc -l <out)" -ge 4 ] && grep -q 'follows dynamic programs' err ||
		wrong="$wrong $step:$status:$(cat err)"
done
is "$wrong" '' 'a step of the launch fails: the program runs right, and follows'
is "$(cat /proc/self/mountinfo)" "$mounts" 'nothing is mounted outside'
tap_done
