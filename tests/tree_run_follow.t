#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# vclock run --follow: dynamic programs that the program executes have the image and read the page;
# linkers, ldd, debuggers and set-user-ID programs see what they saw; nobody else sees anything; and
# what cannot be had is told, and the program runs.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
vclock=$B/vclock
cd "$tap_dir" || exit 1
chmod 755 .
loader=$(readlink -f /lib64/ld-linux-x86-64.so.2)
sum=$(md5sum <"$loader")

frun() { # ARGUMENT...: status, out, err
	status=0
	timeout 60 "$vclock" run --trust-counter --follow "$@" >out 2>err </dev/null || status=$?
}

cat >probe.c <<'EOF2'
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
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
int main(int argc, char **argv)
{
	unsigned long ehdr = getauxval(AT_SYSINFO_EHDR);
	int is_ours = ehdr != 0 && memmem((void *)ehdr, 4096, "__vdso_clock_gettime_tai", 24) != NULL;
	const volatile uint32_t *word = (const uint32_t *)(ehdr - 4096);
	char line[4096] = "";
	struct timespec ts;
	int i, fds = 0, fd;
	ssize_t n;
	for (i = 0; i < 64; i++)
		fds += fcntl(i, F_GETFD) >= 0;
	for (i = 0; argc > 1 && is_ours && i < 3000 && *word == 0; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		usleep(1000);
	}
	fd = open("/proc/self/cmdline", O_RDONLY);
	n = read(fd, line, sizeof(line) - 1);
	printf("%s, state %u, saved %s, %d fds, euid %d, %zd of %s\n", is_ours ? "image" : "kernel",
	       is_ours && argc > 1 ? *word : 9, saved_ehdr() == ehdr ? "same" : "differs", fds, (int)geteuid(), n, line);
	(void)argv;
	return 7;
}
EOF2
gcc -O1 -g -o probe probe.c && gcc -O1 -no-pie -o probe-fixed probe.c && gcc -O1 -static -o probe-static probe.c &&
	musl-gcc -O1 -o probe-musl probe.c || exit 1
fds=$(sh -c './probe; :' </dev/null | sed 's/.* \([0-9]*\) fds.*/\1/')

frun --verbose sh -c './probe wait; echo $?'
is "$status: $(cat out)" "0: image, state 1, saved same, $fds fds, euid 0, 13 of ./probe
7" 'a program that the program executes'
is "$(sort err)" 'vclock: run: sh: follows dynamic programs
vclock: run: sh: has the image and a page of its own' 'it says so'
for program in probe-fixed probe-musl; do
	frun sh -c "./$program wait; :"
	is "$(cut -d, -f1-5 out)" "image, state 1, saved same, $fds fds, euid 0" "$program"
done
frun sh -c './probe-static; :'
is "$(cut -d, -f1 out)" kernel 'a static program is not followed'
frun ./probe-static wait
is "$(cut -d, -f1-2 out)" 'image, state 1' 'but for the first one'
frun sh -c 'env perl -e "system(qw(sh -c), q(exec bash -c \"./probe wait; :\"))"'
is "$(cut -d, -f1-2 out)" 'image, state 1' 'programs of programs of programs'
frun sh -c 'python3 -c "
import ctypes
libc = ctypes.CDLL(None)
libc.getauxval.restype = ctypes.c_ulong
print(b\"__vdso_clock_gettime_tai\" in ctypes.string_at(libc.getauxval(33), 4096))"'
is "$(cat out)" True 'sh -c python3'
frun sh -c 'exec 0<&-; ./probe; :'
is "$(cut -d, -f4 out)" " $((fds - 1)) fds" 'descriptors are as they were'
frun sh -c 'exec env -i ./probe'
is "$(cat out)" "image, state 9, saved same, $fds fds, euid 0, 8 of ./probe" 'an empty environment'
frun perl -e 'exec {"./probe"} ""'
is "$(cut -d, -f1-3 out)" 'image, state 9, saved same' 'an empty name'

frun python3 -c '
import subprocess
print(sum(subprocess.run(["./probe"], stdout=subprocess.PIPE).returncode == 7 for _ in range(100)))'
is "$(cat out)" 100 'a hundred programs that are started by vfork'

# Only the page can have answered: the kernel's vDSO is hidden and the system call refused.
cat >sealed.c <<'EOF2'
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	unsigned number = argc > 1 ? (unsigned)atoi(argv[1]) : 228;
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, argc > 1 ? SECCOMP_RET_KILL_PROCESS : SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, code};
	struct timespec ts;
	int i, good = 0;
	for (i = 0; argc == 1 && i < 400; i++) {
		clock_gettime(CLOCK_MONOTONIC, &ts);
		usleep(1000);
	}
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) != 0)
		return 99;
	if (argc > 2)
		return execvp(argv[2], argv + 2);
	for (i = 0; i < 1000; i++)
		good += clock_gettime(CLOCK_MONOTONIC, &ts) == 0;
	printf("%s\n", good >= 900 ? "page" : "no page");
	return 0;
}
EOF2
gcc -O1 -o sealed sealed.c || exit 1
frun --without-kernel-vdso sh -c './sealed; :'
is "$(cat out)" page 'it reads the page'
# madvise, prctl with a filter of its own
frun sh -c './sealed 28 ./probe; :'
is "$(cut -d, -f1 out)" kernel 'a program under a filter that came later is left alone'

