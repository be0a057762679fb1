#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vclock run under filters, one for each system call there is, that kill for it or refuse it: the
# program runs as it does without vclock, but where the call is one that starting any program takes.
# With --follow so too.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
vclock=$B/vclock
cd "$tap_dir" || exit 1

cat >each.c <<'EOF2'
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
/* each kill|errno PROGRAM...: for each number of stdin, how the program ended under a filter of that
 * call, and what it said first. */
static void start(unsigned number, int kills, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, kills ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, code};

	alarm(20);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &program) == 0)
		execv(argv[0], argv);
	_exit(99);
}
int main(int argc, char **argv)
{
	int kills = strcmp(argv[1], "kill") == 0, number, fds[2], status;
	char said[256];
	pid_t pid;
	ssize_t n;

	(void)argc;
	while (scanf("%d", &number) == 1) {
		if (pipe(fds) != 0)
			return 1;
		pid = fork();
		if (pid == 0) {
			dup2(fds[1], 2);
			close(fds[0]);
			close(fds[1]);
			start((unsigned)number, kills, argv + 2);
		}
		close(fds[1]);
		n = read(fds[0], said, sizeof(said) - 1);
		said[n > 0 ? n : 0] = '\0';
		said[strcspn(said, "\n")] = '\0';
		waitpid(pid, &status, 0);
		close(fds[0]);
		printf("%d %d %s\n", number, WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), said);
	}
	return 0;
}
EOF2
gcc -O1 -o each each.c || exit 1
printf 'int main(void) { return 7; }\n' >seven.c
musl-gcc -O1 -static -o seven seven.c || exit 1
./each kill ./seven <<<500 >said
if ! grep -q '^500 7 ' said; then
	skip 'under filters' 'this kernel does not have the system call'
	tap_done
fi

# open close stat rt_sigprocmask access clone wait4 fcntl readlink prctl; what a program needs itself.
any='2 3 4 14 21 56 61 72 89 157'
# write mmap munmap brk: to say something.
words='1 9 11 12'
differs() { # FILE NUMBER...: where the program did not run, though it would have, but for the numbers
	local file=$1
	shift
	awk -v good="$*" 'BEGIN { n = split(good, list, " "); for (i = 1; i <= n; i++) known[list[i]] = 1 }
		$2 != 7 && !($1 in known) { print $1 ":" $2 }' "$file"
}
own() { awk '$2 != 7 { print $1 }' "$1"; }

seq 0 469 >all
./each kill ./seven <all >plain-kill
./each errno ./seven <all >plain-errno
./each kill "$vclock" run --trust-counter --verbose ./seven <all >killed
# shellcheck disable=SC2046,SC2086 # lists
is "$(differs killed $any $words $(own plain-kill))" '' 'each call once kills: the program runs'
# What changes nothing is not called.
awk '!/has the image and a page of its own$/ { print $1 }' killed >called
diag "$(wc -l <called) calls matter"
[ "$(wc -l <called)" -gt 30 ] && grep -qx 319 called && grep -qx 202 called
ok $? '... without the image where the launcher makes it'
is "$(grep -c "runs with the kernel's vDSO: its seccomp filter does not allow what has to be done" killed)" \
	"$(grep -c 'filter' killed)" '... and says so'
./each errno "$vclock" run --trust-counter --verbose ./seven <called >refused
# stat and access: there is no such program then.
# shellcheck disable=SC2046
is "$(differs refused 4 21 $(own plain-errno))" '' 'each call once is refused: the program runs'
./each kill "$vclock" run --trust-counter --follow ./seven <called >follow
# shellcheck disable=SC2046,SC2086
is "$(differs follow $any $(own plain-kill))" '' 'each call once kills: the program runs, with --follow'
# unshare mount umount2 pipe2 poll write getuid geteuid mkdir lseek getdents64
printf '%s\n' 272 165 166 293 7 1 102 107 83 8 217 >others
./each kill "$vclock" run --trust-counter --follow ./seven <others >follow
# shellcheck disable=SC2046,SC2086
is "$(differs follow $any $(own plain-kill))" '' '... and those that only following takes'
is "$(find . -name 'core*')" '' 'no core file'
# Nobody is left: neither of the rehearsal nor a helper that waits for a program.
is "$(timeout 60 unshare --pid --fork --mount-proc sh -c './each kill "$0" run --trust-counter ./seven <called >/dev/null
	sleep 0.5; cat /proc/[0-9]*/stat' "$vclock" | grep -c '(vclock')" 0 'no process is left'
tap_done
