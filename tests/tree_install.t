#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# make install: the README's example builds and runs against what was installed, by pkg-config, with
# the shared and with the static library; each name has its manual; uninstall leaves nothing.
# shellcheck source=tests/tap.sh
. "$(dirname "${BASH_SOURCE[0]}")/tap.sh"
cd "$root" || exit 1

dest=$tap_dir/dest
prefix=$dest/usr
make_() {
	make -s "$1" DESTDIR="$dest" PREFIX=/usr CC=gcc
}

run 'it installs' make_ install
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$dest
read -ra flags < <(pkg-config --cflags --libs libvclock)
read -ra static_flags < <(pkg-config --static --cflags --libs libvclock)
is "$(pkg-config --modversion libvclock)" "$(sed -n 's/^VERSION := //p' Makefile)" \
	'libvclock.pc tells the version'

sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' >"$tap_dir/example.c"
cd "$tap_dir" || exit 1
# A folder that is in the compiler's own list is dropped by pkg-config, with a DESTDIR it is not.
run 'the example builds against the shared library' gcc -Wall -Werror example.c -o shared \
	-I"$prefix/include" -L"$prefix/lib" "${flags[@]}"
run '... and runs' env LD_LIBRARY_PATH="$prefix/lib" ./shared
run '... and wants just that version of the library' bash -c \
	'readelf -d shared | grep -F "Shared library: [libvclock.so.0]"'
run 'the example builds statically' gcc -Wall -Werror -static example.c -o static \
	-I"$prefix/include" -L"$prefix/lib" "${static_flags[@]}"
run '... and runs' ./static
run 'the example builds as C++' g++ -x c++ -std=c++20 example.c -o cxx -I"$prefix/include" \
	-L"$prefix/lib" "${flags[@]}"
run '... and runs' env LD_LIBRARY_PATH="$prefix/lib" ./cxx

run 'the soname is libvclock.so.0' bash -c \
	"readelf -d $prefix/lib/libvclock.so | grep -F 'soname: [libvclock.so.0]'"
run 'the exports are those of the map' "$root/scripts/check-exports" "$prefix/lib/libvclock.so.0" \
	"$root/src/lib/libvclock.map"
sed 's/^	vclock_page;//' "$root/src/lib/libvclock.map" >fewer.map
refuse '... and one more is noticed' "$root/scripts/check-exports" "$prefix/lib/libvclock.so.0" fewer.map
run 'nothing but the C library is needed' bash -c \
	"! readelf -d $prefix/lib/libvclock.so.0 | grep NEEDED | grep -v 'libc.so.6\|ld-linux'"
run 'no text relocation' bash -c "! readelf -d $prefix/lib/libvclock.so.0 | grep TEXTREL"

run 'the tool runs from there' "$prefix/bin/vclock" --version
run 'the daemon runs from there' "$prefix/bin/vclockd" --help
run 'its unit starts it there' grep -qx 'ExecStart=/usr/bin/vclockd --foreground' \
	"$prefix/lib/systemd/system/vclockd.service"

# each_manual: whatever is installed can be shown, links too.
each_manual() {
	local pages=("$prefix"/share/man/man*/*)
	(cd "$prefix/share/man" && mandoc -T html "${pages[@]}") >"$tap_dir/shown" || return 1
	[ "$(grep -c '>NAME<' "$tap_dir/shown")" -eq ${#pages[@]} ]
}
run 'each manual can be shown' each_manual
for name in vclock_gettime vclock_now vclock_page_update vclock_read_ns; do
	run "$name(3) is there" test -s "$prefix/share/man/man3/$name.3"
done

# Where neither /proc nor its own name tells, a program goes by what was compiled in.
cd "$root" || exit 1
holds() { # FOLDER PREFIX: the programs installed below FOLDER look there, and not elsewhere
	for program in bin/vclock lib/vclock/vclock-tools; do
		[ "$(grep -aoE '/[a-z/]+/lib/vclock|/usr/lib/vclock' "$1$2/$program" | sort -u)" = "$2/lib/vclock" ] || return 1
	done
}
run 'it looks for its parts there' holds "$dest" /usr
before=$(stat -c %y "$B/vclock" "$B/vclock-tools")
run 'it installs elsewhere' make -s install DESTDIR="$tap_dir/other" PREFIX=/opt/other CC=gcc
run '... and looks for its parts there' holds "$tap_dir/other" /opt/other
is "$(stat -c %y "$B/vclock" "$B/vclock-tools")" "$before" '... what was built stays as it was'
run 'it installs once more' make_ install
run '... and looks where it did' holds "$dest" /usr
run 'it uninstalls' make_ uninstall
is "$(find "$dest" -type f -o -type l)" '' '... and leaves nothing'

refuse 'a folder with a blank in its name is not installed into' \
	make -s install DESTDIR="$tap_dir/two words" PREFIX=/usr CC=gcc
refuse '... nor uninstalled from' make -s uninstall DESTDIR="$dest" PREFIX='/usr /opt' CC=gcc
refuse '... and nothing is written' ls -d "$tap_dir"/two*
tap_done
