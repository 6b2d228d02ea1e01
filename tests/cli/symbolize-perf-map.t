#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --perf-map: names for addresses in no file.
. "$top/tests/lib/tap.sh"

cat >"$tmp/raw" <<'END'
# profpipe text 1
profile
time 1
duration 1
period "cpu" "nanoseconds" 1
type "samples" "count" default
mapping 1 0x7f0000000000 0x7f0000010000 0x0 "//anon" "" -
mapping 2 0x7f1000000000 0x7f1000010000 0x0 "" "" -
mapping 3 0x7ffd00000000 0x7ffd00002000 0x0 "[vdso]" "" -
mapping 4 0x7f2000000000 0x7f2000010000 0x0 "/no/such/file.so" "12" -
function 1 "[truncated]" "[truncated]" "" 0
location 1 m1 0x7f0000000110
location 2 m2 0x7f1000000000
location 3 m3 0x7ffd00000100
location 4 m4 0x7f2000000100
location 5 m0 0x55550010
location 6 m0 0x0 f1:0:0
location 7 m1 0x7f0000000900
sample 1 : 1 2 3 4 5 6 :
sample 1 : 7 :
end
END
# everything that the profile has, and an older name of the first
cat >"$tmp/perf-1.map" <<'END'
7f0000000100 40 Old::name
7f0000000100 20 LazyCompile:*f /x y.js:3
0x7f1000000000 0x10 second
7ffd00000000 2000 vdso
7f2000000000 10000 file
55550000 20 loose
0 10 zero
garbage
END
lines() {
	prof-render -f text "$1" | sed -n '/^location/p; /^function/p; /^mapping/p'
}
run prof-symbolize -v --perf-map="$tmp/perf-1.map" "$tmp/raw"
is "$status" 0 'exit status'
like "$tmp/err" '^\(in no file\) +4  perf-map +3  no-function +1$' 'the report counts them'
cp "$tmp/out" "$tmp/one.pb.gz"
lines "$tmp/one.pb.gz" >"$tmp/got"
number() {
	sed -n "s/^function \\([0-9]*\\) \"$1\".*/\\1/p" "$tmp/got"
}
named() { # named ADDRESS NAME
	like "$tmp/got" "^location [0-9]+ m[0-9] $1 f$(number "$2"):" "$2"
}
named 0x7f0000000110 'LazyCompile:\*f'
named 0x7f1000000000 'second'
named 0x55550010 'loose'
like "$tmp/got" '^location [0-9]+ m[0-9] 0x7f0000000900$' 'what the map does not know stays'
like "$tmp/got" '^location [0-9]+ m[0-9] 0x7ffd00000100$' 'the vDSO is no such code'
like "$tmp/got" '^location [0-9]+ m[0-9] 0x7f2000000100$' 'a file is none'
is "$(grep -c '"zero"\|"vdso"\|"file"\|Old' "$tmp/got")" 0 'nothing else is named'
like "$tmp/got" '^mapping 1 .*"//anon" "" F' 'the mapping says so'

printf '7f0000000100 40 late' >"$tmp/late.map"
run prof-symbolize --perf-map="$tmp/perf-1.map" --perf-map="$tmp/late.map" "$tmp/raw"
cp "$tmp/out" "$tmp/two.pb.gz"
lines "$tmp/two.pb.gz" >"$tmp/got"
named 0x7f0000000110 late
prof-symbolize --perf-map="$tmp/late.map" "$tmp/one.pb.gz" | cmp -s - "$tmp/one.pb.gz"
is $? 0 'what has a name keeps it'
prof-symbolize --force --perf-map="$tmp/late.map" "$tmp/one.pb.gz" >"$tmp/forced.pb.gz"
lines "$tmp/forced.pb.gz" >"$tmp/got"
named 0x7f0000000110 late

# A jitdump is told by its first bytes: a header, and code at 0x7f1000000000.
le() { # le BYTES NUMBER
	n=$2
	for _ in $(seq "$1"); do
		# shellcheck disable=SC2059
		printf "\\$(printf '%03o' $((n & 255)))"
		n=$((n >> 8))
	done
}
{
	printf 'DTiJ'
	le 4 1; le 4 40; le 4 62; le 4 0; le 4 1; le 8 0; le 8 0
	le 4 0; le 4 65; le 8 5
	le 4 1; le 4 1; le 8 $((0x7f1000000000)); le 8 $((0x7f1000000000)); le 8 4; le 8 0
	printf 'dumped\0'
	printf '\220\220'
} >"$tmp/jit.dump"
run prof-symbolize --perf-map="$tmp/jit.dump" "$tmp/raw"
cp "$tmp/out" "$tmp/dump.pb.gz"
lines "$tmp/dump.pb.gz" >"$tmp/got"
named 0x7f1000000000 'dumped'

printf '7f0000000100 40 no\377t\n' >"$tmp/odd.map"
prof-symbolize --perf-map="$tmp/odd.map" "$tmp/raw" >"$tmp/odd.pb.gz"
lines "$tmp/odd.pb.gz" >"$tmp/got"
grep -q "\"no$(printf '\357\277\275')t\"" "$tmp/got"
ok $? 'a name that is no UTF-8: a mark in the place' || diag "$tmp/got"

echo junk >"$tmp/junk"
refuses 'not a map' prof-symbolize --perf-map="$tmp/junk" "$tmp/raw"
like "$tmp/err" 'junk: neither a perf map nor a jitdump' 'the reason'
refuses 'no such file' prof-symbolize --perf-map="$tmp/none" "$tmp/raw"
like "$tmp/err" 'none: No such file' 'the reason'
done_testing
