#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vclock run with programs that are not easy: rights of their own, filters, limits, tracers, name
# spaces, signals inside the image, children that outlive the program.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
vclock=$B/vclock
cd "$tap_dir" || exit 1
chmod 755 .

vrun() { # ARGUMENT...: status, out, err
	status=0
	timeout 60 "$vclock" run --trust-counter "$@" >out 2>err </dev/null || status=$?
}

cat >probe.c <<'EOF'
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
int main(void)
{
	const char *image = (const char *)getauxval(AT_SYSINFO_EHDR);

	printf("%s, euid %d\n", image && memmem(image, 4096, "__vdso_clock_gettime_tai", 24) ? "image" : "kernel", (int)geteuid());
	return 7;
}
EOF
gcc -O1 -o probe probe.c || exit 1

# Programs whose file gives them rights.
cp probe suid
cp probe caps
chown 12345 suid && chmod 4755 suid
setcap cap_net_raw+ep caps
as_user="setpriv --reuid 65534 --regid 65534 --clear-groups"
for program in suid caps; do
	# shellcheck disable=SC2086
	$as_user "$vclock" run --verbose --trust-counter "./$program" >out 2>err
	case $program in
	suid) is "$(cat out)" 'kernel, euid 12345' 'a set-user-ID program keeps its rights' ;;
	caps) is "$(cat out)" 'kernel, euid 65534' 'so does one with capabilities' ;;
	esac
	grep -q 'rights\|capabilities' err
	ok $? "$program: says why"
done
printf '#!%s\n' "$PWD/suid" >script
chmod 755 script
vrun --require ./script
is "$status: $(cat out)" '126: ' 'a script for a set-user-ID program'
install_for_others user
# shellcheck disable=SC2086
is "$($as_user user/bin/vclock run --trust-counter ./probe 2>&1)" 'image, euid 65534' 'an ordinary user'
cp probe unreadable
chmod 711 unreadable
# shellcheck disable=SC2086
is "$($as_user "$vclock" run --trust-counter ./unreadable 2>&1)" 'kernel, euid 65534' \
	'a program that may not be read'

# Filters.
cat >filter.c <<'EOF'
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
/* filter kill|errno NUMBER[,NUMBER] PROGRAM...: what a call of that number gets. */
int main(int argc, char **argv)
{
	const char *more = strchr(argv[2], ',');
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(argv[2]), 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(more != NULL ? more + 1 : argv[2]), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, argv[1][0] == 'k' ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {5, code};

	(void)argc;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0))
		return 99;
	execvp(argv[3], argv + 3);
	return 98;
}
EOF
gcc -O1 -o filter filter.c || exit 1
# madvise, mlock, ptrace
is "$(./filter errno 28 "$vclock" run --trust-counter ./probe 2>&1)" 'kernel, euid 0' \
	'a filter that does not allow what the stub does: not injected'
is "$(./filter kill 149 "$vclock" run --trust-counter ./probe 2>&1)" 'image, euid 0' \
	'a filter that does not mind'
is "$(./filter kill 101 "$vclock" run --trust-counter ./probe 2>&1)" 'kernel, euid 0' \
	'a filter that kills the helper'
# exit_group and ptrace: the helper has nothing to do, and must not go on where it cannot end as usual.
is "$(./filter errno 231,101 "$vclock" run --verbose --trust-counter ./probe 2>&1)" \
	"vclock: run: ./probe: runs with the kernel's vDSO: it is traced already, or may not be
kernel, euid 0" 'a filter that refuses exit_group'
is "$(for step in 1 2 3 5 8 9 11 14; do
	./filter errno 231 "$vclock" run --require --fail-step "$step" --trust-counter ./probe 2>/dev/null
done)" '' '... and nor must a program that shall not run'
# ppoll, which the publisher waits by
is "$(unshare --pid --fork --mount-proc sh -c './filter errno 271 "$0" run --trust-counter true
	sleep 1; cat /proc/[0-9]*/stat' "$vclock" | grep -c '(vclock-page) [^Z]')" 0 \
	'a publisher that cannot wait ends'
