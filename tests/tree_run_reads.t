#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# What a program under vclock run reads: each value lies between two system calls around it, 95 in
# 100 come from the page, and a vclockd's page is taken where there is one, by followed programs too.
# 10^8 reads with VCLOCK_TEST_LONG. A steady clock stands still at the end of a line while its writer
# is late, some 40 us at most: such reads are counted apart, one in 100,000 at most. Reads between
# that the page states an error for may be off by that much: how exact a page is, is the bracket
# test's subject.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
vclock=$B/vclock
cd "$tap_dir" || exit 1
chmod 755 .
reads=400000
[ -z "${VCLOCK_TEST_LONG:-}" ] || reads=100000000

# A clock_gettime that comes out of the image is trapped, counted, and done by the handler.
cat >reads.c <<'EOF2'
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include "vclock/page.h"
static volatile unsigned long trapped;
static const struct vclock_page *page;
static void trap(int number, siginfo_t *info, void *context)
{
	greg_t *regs = ((ucontext_t *)context)->uc_mcontext.gregs;
	(void)number, (void)info;
	trapped++;
	regs[REG_RAX] = syscall(SYS_clock_gettime, regs[REG_RDI], regs[REG_RSI]);
}
static int count_fallbacks(uint64_t image)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clock_gettime, 0, 6),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer) + 4),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)(image >> 32), 0, 4),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, instruction_pointer)),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)image, 0, 2),
		BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, (uint32_t)image + 16384, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};
	struct sigaction sa = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO};
	sigaction(SIGSYS, &sa, NULL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
}
#define NS(t) ((t).tv_sec * 1000000000ll + (t).tv_nsec)
int main(int argc, char **argv)
{
	static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_TAI, CLOCK_BOOTTIME};
	uint64_t image = getauxval(AT_SYSINFO_EHDR);
	const volatile uint32_t *state = (const uint32_t *)(image - 4096);
	unsigned long reads = strtoul(argv[1], NULL, 10), i, outside = 0, strictly = 0;
	struct timespec before, value, after;
	const struct vclock_slot *slot;
	unsigned long held = 0;
	long long error, off, clamp;
	(void)argc;
	if (memmem((void *)image, 4096, "clock_gettime_tai", 17) == NULL || count_fallbacks(image) != 0)
		return puts("no image") != 0;
	page = (const struct vclock_page *)(image - 3 * 4096);
	for (i = 0; i < 5000 && *state == 0; i++) {
		clock_gettime(CLOCK_MONOTONIC, &value);
		usleep(1000);
	}
	usleep(700000); /* a full window of samples */
	for (trapped = 0, i = 0; i < reads; i++) {
		clockid_t clk = clocks[i % 4];
		syscall(SYS_clock_gettime, clk, &before);
		clock_gettime(clk, &value);
		syscall(SYS_clock_gettime, clk, &after);
		if (NS(value) >= NS(before) && NS(value) <= NS(after))
			continue;
		strictly++;
		error = page->slot[page->generation & 1].error_ns;
		off = NS(value) < NS(before) ? NS(value) - NS(before) : NS(value) - NS(after);
		if (off >= -error && off <= error)
			continue;
		slot = &page->slot[page->generation & 1];
		clamp = (long long)(((uint64_t)slot->clamp_cyc * slot->line[1].mult[0]) >> page->shift);
		if (clk != CLOCK_REALTIME && clk != CLOCK_TAI && off < 0 && off >= -clamp - error) {
			held++;
			continue;
		}
		if (outside++ < 10)
			fprintf(stderr, "read %lu, clock %d: %+lld ns, of %lld stated, bracket of %lld ns\n", i, (int)clk, off, error, NS(after) - NS(before));
	}
	printf("%lu outside, %lu held at a line's end, %lu by less than the stated error, %lu by the kernel, page of %u\n", outside, held, strictly - outside - held, trapped, page->writer_pid);
	return 0;
}
EOF2
gcc -O2 -I"$root/include" -o reads reads.c || exit 1

