#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vclock run, as typed: the program runs as it would without, and has the image and a page. Each
# step of the injection fails once, and once kills the helper: the program still runs right.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
vclock=$B/vclock
cd "$tap_dir" || exit 1

cat >probe.c <<'EOF'
/* What the program sees: is the image there, does it read the page, and is all else as ever. */
#define _GNU_SOURCE
#include <elf.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static unsigned long saved_ehdr(void)
{
	unsigned long words[256] = {0};
	int fd = open("/proc/self/auxv", O_RDONLY), i;
	ssize_t n = read(fd, words, sizeof(words));

	close(fd);
	for (i = 0; i < n / 8; i += 2)
		if (words[i] == AT_SYSINFO_EHDR)
			return words[i + 1];
	return 0;
}

static int is_ours(unsigned long ehdr)
{
	const char *image = (const char *)ehdr;

	return ehdr != 0 && memmem(image, 4096, "__vdso_clock_gettime_tai", 24) != NULL;
}

/* Reads the clock until the image has made up its mind: the page is there after some 100 ms. */
static unsigned state(unsigned long ehdr)
{
	const volatile uint32_t *word = (const uint32_t *)(ehdr - 4096);
	struct timespec ts;
	int i;

	for (i = 0; i < 3000 && *word == 0; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		usleep(1000);
	}
	return *word;
}

static unsigned outside(void)
{
	struct timespec a, b, c;
	unsigned count = 0, i;

	for (i = 0; i < 20000; i++) {
		syscall(SYS_clock_gettime, CLOCK_REALTIME, &a);
		clock_gettime(CLOCK_REALTIME, &b);
		syscall(SYS_clock_gettime, CLOCK_REALTIME, &c);
#define NS(t) ((t).tv_sec * 1000000000ll + (t).tv_nsec)
		count += NS(b) < NS(a) - 1000 || NS(b) > NS(c) + 1000;
	}
	return count;
}

int main(int argc, char **argv)
{
	unsigned long ehdr = getauxval(AT_SYSINFO_EHDR);
	int fds = 0, i;

	for (i = 0; i < 1024; i++)
		fds += fcntl(i, F_GETFD) >= 0;
	if (argc > 1 && strcmp(argv[1], "short") == 0) {
		printf("%s %d fds, saved %s\n", is_ours(ehdr) ? "image" : "kernel", fds,
		       saved_ehdr() == ehdr ? "same" : "differs");
	} else {
		printf("%s, state %u, saved %s, %d fds, %u outside, secure %lu\n",
		       is_ours(ehdr) ? "image" : "kernel", is_ours(ehdr) ? state(ehdr) : 9,
		       saved_ehdr() == ehdr ? "same" : "differs", fds, outside(),
		       getauxval(AT_SECURE));
	}
	return 7;
}
EOF
gcc -O1 -o probe probe.c && gcc -O1 -static -o probe-static probe.c &&
	gcc -O1 -static-pie -o probe-static-pie probe.c && musl-gcc -O1 -static -o probe-musl probe.c &&
	musl-gcc -O1 -o probe-musl-dynamic probe.c || exit 1
fds=$(exec ./probe short | sed 's/kernel \([0-9]*\) fds.*/\1/')

vrun() { # ARGUMENT...: status, out, err
	status=0
	timeout 60 "$vclock" run --trust-counter "$@" >out 2>err </dev/null || status=$?
}

# The kinds of program.
for program in probe probe-static probe-static-pie probe-musl probe-musl-dynamic; do
	vrun --verbose "./$program"
	is "$status: $(cat out)" "7: image, state 1, saved same, $fds fds, 0 outside, secure 0" "$program"
	is "$(cat err)" "vclock: run: ./$program: has the image and a page of its own" \
		"$program: says so"
done
vrun --without-kernel-vdso ./probe
is "$status: $(cat out)" "7: image, state 1, saved same, $fds fds, 0 outside, secure 0" \
	'with the kernel vDSO hidden'
vrun --without-kernel-vdso --without-image ./probe short
is "$status: $(cut -d' ' -f1 out)" '7: kernel' 'without any vDSO'

# The same process, with the same everything.
vrun sh -c 'exit 3'
is "$status" 3 'the exit status is the program'"'"'s'
vrun sh -c 'kill -TERM $$'
is "$status" 143 'so is the signal that ends it'
pids=$(sh -c 'echo $$ $PPID; exec "$0" run --trust-counter sh -c "echo \$\$ \$PPID"' "$vclock" | sort -u | wc -l)
is "$pids" 1 'the same process, and the same parent'
cat >mask.pl <<'EOF'
open(my $f, "<", "/proc/self/status"); print grep { /^(Sig[BICP]|Shd|Tracer|Seccomp:|NoNew)/ } <$f>;
print join(" ", map { "$_=$ENV{$_}" } sort grep { $_ ne "_" } keys %ENV), "\n", getpgrp(), "\n", join(" ", map { readlink("/proc/self/fd/$_") } 0, 2);
EOF
perl -e 'use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGUSR1, SIGRTMIN)); $SIG{HUP} = "IGNORE";
	exec "perl", "mask.pl"' >plain </dev/null 2>/dev/null