# A filter that the program sets itself, against clock_gettime: the page needs no system call.
cat >sealed.c <<'EOF'
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 228, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, code};
	struct timespec ts;
	int i, good = 0;

	for (i = 0; i < 400; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		usleep(1000);
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
	for (i = 0; i < 1000; i++)
		good += clock_gettime(CLOCK_MONOTONIC, &ts) == 0;
	printf("%s\n", good >= 900 ? "page" : "no page");
	return 0;
}
EOF
gcc -O1 -o sealed sealed.c || exit 1
vrun --without-kernel-vdso ./sealed
is "$(cat out)" page 'without vDSO and system call, only the page can have answered'

# Limits.
is "$(ulimit -n 8; "$vclock" run --trust-counter ./probe 2>&1)" 'kernel, euid 0' 'few descriptors'
is "$(ulimit -n 64; "$vclock" run --trust-counter ./probe 2>&1)" 'image, euid 0' 'some descriptors'
is "$(ulimit -v 30000; "$vclock" run --trust-counter ./probe 2>&1 | tail -n 1)" 'image, euid 0' \
	'little address space'
is "$(prlimit --memlock=0 --data=8000000 "$vclock" run --trust-counter ./probe 2>&1)" 'image, euid 0' \
	'little memory'

# Policies: no memory that was writable may become executable; images where nothing may be executed.
cat >policy.c <<'EOF'
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	(void)argc;
	if (prctl(65 /* PR_SET_MDWE */, 1, 0, 0, 0) != 0)
		return 99;
	return execvp(argv[1], argv + 1);
}
EOF
gcc -O1 -o policy policy.c || exit 1
./policy true
if [ $? -eq 99 ]; then
	skip 'under PR_SET_MDWE' 'this kernel does not have the system call'
else
	is "$(./policy "$vclock" run --trust-counter ./probe)" 'image, euid 0' 'under PR_SET_MDWE'
fi
# shellcheck disable=SC2016 # the inner shell's
unshare -m sh -c 'mkdir noexec; mount -t tmpfs -o noexec none noexec && cp "$0"/* noexec/ 2>/dev/null;
	"$1" run --verbose --trust-counter --images noexec ./probe' "$B/../images" "$vclock" >out 2>err
is "$(cat out)" 'kernel, euid 0' 'images on a file system without execution'
is "$(cat err)" "vclock: run: ./probe: runs with the kernel's vDSO: the images cannot be opened, or not be executed where they are" 'and says so'

# Everything else that the kernel tells a program is as it was.
cat >auxv.c <<'EOF'
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>
static void show(const char *name, const unsigned long *p)
{
	for (; *p != AT_NULL; p += 2)
		printf("%s %lu %lx\n", name, *p, *p == AT_SYSINFO_EHDR ? 0 : p[1]);
}
int main(int argc, char **argv, char **envp)
{
	unsigned long saved[256] = {0};
	int fd = open("/proc/self/auxv", O_RDONLY);
	ssize_t n = read(fd, saved, sizeof(saved) - 16);
	(void)argc, (void)argv, (void)n;
	while (*envp++ != NULL)
		;
	show("stack", (unsigned long *)envp);
	show("saved", saved);
	return 0;
}
EOF
gcc -O1 -o auxv auxv.c || exit 1
env -i setarch -R ./auxv >plain
env -i setarch -R "$vclock" run --require --trust-counter ./auxv >ours
run 'no other entry of the auxiliary vector changes' diff plain ours
env -i setarch -R "$vclock" run --require --trust-counter --follow /usr/bin/env ./auxv >ours
diff plain ours | grep '^[<>]' | grep -v ' 7 ' >changed
[ ! -s changed ] && [ -s ours ]
ok $? 'nor in a followed program, but where the loader lies' || sed 's/^/# /' changed

# Tracers.
strace -f -o trace "$vclock" run --verbose --trust-counter ./probe >out 2>err
is "$?: $(cat out)" '7: kernel, euid 0' 'under strace -f'
grep -q 'traced already' err
ok $? 'and says why'
is "$("$vclock" run --trust-counter strace -o trace ./probe)" 'kernel, euid 0' 'strace under it'
is "$("$vclock" run --trust-counter "$vclock" run --trust-counter ./probe)" 'image, euid 0' 'itself under it'