# judge WHAT: of what is in out
judge() {
	local kernel
	diag "$1: $(cat out)"
	grep '^read ' err | sed 's/^/# /'
	is "$(cut -d' ' -f1-2 out)" '0 outside,' "$1: none of $reads reads lies outside"
	[ "$(sed 's/.*outside, \([0-9]*\) held.*/\1/' out)" -le $((reads / 100000 + 1)) ]
	ok $? "$1: hardly any was held at the end of a line"
	kernel=$(sed 's/.*error, \([0-9]*\) by.*/\1/' out)
	[ "$((${kernel:-$reads} * 20))" -le "$reads" ]
	ok $? "$1: 95 in 100 come from the page"
}
"$vclock" run --trust-counter --require --without-kernel-vdso ./reads "$reads" >out 2>err
judge 'a page of its own'

# Must fail: the helper ends as it lets go, and nobody keeps the page.
"$vclock" run --trust-counter --without-kernel-vdso --fail-step 15 ./reads 1000 >out 2>err
grep -q ' 1000 by the kernel' out
ok $? 'reads that the kernel answers are counted' || sed 's/^/# /' out err

# The machine's page.
export VCLOCK_PAGE=$tap_dir/run/page
mkdir -m 755 run
"$B/vclockd" --foreground --page "$VCLOCK_PAGE" --trust-counter 2>daemon.err &
daemon=$!
for _ in $(seq 200); do
	"$vclock" page --check "$VCLOCK_PAGE" >/dev/null 2>&1 && break
	sleep 0.05
done
reads=200000
"$vclock" run --verbose --without-kernel-vdso ./reads "$reads" >out 2>err
is "$(cat err)" 'vclock: run: ./reads: has the image and the machine'"'"'s page' 'it takes the page of vclockd'
is "$(sed 's/.*page of //' out)" "$daemon" 'and reads that very one'
judge "vclockd's page"
for route in vdso syscall; do
	VCLOCK_ROUTE=$route "$vclock" run --verbose ./reads 1000 >out 2>err
	is "$(cat err)" "vclock: run: ./reads: runs with the kernel's vDSO: VCLOCK_ROUTE limits the routes" \
		"VCLOCK_ROUTE=$route and a live page"
done
VCLOCK_ROUTE=page "$vclock" run --verbose ./reads 1000 >out 2>err
is "$(cat err)" 'vclock: run: ./reads: has the image and the machine'"'"'s page' 'VCLOCK_ROUTE=page and a live page'
"$vclock" run --follow --without-kernel-vdso sh -c "./reads $reads; :" >out 2>err
is "$(sed 's/.*page of //' out)" "$daemon" 'so does a program that is followed'
judge "vclockd's page, followed"

# It is gone, and comes back: no step back, and nothing but the kernel's time meanwhile.
cat >gone.c <<'EOF2'
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	struct timespec a, b;
	int i, back = 0;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < 3000; i++, a = b) {
		clock_gettime(CLOCK_MONOTONIC, &b);
		back += b.tv_sec < a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec < a.tv_nsec);
		usleep(500);
	}
	printf("%d steps back\n", back);
	return 0;
}
EOF2
gcc -O1 -o gone gone.c || exit 1
"$vclock" run ./gone >out 2>err &
program=$!
sleep 0.7
kill -9 "$daemon"
wait "$daemon" 2>/dev/null
"$B/vclockd" --foreground --page "$VCLOCK_PAGE" --trust-counter 2>>daemon.err &
daemon=$!
wait "$program"
is "$(cat out)" '0 steps back' 'vclockd is killed and started again under a program'
kill "$daemon"
wait "$daemon" 2>/dev/null
# A page that ended is none.
"$vclock" run --verbose --trust-counter true >out 2>err
is "$(cat err)" 'vclock: run: true: has the image and a page of its own' 'a page that has ended is not taken'
tap_done