perl -e 'use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGUSR1, SIGRTMIN)); $SIG{HUP} = "IGNORE";
	exec @ARGV, "perl", "mask.pl"' "$vclock" run --trust-counter >ours </dev/null 2>/dev/null
run 'the same signal mask, dispositions, environment and group; nobody traces it' \
	diff plain ours
is "$(echo some text | "$vclock" run --trust-counter cat)" 'some text' 'stdin and stdout'
started=$(date +%s)
"$vclock" run --trust-counter true | cat
[ $(($(date +%s) - started)) -lt 5 ]
ok $? 'a pipe ends when the program does'
"$vclock" run --trust-counter sh -c 'echo x >&9' 9>nine
is "$(cat nine)" x 'descriptors that the caller passes on'
"$vclock" run --trust-counter sh -c '[ -e /proc/self/fd/0 ]' <&-
is $? 1 'a closed stdin stays closed'

# What cannot be run.
vrun ./missing
is "$status: $(cat err)" '127: vclock: run: ./missing: No such file or directory' 'not found'
vrun missing-program
is "$status" 127 'not found in the path'
vrun ./probe.c
is "$status" 126 'not executable'
vrun .
is "$status" 126 'a folder'
# As env(1) has it, for what there is in $PATH and what a name may be.
printf '#!/bin/sh\necho script "$0"\n' >named
printf 'echo bare "$0"\n' >unnamed
printf '#!/nonexistent/interpreter\n' >badly
chmod +x named unnamed badly
ln -s loop-b loop-a
ln -s loop-a loop-b
mkdir folder
long=$(head -c 300 /dev/zero | tr '\0' x)
said() { # PATH COMMAND...: status and output, but for what differs in the words for an error
	local path=$1 status=0
	shift
	# A traced program whose execve failed cannot look for leaks.
	ASAN_OPTIONS=detect_leaks=0 PATH=$path "$@" >out 2>err </dev/null || status=$?
	echo "$status: $(cat out) $([ -s err ] && echo said)"
}
env=$(command -v env) wrong='' count=0
compare() { # PATH NAME...
	local path=$1 name
	for name in "${@:2}"; do
		count=$((count + 1))
		[ "$(said "$path" "$env" -- "$name")" = "$(said "$path" "$vclock" run --trust-counter -- "$name")" ] ||
			wrong="$wrong [$path] $name"
	done
}
compare /bin:/usr/bin missing true '' "$long" ./named ./loop-a ./probe/x ./folder ./badly "./$long" missing/x named/
for path in :/bin /bin:: '' loop-a:/bin probe:/bin probe folder:.; do
	compare "$path" named loop-a missing
done
compare .: unnamed badly folder probe.c
is "$count $wrong" '37 ' 'the same program and status as of env'
vrun
is "$status: $(cat err)" '125: vclock: run: no program; see `vclock run --help`' 'no program'
vrun --unknown
is "$status" 125 'wrong usage'
vrun --require --images /nonexistent ./probe short
is "$status: $(cat out)" '126: ' 'no images, --require'
vrun --images /nonexistent ./probe short
is "$status: $(cat out)" "7: kernel $fds fds, saved same" 'no images'