is "$(timeout 60 valgrind -q "$vclock" run --verbose --trust-counter ./probe 2>&1)" \
	"vclock: run: ./probe: runs with the kernel's vDSO: valgrind cannot run what has to be done
kernel, euid 0" 'under valgrind'
is "$(timeout 60 "$vclock" run --trust-counter valgrind -q ./probe)" 'kernel, euid 0' 'valgrind under it'

# PID 1 of a name space: the helper must not become the program's child.
is "$(unshare --pid --fork --mount-proc "$vclock" run --trust-counter perl -e '
	print "pid $$, children ", (wait() < 0 ? "none" : "some"), "\n"')" 'pid 1, children none' \
	'PID 1 finds no child of ours'
is "$(timeout 60 unshare --pid --fork --mount-proc "$vclock" run --trust-counter ./probe)" \
	'image, euid 0' 'PID 1 has the image'
is "$(unshare --pid --fork "$vclock" run --trust-counter ./probe)" 'image, euid 0' \
	'so it has where /proc is of another name space, and its number there another process'"'"'s'
# No /proc, and one that tells nothing.
without_proc() { # COMMAND OPTION...: status, out, err
	local before="mount -t tmpfs none /proc; $1; shift"
	status=0
	# shellcheck disable=SC2016 # for the inner shell
	timeout 60 unshare --mount --pid --fork sh -c "$before"'; exec "$0" run --trust-counter "$@" ./probe' \
		"$vclock" "$@" >out 2>err || status=$?
}
without_proc : --verbose
is "$status: $(cat out) $(cat err)" \
	"7: kernel, euid 0 vclock: run: ./probe: runs with the kernel's vDSO: there is no /proc" 'without /proc'
without_proc : --require
is "$status: $(cat out)" '126: ' 'without /proc, --require'
without_proc 'mkdir /proc/self'
is "$status: $(cat out)" '7: kernel, euid 0' 'a /proc that is none'
without_proc 'mkdir /proc/self' --require
is "$(cat out)" '' 'a /proc that is none, --require: PID 1 does not run'
is "$(perl -e 'require "syscall.ph" if 0; syscall(157, 36, 1, 0, 0, 0); exec @ARGV' "$vclock" run \
	--trust-counter perl -e 'print wait() < 0 ? "none" : "some"')" none 'nor does a subreaper'

# Another time name space.
if unshare -T true 2>/dev/null; then
	now=$(cut -d. -f1 /proc/uptime)
	then=$(unshare -T --monotonic 100000 "$vclock" run --trust-counter perl -MTime::HiRes=clock_gettime -e '
		for (1..300) { $t = clock_gettime(1); select(undef, undef, undef, 0.001) } print int($t)')
	[ $((then - now)) -ge 99990 ] && [ $((then - now)) -le 100060 ]
	ok $? "in a time name space of its own: $((then - now)) s ahead"
else
	skip 'in a time name space of its own' 'no time namespaces for this user or on this kernel'
fi

# Children that outlive the program, and its page.
cat >outlive.c <<'EOF'
#include <stdio.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	struct timespec a, b;
	int i, back = 0;

	usleep(200000);
	if (fork() != 0)
		return 0;
	clock_gettime(CLOCK_MONOTONIC, &a);
	for (i = 0; i < 3000; i++, a = b) {
		clock_gettime(CLOCK_MONOTONIC, &b);
		back += b.tv_sec < a.tv_sec || (b.tv_sec == a.tv_sec && b.tv_nsec < a.tv_nsec);
		usleep(100);
	}
	printf("%d steps back\n", back);
	return 0;
}
EOF
gcc -O1 -o outlive outlive.c || exit 1
is "$("$vclock" run --trust-counter ./outlive | cat)" '0 steps back' 'a child that outlives the page'

