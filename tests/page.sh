# SPDX-License-Identifier: MIT
# page.sh - pages made by hand, for shell tests: sourced after tap.sh. $page is their path.
# shellcheck shell=bash
# shellcheck disable=SC2154 # tap_dir is of tap.sh
page=$tap_dir/page

# page [FIELD=VALUE...]: a page of version 1 that was published once, of an unknown boot.
page() {
	rm -rf "$page"
	perl -e '
		my %f = (magic => 0x4b4c4356, version => 1, size => 4096, generation => 2, shift => 30,
			kind => 1, hz => 2000000000, mult => 536870912, rawmult => 536870912,
			length => 20000000, fns => 0, bytes => 4096);
		for (@ARGV) { my ($k, $v) = split /=/; $f{$k} = $v }
		my $line = sub { my ($start, $mono, $raw) = @_;
			pack("Q< L<3 L<", $start, $f{length}, $f{mult}, $f{rawmult}, 0) .
			join("", map { pack("q< Q<", 1000, $_ == 4 ? $raw : $mono) } 0 .. 11) . "\0" x 40 };
		my $slot = $line->(0, $f{fns}, $f{fns}) . $line->($f{length}, $f{fns} + $f{length} * $f{mult},
			$f{fns} + $f{length} * $f{rawmult}) . "\0" x 64;
		my $page = pack("L< S< S< L< L< L< L< Q<", $f{magic}, $f{version}, $f{size}, $f{generation},
			$f{shift}, $f{kind}, 0, $f{hz}) . "\0" x 96 . $slot x 2;
		$page .= "\0" x (4096 - length $page);
		print substr($page . "\0" x $f{bytes}, 0, $f{bytes})' "$@" >"$page"
	chmod 0644 "$page"
}

# mangle NUMBER: standard input, a page, with one bit of its live half changed where NUMBER is odd,
# else random bytes altogether.
mangle() {
	perl -e 'srand($ARGV[0]); local $/; my $p = <STDIN>;
		if ($ARGV[0] % 2) { my $b = int rand(8 * 1280); vec($p, $b, 1) ^= 1 }
		else { substr($p, $_, 1) = chr int rand 256 for 0 .. 4095 } print $p' "$1"
}