# Files that are no image, or not a whole one, are given to nobody.
damaged="vclock: run: ./probe: runs with the kernel's vDSO: the image is damaged, or none of vclock's"
mkdir broken
for file in cut longer noise other zeroes; do
	cp "$root"/build/images/*.so "$root"/build/images/*.bin broken/
	case $file in
	cut) head -c 4096 "$root/build/images/vdso-x86_64.so" ;;
	longer) cat "$root/build/images/vdso-x86_64.so" - <<<more ;;
	noise) head -c 12000 /dev/urandom ;;
	other) cat "$root/build/images/vdso-i386.so" ;;
	zeroes) head -c 12000 /dev/zero ;;
	esac >broken/vdso-x86_64.so
	vrun --verbose --images broken ./probe short
	is "$status: $(cat out) $(cat err)" "7: kernel $fds fds, saved same $damaged" "an image: $file"
	vrun --require --images broken ./probe short
	is "$status: $(cat out)" '126: ' "an image: $file, --require"
done

# What the environment says to the library.
for route in vdso syscall; do
	export VCLOCK_ROUTE=$route
	vrun --verbose ./probe short
	is "$status: $(cut -d' ' -f1 out) $(cat err)" \
		"7: kernel vclock: run: ./probe: runs with the kernel's vDSO: VCLOCK_ROUTE limits the routes" \
		"VCLOCK_ROUTE=$route"
	vrun --require ./probe short
	is "$status: $(cat out)" '126: ' "VCLOCK_ROUTE=$route, --require"
done
VCLOCK_ROUTE=page vrun ./probe short
is "$status: $(cut -d' ' -f1 out)" '7: image' 'VCLOCK_ROUTE=page'
unset VCLOCK_ROUTE
(ulimit -f 0 && "$vclock" run --trust-counter --verbose true 2>&1) | cat >limited
is "$(cat limited)" \
	"vclock: run: true: runs with the kernel's vDSO: the file size limit does not allow a page" \
	'a limit on the size of files'

wrong=''
# Some again: how many are open when the helper starts is a matter of chance.
for count in $(seq 8 12) $(seq 8 12) $(seq 8 12) $(seq 4 16); do
	(ulimit -n "$count" && "$vclock" run --trust-counter --verbose ./probe-static short 2>&1) |
		cat >limited # until the helper has said its part too
	grep -Eqx "image .*|vclock: run: ./probe-static: runs with the kernel's vDSO: no descriptor" limited ||
		wrong="$wrong $count:$(cat limited)"
	[ "$(grep -c '^vclock: run: ./probe-static: ..' limited)" -eq 1 ] || wrong="$wrong $count: silent"
done
grep -q '^image' limited || wrong="$wrong none"
is "$wrong" '' 'a limit on the number of descriptors'

# Scripts, with and without an interpreter's name.
printf '#!/bin/sh\necho script "$1"\n' >script
printf 'echo bare "$1"\n' >bare
chmod +x script bare
vrun ./script a
is "$status: $(cat out)" '0: script a' 'a script'
vrun ./bare b
is "$status: $(cat out)" '0: bare b' 'a script without a first line'

# Stacks of all sizes.
many=$(seq -f 'V%.0f=x' 1 9000)
# shellcheck disable=SC2086
is "$(env $many "$vclock" run --trust-counter ./probe short)" "image $fds fds, saved same" '9000 variables'
is "$(env -i "$vclock" run --trust-counter ./probe short)" "image $fds fds, saved same" 'no variable'
# shellcheck disable=SC2046
is "$("$vclock" run --trust-counter ./probe short $(seq 1 2000))" "image $fds fds, saved same" '2000 arguments'
is "$("$vclock" run --trust-counter ./probe short "$(head -c 100000 /dev/zero | tr '\0' x)")" \
	"image $fds fds, saved same" 'an argument of 100 KB'
is "$(setarch -R "$vclock" run --trust-counter ./probe short)" "image $fds fds, saved same" \
	'addresses that are not random'

# Each step fails once: 1 to 11 are the launcher's, helper's and stub's, 12 tells debuggers of the
# image, 13 and 14 start the stub, 15 lets go. The program has no descriptor of ours then; only one that
# was let go by the helper's end, or could not be stopped in time, has.
steps=15
says() { # TEXT: the helper may say it after the program has ended
	local i
	for i in $(seq 40); do
		grep -q "$1" err && return 0
		sleep 0.05
	done
	diag "no \"$1\" in try $i: $(cat err)"
	return 1
}
good() { # STEP KIND...: the program ran, on one of these
	local step=$1 kinds=$2
	case "$status: $(cat out)" in
	"7: kernel $fds fds, saved same") [[ $kinds == *kernel* ]] ;;
	"7: kernel "*" fds, saved same") [[ $kinds == *passed* ]] ;;
	"7: image $fds fds, saved same") [[ $kinds == *image* ]] ;;
	"7: image $fds fds, saved differs") [[ $kinds == *unseen* ]] ;;
	"126: ") [[ $kinds == *refused* ]] ;;
	"137: ") [[ $kinds == *killed* ]] ;;
	*) false ;;
	esac || wrong="$wrong $step:$status:$(cat out)"
}
wrong=''
for step in $(seq 1 $steps); do
	vrun --verbose --fail-step "$step" ./probe-static short
	case $step in
	12) good "$step" unseen ;;
	15) good "$step" image ;;
	*) good "$step" kernel && says "runs with the kernel's vDSO: " || wrong="$wrong $step" ;;
	esac
done
is "$wrong" '' 'the n-th step fails, and the program runs right'
vrun --verbose --fail-step $((steps + 1)) ./probe-static short
good $((steps + 1)) image && says 'page of its own'
ok $? "there are no more than $steps steps"
wrong=''
for step in 1 2 3 5 7 8 10 11 13 14; do
	vrun --require --fail-step "$step" ./probe-static short
	good "$step" refused
done
is "$wrong" '' 'the n-th step fails, and with --require the program does not run'
wrong=''
for step in $(seq 1 $steps); do
	vrun --require --die-step "$step" ./probe-static short
	case $step in
	1 | 2) good "$step" refused ;;
	*) good "$step" killed ;;
	esac
done
is "$wrong" '' 'the helper is killed at the n-th step, and with --require the program does not run'
vrun --require --fail-step $steps ./probe-static short
good $steps killed
is "$wrong" '' '... nor where it cannot be let go'
wrong=''
for step in $(seq 1 $steps); do
	vrun --die-step "$step" ./probe-static short
	good "$step" 'kernel passed image'
done
is "$wrong" '' 'the helper is killed at the n-th step, and the program runs right'

# The helper is stopped at a step, and nobody lets it go on: the first is where the launcher waits for
# a child, the second before the program is traced, the others while it is.
stopped() { # STEP OPTION...: out.STEP has the status and what the program said
	local step=$1 status=0
	shift
	timeout 60 "$vclock" run --trust-counter "$@" --stop-step "$step" ./probe-static short \
		>"said.$step$*" 2>/dev/null </dev/null || status=$?
	echo "$status: $(cat "said.$step$*")" >"stopped.$step$*"
}
for step in 1 2 3 8 $steps; do
	stopped "$step" &
	stopped "$step" --require &
done
wait
wrong=''
for step in 1 2 3 8 $steps; do
	grep -Eqx '7: (kernel|image) [0-9]+ fds, saved same' "stopped.$step" ||
		wrong="$wrong $step:$(cat "stopped.$step")"
	grep -Eqx '(126|137): ' "stopped.$step--require" ||
		wrong="$wrong $step:$(cat "stopped.$step--require")"
done
is "$wrong" '' 'the helper is stopped at the n-th step, and the program runs right, or not at all'

# The whole group is stopped, as by a terminal, and goes on later than any wait lasts.
cat >group.py <<'EOF'
import os, signal, sys, time
right = stops = 0
stopped = []
signal.alarm(60)
for i in range(16):
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.dup2(os.open("group.%d" % i, os.O_WRONLY | os.O_CREAT, 0o600), 1)
        os.execv(sys.argv[1], sys.argv[1:])
    while os.getpgid(pid) != pid:
        pass
    time.sleep(0.0003 * i)
    os.killpg(pid, signal.SIGTSTP)
    status = os.waitpid(pid, os.WUNTRACED)[1]
    if os.WIFSTOPPED(status):
        stopped.append(pid)
    else:
        right += status == 7 << 8
time.sleep(3)
for pid in stopped:
    os.killpg(pid, signal.SIGCONT)
    right += os.waitpid(pid, 0)[1] == 7 << 8
print("%s, %d right" % ("some stopped" if stopped else "none stopped", right))
EOF
is "$(python3 group.py "$vclock" run --trust-counter --require ./probe-static short)" \
	'some stopped, 16 right' 'the group is stopped in the middle, and goes on'
is "$(cat group.[0-9]* | grep -c '^image')" 16 '... with the image'
# The launcher is stopped before it allows the helper to trace it: what starts the helper stops
# first, and goes on when the launcher has been stopped.
cat >held.py <<'EOF'
import os, signal, sys, time
signal.alarm(60)
def stat(pid):
    try:
        return open("/proc/%s/stat" % pid).read().rsplit(")", 1)[1].split()
    except OSError:
        return ("", "")
pid = os.fork()
if pid == 0:
    os.execv(sys.argv[1], sys.argv[1:])
child = []
while not child:
    child = [int(p) for p in os.listdir("/proc") if p.isdigit() and stat(p)[:2] == ["T", str(pid)]]
os.kill(pid, signal.SIGSTOP)
while stat(pid)[0] != "T":
    pass
os.kill(child[0], signal.SIGCONT)
time.sleep(6)
os.kill(pid, signal.SIGCONT)
print(os.waitpid(pid, 0)[1] >> 8)
EOF
is "$(python3 held.py "$vclock" run --trust-counter --require --stop-step 1 ./probe-static short | tail -n 1)" 7 \
	'the launcher is stopped for longer than any wait lasts'
vrun --stop-step x ./probe
is "$status: $(cat err)" '125: vclock: run: --stop-step: x: not a number from 1 to 1000' \
	'a step that is no number'
tap_done
