#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Agreement with llvm-symbolizer on a large program, Debian's ceph-mds with its debug information:
# depth, file and line of all frames at 10,000 addresses all over the code and at 10,000 as a
# profile has them. Names may differ in ways that are listed, and nothing else is.
#
# BENCH_CACHE: where the program is kept once it is fetched, as for scripts/bench (without it, it
# is fetched for this run alone)
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/agree.sh"

have() {
	command -v "$1" >/dev/null
}
for program in llvm-symbolizer apt-get dpkg-deb eu-unstrip objcopy nm; do
	have "$program" || skip_all "no $program"
done
export LC_ALL=C
BENCH_CACHE=${BENCH_CACHE:-$tmp/fetched}
. "$top/scripts/bench-symbolize.sh"
[ -f "$fetched/$large_name-plain" ] || [ "$(df -Pm "$tmp" | awk 'NR == 2 { print $4 }')" -gt 1500 ] ||
	skip_all 'less than 1500 MiB free'
large_program 2>"$tmp/err" || skip_all "apt-get does not fetch $large_name and $large_name-dbg"
program=$fetched/$large_name-plain
nm --defined-only "$program" >"$tmp/nm"
nm -S -n --defined-only "$program" >"$tmp/sizes"

# classify: of lines of compare() those that are none of what is known, with the others counted
# behind "#". Of a constructor DWARF has the one name for all kinds (C4), the symbol table that of
# the kind, with what the compiler made of it; the start of thread-local variables has a name in
# each unit, and one in the symbol table for each variable.
classify() {
	awk '
	function base(s) {
		while (match(s, /\.(isra|part|constprop|llvm|lto_priv)\.[0-9]+$|\.cold(\.[0-9]+)?$/))
			s = substr(s, 1, RSTART - 1)
		gsub(/C[1-5]/, "C", s)
		gsub(/D[0-5]/, "D", s)
		return s
	}
	$1 == "name" && base($3) == base($4) { kinds++; next }
	$1 == "name" && $3 == "__tls_init" && $4 ~ /^_ZTH/ { starts++; next }
	{ print }
	END {
		print "# names: kinds of constructors and destructors", kinds + 0 \
			", starts of thread-local variables", starts + 0
	}' "$1"
}

# agrees WHAT HOT SEED: at addresses chosen so
agrees() {
	awk -v want=10000 -v hot="$2" -v seed="$3" -f "$top/tests/lib/addresses.awk" "$tmp/sizes" |
		sort -u | awk '{ printf "0x%x\n", $1 }' >"$tmp/addrs"
	symaddr "$program" <"$tmp/addrs" >"$tmp/ours"
	# it leaves /./ in paths, which we do not: rule 35
	llvm-symbolizer --inlines --no-demangle --obj="$program" <"$tmp/addrs" |
		sed 's,/\./,/,g' >"$tmp/llvm"
	compare "$tmp/nm" "$tmp/ours" "$tmp/llvm" >"$tmp/diff"
	classify "$tmp/diff" >"$tmp/rest"
	n=$(wc -l <"$tmp/addrs")
	frames=$(awk '/^$/ { k = 0; next } k++ % 2 { n++ } END { print n + 0 }' "$tmp/ours")
	grep '^#' "$tmp/rest"
	! grep -q '^depth\|^different' "$tmp/rest"
	ok $? "$1: depth at $n addresses" || grep '^depth\|^different' "$tmp/rest" | head | diag -
	! grep -q '^place' "$tmp/rest"
	ok $? "$1: file and line of $frames frames" || grep '^place' "$tmp/rest" | head | diag -
	! grep -q '^name' "$tmp/rest"
	ok $? "$1: names" || grep '^name' "$tmp/rest" | head | diag -
	[ "$n" -gt 2000 ] && [ "$frames" -gt $((2 * n)) ]
	ok $? "$1: enough of both: $n, $frames"
}
agrees 'all over the code' 0 7
agrees 'as in a profile' 400 8
# From an index the same; and packed sections make no difference.
symaddr -c "$tmp/cache" "$program" <"$tmp/addrs" >"$tmp/made"
symaddr -c "$tmp/cache" "$program" <"$tmp/addrs" >"$tmp/read"
same "$tmp/read" "$tmp/ours" 'from an index'
symaddr "$fetched/$large_name-zlib" <"$tmp/addrs" >"$tmp/read"
same "$tmp/read" "$tmp/ours" 'sections packed by zlib'
done_testing