# A signal inside the image: every frame is there.
cat >unwind.c <<'EOF'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unwind.h>
static volatile int inside, reached;
static uintptr_t lo, hi, main_lo, main_hi;
struct walk { int seen_image, seen_main; };
static _Unwind_Reason_Code frame(struct _Unwind_Context *c, void *arg)
{
	struct walk *w = arg;
	uintptr_t pc = _Unwind_GetIP(c);

	w->seen_image |= pc >= lo && pc < hi;
	w->seen_main |= w->seen_image && pc >= main_lo && pc < main_hi;
	return _URC_NO_REASON;
}
static void handler(int s, siginfo_t *i, void *u)
{
	uintptr_t pc = (uintptr_t)((ucontext_t *)u)->uc_mcontext.gregs[REG_RIP];
	struct walk w = {0, 0};

	(void)s, (void)i;
	if (pc < lo || pc >= hi)
		return;
	_Unwind_Backtrace(frame, &w);
	inside++;
	reached += w.seen_main;
}
static int header(struct dl_phdr_info *info, size_t size, void *arg)
{
	int i, *good = arg;

	(void)size;
	if (info->dlpi_addr != getauxval(AT_SYSINFO_EHDR))
		return 0;
	*good = strcmp(info->dlpi_name, "linux-vdso.so.1") == 0 || *info->dlpi_name == '\0';
	for (i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];

		if (p->p_type == PT_LOAD)
			*good &= p->p_vaddr == 0;
		else
			*good &= memchr((char *)info->dlpi_addr + p->p_vaddr, 0xfe, p->p_memsz) != (void *)1;
	}
	return 1;
}
__attribute__((noinline)) static void spin(void)
{
	struct timespec ts;
	int i;

	for (i = 0; i < 1000; i++)
		clock_gettime(CLOCK_MONOTONIC, &ts);
}
int main(void)
{
	struct itimerval often = {{0, 1000}, {0, 1000}};
	struct sigaction sa = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | SA_RESTART};
	int good = 0;
	time_t end = time(NULL) + 20;

	lo = getauxval(AT_SYSINFO_EHDR);
	hi = lo + 16384;
	main_lo = (uintptr_t)main - 65536;
	main_hi = (uintptr_t)main + 65536;
	dl_iterate_phdr(header, &good);
	sigaction(SIGPROF, &sa, NULL);
	setitimer(ITIMER_PROF, &often, NULL);
	while (inside < 100 && time(NULL) < end)
		spin();
	setitimer(ITIMER_PROF, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
	printf("headers %s, %s\n", good ? "good" : "bad", inside >= 100 && reached == inside ? "all reached" : "lost");
	printf("# %d of %d\n", reached, inside);
	printf("dlopen %s\n", dlsym(dlopen("linux-vdso.so.1", RTLD_LAZY | RTLD_NOLOAD), "__vdso_clock_gettime_tai") ? "finds it" : "fails");
	return 0;
}
EOF
gcc -O1 -g -o unwind unwind.c -ldl || exit 1
vrun ./unwind
is "$(grep -v '^#' out)" "headers good, all reached
dlopen finds it" '100 signals inside the image, and every backtrace reaches main'
diag "$(grep '^#' out | tr -d '#')"

# A debugger sees names.
cat >spin.c <<'EOF'
#include <time.h>
#include <unistd.h>
int main(void)
{
	struct timespec ts;
	usleep(200000);
	for (;;)
		clock_gettime(CLOCK_MONOTONIC, &ts);
}
EOF
gcc -O1 -g -o spin spin.c || exit 1
"$vclock" run --trust-counter ./spin &
spin=$!
sleep 1
timeout 60 gdb -p "$spin" -batch -ex 'break __vdso_clock_gettime' -ex continue -ex bt -ex delete -ex detach \
	</dev/null >gdb.out 2>&1
kill "$spin"
wait "$spin" 2>/dev/null
grep -q '^#0 .*__vdso_clock_gettime\|^#0 .*clock_gettime' gdb.out && grep -q '^#[12] .*main' gdb.out
ok $? 'gdb shows names in the image, down to main' || sed 's/^/# /' gdb.out
tap_done