# What looks at the loader's file.
frun sh -c 'ldd ./probe | grep -c "=> /.*libc.so\|ld-linux"'
is "$(cat out)" 2 'ldd'
frun "$loader" ./probe wait
is "$status: $(cut -d, -f1-2 out)" '7: image, state 1' 'the loader as a command'
frun sh -c "$loader ./probe; :"
is "$(cut -d, -f1 out)" 'image' 'and in a program'
cat >tls.c <<'EOF2'
extern void *__tls_get_addr(void *);
int main(void) { return __tls_get_addr == 0; }
EOF2
frun sh -c 'gcc -o tls tls.c && ./tls && echo linked; musl-gcc -o m probe.c && ./m'
is "$(cut -d, -f1 out)" 'linked
image' 'linkers'
timeout 60 "$vclock" run --trust-counter --follow gdb -batch -ex 'break main' -ex run -ex 'break getpid' \
	-ex bt -ex continue ./probe </dev/null >out 2>&1
grep -q '^#0 .*main .*probe.c' out && ! grep -q 'outside of ELF\|warning' out && grep -q 'exited with code 07' out
ok $? 'a debugger in it' || sed 's/^/# /' out
frun strace -f -o trace ./probe
is "$status: $(cut -d, -f1 out)" '7: image' 'strace in it'
strace -f -o trace "$vclock" run --verbose --trust-counter --follow ./probe >out 2>err
is "$?: $(cut -d, -f1 out)" '7: image' 'it in strace: followed, though not traced by us'

# Rights.
as_user="setpriv --reuid 65534 --regid 65534 --clear-groups"
cp probe suid && chown 12345 suid && chmod 4755 suid
frun sh -c './suid; :'
is "$(cut -d, -f1,5 out)" 'kernel, euid 12345' 'a set-user-ID program keeps its rights'
if $as_user unshare -U true 2>/dev/null; then
	install_for_others user
	# shellcheck disable=SC2086
	$as_user user/bin/vclock run --verbose --trust-counter --follow sh -c './probe wait; :' >out 2>err
	is "$(cut -d, -f1-5 out)" "image, state 1, saved same, $fds fds, euid 65534" 'an ordinary user'
	grep -q 'follows dynamic programs, in a user namespace' err
	ok $? 'and says what that takes'
else
	skip 'an ordinary user' 'no user namespaces for this user or on this kernel'
fi

# Nobody else.
is "$(md5sum <"$loader")" "$sum" 'the loader of everybody else is as it was'
frun sh -c 'md5sum </proc/self/exe >/dev/null; sleep 3' &
sleep 1
is "$(md5sum <"$loader")" "$sum" 'also meanwhile'
is "$(grep -c 'vclock\|loader-' /proc/self/mountinfo)" 0 'and nothing is mounted here'
wait
# Where mounts are shared with other namespaces, as on most machines.
# shellcheck disable=SC2016 # the inner shell's
unshare -m sh -c 'mount --make-rshared / && unshare -m --propagation unchanged sh -c "
	\"\$0\" run --require --trust-counter --follow sh -c \"./probe; touch here; sleep 2; :\" >out 2>err" "$0" &
	for i in $(seq 100); do [ -e here ] && break; sleep 0.1; done; grep -c "vclock\|loader-" /proc/self/mountinfo; wait' "$vclock" >seen
