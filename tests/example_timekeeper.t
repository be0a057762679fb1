#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The example of a timekeeper of one's own: guests see a clock at half speed that never goes back.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"

said=$("$B/examples/timekeeper")
ok $? 'the example says that all is well'
printf '%s\n' "$said" | sed 's/^/# /'
speed=$(sed -n 's/.*speed //p' <<<"$said")
case $speed in
0.49* | 0.50*) ok 0 'its guest saw half of the time pass' ;;
*) ok 1 "its guest saw half of the time pass, not $speed" ;;
esac
grep -q '^guest: REALTIME 22090320' <<<"$said"
ok $? 'from noon of 2040-01-01'
included=$(sed -n 's/^#include <\(vclock.*\)>$/\1/p' "$root/examples/timekeeper.c" | xargs)
is "$included" 'vclock/publish.h vclock/read.h' 'it uses two headers of vclock'
tap_done
