#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# The two programs of the command: `vclock` has what `vclock run` needs and no more, finds the tools'
# program wherever both were put, and becomes it: the same process, name, streams and exit status.
# shellcheck source=tests/tap.sh
. "$(dirname "$(readlink -f "$0")")/tap.sh"
cd "$tap_dir" || exit 1

# What would run before main. With sanitizers it is another program.
names=$(nm "$B/vclock" | awk '{ print $NF }')
is "$(grep -cxE 'front_run|lib_program|vclock_open|json_object_new_object|scols_new_table' <<<"$names")" 1 \
	'vclock has `run`, and no library, constructor and table of the others'
is "$(nm "$B/vclock-tools" | awk '{ print $NF }' | grep -cxE 'front_run|lib_program|vclock_open')" 2 \
	'... and the tools have these, and no `run`'
if [ -z "${CELL_SAN:-}" ]; then
	is "$(readelf -lW "$B/vclock" | grep -c INTERP)" 0 'vclock is a static program'
	# Each is an exit of a virtual machine, and glibc has some 40 in its start-up.
	is "$(objdump -d "$B/vclock" | grep -cw cpuid)" 0 '... that does not ask the CPU what it is'
	# The counter has a case that must be seen.
	printf 'int main(void)\n{\n\t__asm__ volatile("cpuid" ::: "eax", "ebx", "ecx", "edx");\n\treturn 0;\n}\n' >asks.c
	gcc -o asks asks.c && objdump -d asks | grep -qw cpuid
	ok $? '... as one that does is seen to'
fi

# works PROGRAM WHAT: a command of the tools' is found.
works() {
	run "$2" "$1" info --help
}
mkdir -p beside usr/bin usr/lib/vclock links
cp "$B/vclock" "$B/vclock-tools" beside/
works beside/vclock 'the tools beside it, as they were built'
cp "$B/vclock" usr/bin/ && cp "$B/vclock-tools" usr/lib/vclock/
works usr/bin/vclock 'as they are installed'
ln -s ../usr/bin/vclock links/vclock
works links/vclock '... by a link from elsewhere'
PATH=$tap_dir/links:$PATH works vclock '... and by name'
mv usr moved
works moved/bin/vclock '... in a folder that was renamed'
cp "$root"/build/images/*.so moved/lib/vclock/
is "$(moved/bin/vclock bench --rounds 2 --json time | jq '[.rows[].how] | index("image") != null')" \
	"$("$B/vclock" bench --rounds 2 --json time | jq '[.rows[].how] | index("image") != null')" \
	'... and there are the images'

# without_proc COMMAND...
without_proc() {
	unshare -m sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "$@"
}
if [ -n "${CELL_SAN:-}" ]; then
	diag 'sanitizers need /proc'
elif [ "$(id -u)" -eq 0 ] && without_proc true 2>/dev/null; then
	run 'without /proc, by its path' without_proc "$tap_dir/moved/bin/vclock" info --help
	run '... or another path to it' without_proc moved/bin/vclock info --help
else
	skip 'without /proc' 'needs root'
fi

# by_user COMMAND...: by one who may not look into a folder above this one.
by_user() {
	(cd moved && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$@")
}
if [ "$(id -u)" -eq 0 ]; then
	chmod 0700 "$tap_dir" && chmod 0755 moved
	run 'below a folder that this user may not look into' by_user bin/vclock info --help
else
	skip 'another user' 'needs root'
fi

# Not there: one line, and the status of a missing file.
mkdir alone none
cp "$B/vclock" alone/
status=0
alone/vclock info >out 2>err || status=$?
if [ "$status" -eq 0 ]; then
	skip 'no tools' 'vclock is installed on this machine'
else
	is "$status $(sed 's,: /.*/vclock/,: PLACE/,' out err)" \
		'2 vclock: info: PLACE/vclock-tools: No such file or directory' 'no tools'
fi
is "$(alone/vclock --version)" "$("$B/vclock" --version)" '... what needs none still works: the version'
is "$(alone/vclock --help)" "$("$B/vclock" --help)" '... the list of commands'
is "$(alone/vclock run --images none sh -c 'echo ran')" ran '... and `run`'
status=0
"$B/vclock-tools" run true >out 2>err || status=$?
is "$status $(cat out err)" '2 vclock: vclock-tools: a part of vclock, which starts it' \
	'there is one way to `run`'

# It becomes that program.
"$B/vclock" page --watch "$tap_dir/no-page" >out 2>err </dev/null &
pid=$!
for _ in $(seq 1 100); do
	[ "$(readlink "/proc/$pid/exe")" = "$B/vclock-tools" ] && break
	sleep 0.05
done
is "$(readlink "/proc/$pid/exe")" "$B/vclock-tools" 'the tools run in the same process'
is "$(tr '\0' ' ' <"/proc/$pid/cmdline")" "$B/vclock page --watch $tap_dir/no-page " '... as what was typed'
kill -KILL "$pid" 2>/dev/null
wait "$pid" 2>/dev/null
is $? 137 '... and what ends it is told'
is "$(cd / && "$B/vclock" page --check /dev/null 2>&1 >/dev/null; echo $?)" \
	'vclock: page: /dev/null: not a page
1' 'its messages are those of vclock'
tap_done