is "$(cat seen) $(cut -d, -f1 out)" '0 image' 'nor where mounts are shared'
frun sh -c ': >/lib64/ld-linux-x86-64.so.2'
is "$(grep -c 'Read-only' err)" 1 'the copy cannot be written to'

# What cannot be had.
none='does not follow: '
frun --verbose --images "$tap_dir" sh -c './probe; :'
is "$(cut -d, -f1 out)" kernel 'no images'
cp "$B/../images/vdso-x86_64.so" .
frun --verbose --images "$tap_dir" sh -c './probe; :'
is "$(cut -d, -f1 out) $(grep -c "$none" err)" 'kernel 1' 'without the loader'"'"'s code the first program only'
frun --require --images "$tap_dir" ./probe
is "$status" 126 '--require'
rm vdso-x86_64.so
mkdir broken
for file in vdso-x86_64.so follow-x86_64.bin; do
	cp "$root"/build/images/*.so "$root"/build/images/*.bin broken/
	head -c 1024 "$root/build/images/$file" >"broken/$file"
	frun --verbose --images broken sh -c './probe; :'
	is "$status: $(cut -d, -f1 out) $(grep -c "${none}the images are damaged, or none of" err)" '0: kernel 1' \
		"a cut $file: not followed"
done
cp "$root"/build/images/*.so "$root"/build/images/*.bin broken/
head -c 1024 "$root/build/images/vdso-i386.so" >broken/vdso-i386.so
frun --verbose --images broken sh -c './probe; :'
is "$status: $(cut -d, -f1 out) $(grep -c 'follows dynamic programs' err)" '0: image 1' \
	'a cut image for other programs: those have the kernel'"'"'s'
cat >deny.c <<'EOF2'
#define _GNU_SOURCE
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)atoi(argv[1]), 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {4, code};
	(void)argc;
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0);
	return execvp(argv[2], argv + 2);
}
EOF2
gcc -O1 -o deny deny.c || exit 1
for call in 'mount 165' 'unshare 272'; do
	./deny "${call#* }" "$vclock" run --verbose --trust-counter --follow sh -c './probe; :' >out 2>err
	is "$(cut -d, -f1 out) $(grep -c "$none" err) $(grep -c 'sh: has the image' err)" 'kernel 1 1' \
		"without ${call% *}() the first program only"
done
mkdir -p jail/proc jail/tmp
for file in "$vclock" "$PWD/probe" /bin/sh; do
	cp "$file" jail/
	ldd "$file" | grep -o '/[^ ]*' | while read -r lib; do
		mkdir -p "jail$(dirname "$lib")" && cp -n "$(readlink -f "$lib")" "jail$lib"
	done
done
cp -r "$B/../images" jail/images
rm -rf jail/images/obj
sum_jail=$(md5sum <jail/lib64/ld-linux-x86-64.so.2)
chroot jail /vclock run --verbose --trust-counter --images /images --follow /sh -c '/probe; :' >out 2>err
is "$(cut -d, -f1 out) $(grep -c "$none" err)" 'kernel 1' 'a root that is no mount point is left alone'
is "$(md5sum <jail/lib64/ld-linux-x86-64.so.2)" "$sum_jail" 'and so is its loader'
frun sh -c "'$vclock' run --trust-counter --verbose --require --follow sh -c './probe; :'; :"
is "$(cut -d, -f1 out) $(grep -c 'sh: follows dynamic programs already' err)" 'image 1' \
	'within a program that is followed there is nothing to do'
(ulimit -f 1 && "$vclock" run --verbose --trust-counter --follow sh -c : 2>&1) | cat >out
is "$(grep -c 'does not follow: the file size limit does not allow the copies' out)" 1 'a limit on sizes'
(ulimit -n 6 && "$vclock" run --verbose --trust-counter --follow sh -c : 2>&1) | cat >out
is "$(grep -c 'does not follow: no descriptor' out)" 1 'a limit on descriptors'
frun --without-kernel-vdso --without-image ./probe
is "$status: $(cat err)" '125: vclock: run: --without-image and --follow: one of them' 'wrong usage'
tap_done
