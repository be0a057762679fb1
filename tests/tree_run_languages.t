#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# Interpreters and runtimes under vclock run read the page: with the kernel's vDSO hidden and the
# system call forbidden to them, only the page can answer.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
vclock=$B/vclock
cd "$tap_dir" || exit 1

# The programs read N times after a pause, in which strace comes: nobody else may trace the start.
export N=100000
pause=1.2

# calls OPTION... -- PROGRAM...: how many of its reads were system calls; "untraced" when strace failed
calls() {
	rm -f counts
	"$vclock" run --trust-counter --without-kernel-vdso "$@" >out 2>err &
	local pid=$!
	sleep 0.3
	strace -f -p "$pid" -c -e trace=clock_gettime,gettimeofday,time -o counts 2>strace.err
	grep -q attached strace.err || echo -n untraced
	wait "$pid"
	awk '$NF ~ /clock_gettime|gettimeofday|^time$/ { n += $4 } END { print n + 0 }' counts
}

# reads WHAT PROGRAM...
reads() {
	local what=$1 made
	shift
	if ! command -v "$1" >/dev/null; then
		ok 1 "$what: $1 is not installed"
		return
	fi
	made=$(calls -- "$@")
	is "$(cat out)" "$N" "$what runs to its end" || sed 's/^/# /' err
	[ "$made" -lt $((N / 20)) ]
	ok $? "$what: $made of $N reads were system calls"
}

reads Python python3 -c '
import time
time.sleep('$pause')
n = 0
for i in range('$N'):
    n += time.time_ns() > 0
print(n)'
reads Perl perl -MTime::HiRes=time,sleep -e '
	sleep '$pause'; my $n = 0; for (1 .. $ENV{N}) { $n += time() > 0 } print "$n\n"'
reads Node node -e '
setTimeout(() => { let n = 0; for (let i = 0; i < +process.env.N; i++) n += process.hrtime.bigint() > 0n;
	console.log(n); }, 1200)'
cat >Clock.java <<'EOF'
public class Clock {
	public static void main(String[] a) throws Exception {
		int n = 0;
		int count = Integer.parseInt(System.getenv("N"));
		Thread.sleep(1200);
		for (int i = 0; i < count; i++)
			n += System.nanoTime() != 0 ? 1 : 0;
		System.out.println(n);
	}
}
EOF
reads Java java Clock.java
mkdir -p go
cat >go/clock.go <<'EOF'
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

func main() {
	n := 0
	count, _ := strconv.Atoi(os.Getenv("N"))
	time.Sleep(1200 * time.Millisecond)
	for i := 0; i < count; i++ {
		if time.Now().UnixNano() > 0 {
			n++
		}
	}
	fmt.Println(n)
}
EOF
export GOCACHE=$tap_dir/cache GO111MODULE=off
if command -v go >/dev/null && CGO_ENABLED=0 go build -o clock-go go/clock.go; then
	reads Go ./clock-go
else
	ok 1 'Go: not installed, or does not build'
fi

# The same count sees them where there is no page.
N=2000
made=$(calls --without-image -- perl -MTime::HiRes=time,sleep -e '
	sleep '$pause'; my $n = 0; for (1 .. $ENV{N}) { $n += time() > 0 } print "$n\n"')
[ "$made" -ge 2000 ]
ok $? "without the image all are: $made of $N"
tap_done
