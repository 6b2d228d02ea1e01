#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-symbolize as a filter: what it changes in a profile and what it leaves, streams, errors.
. "$top/tests/lib/tap.sh"

command -v gcc >/dev/null || skip_all 'no gcc'

# A program whose functions lie where we say, so that profiles can be written by hand.
cat >"$tmp/prog.c" <<'END'
static inline __attribute__((always_inline)) int inner(int x)
{
	return x * 7 + (x >> 3);
}
__attribute__((section(".at_a"))) int outer(int x)
{
	return inner(x) + 1;
}
__attribute__((section(".at_b"))) int other(int x)
{
	return x - 1;
}
int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc) + other(argc);
}
END
gcc -g -O2 -no-pie -Wl,--section-start=.at_a=0x500000,--section-start=.at_b=0x501000 \
	-Wl,--build-id=0xabcd01 "$tmp/prog.c" -o "$tmp/prog" || skip_all 'gcc cannot place sections'
off=$(readelf -lW "$tmp/prog" | awk '$1 == "LOAD" && $3 ~ /500000$/ { print $2 }')
[ -n "$off" ] || skip_all 'no segment for the section'

# profile FLAGS [BUILD_ID]: two samples with the program's addresses and everything else that
# a profile may hold
profile() {
	cat <<END
# profpipe text 1
profile
time 1700000000000000000
duration 10000000000
period "cpu" "nanoseconds" 10101010
type "samples" "count"
type "cpu" "nanoseconds" default
comment "profpipe: schema=1"
drop "drop.*"
doc "http://x/"
mapping 1 0x500000 0x502000 $off "$tmp/prog" "${2-abcd01}" $1
mapping 2 0xffffffff81000000 0xffffffff82000000 0x0 "[kernel.kallsyms]_stext" "beef" F
mapping 3 0x7ffd00000000 0x7ffd00002000 0x0 "[vdso]" "" -
mapping 4 0x7f0000000000 0x7f0000010000 0x0 "//anon" "" -
mapping 5 0x7f1000000000 0x7f1000010000 0x0 "" "" -
mapping 6 0x7f2000000000 0x7f2000010000 0x0 "/no/such/file.so" "12" -
function 1 "do_syscall_64" "do_syscall_64" "" 0
function 2 "[truncated]" "[truncated]" "" 0
function 3 "kept" "kept" "kept.c" 3
location 1 m1 0x500000
location 2 m1 0x501000
location 3 m2 0xffffffff81000010 f1:0:0
location 4 m3 0x7ffd00000100
location 5 m4 0x7f0000000100
location 6 m5 0x7f1000000100
location 7 m6 0x7f2000000100
location 8 m0 0x0 f2:0:0
location 9 m1 0x501001 f3:5:0
location 10 m0 0x1234
sample 1 10 : 1 2 8 : "comm"="a" "pid"=12
sample 2 20 : 3 1 : "comm"="b"
sample 3 30 : 4 5 6 7 9 10 : "bytes"=64"bytes"
sample 0 0 : 2 :
end
END
}
text() {
	prof-render -f text "$1"
}

profile - >"$tmp/raw"
run prof-symbolize "$tmp/raw"
is "$status" 0 'exit status'
is "$(cat "$tmp/err")" '' 'silent'
text "$tmp/out" >"$tmp/text"
like "$tmp/text" 'mapping . 0x500000 .* "abcd01" FNLI$' 'flags of the mapping'
like "$tmp/text" 'function . "inner" "inner" ".*/prog.c" 1$' 'the inlined function'
like "$tmp/text" 'function . "outer" "outer" ".*/prog.c" 5$' 'its caller, with its own line'
like "$tmp/text" 'location .* 0x500000 f.*:3:.* f.*:7:' 'inlined first, each with its line'
like "$tmp/text" 'location .* 0x500000 f[0-9]+:3:[1-9][0-9]* f[0-9]+:7:[1-9][0-9]*$' 'and column'
like "$tmp/text" 'location .* 0x501000 f.*:1[01]' 'the other function'

# All but our mapping and its two unnamed locations is as before: take them out of both.
rest() {
	text "$1" | sed -E -e '/"(inner|outer|other)"/d' -e '/ 0x50[01]000/d' \
		-e 's/^(mapping [0-9]+|function [0-9]+|location [0-9]+)//' \
		-e 's/ f[0-9]+/ f/g' -e 's/^(sample .*:).*:/\1/'
}
rest "$tmp/raw" >"$tmp/want"
rest "$tmp/out" >"$tmp/got"
same "$tmp/got" "$tmp/want" 'nothing else is touched'
prof-merge "$tmp/raw" | text - | grep -c '^sample' >"$tmp/want"
prof-merge "$tmp/out" | text - | grep -c '^sample' >"$tmp/got"
same "$tmp/got" "$tmp/want" 'as many samples'

# idempotent, deterministic, and the text twin is as good an input as pprof
prof-symbolize "$tmp/out" >"$tmp/again"
same "$tmp/again" "$tmp/out" 'symbolized once more: the same bytes'
text "$tmp/raw" >"$tmp/raw2"
prof-symbolize "$tmp/raw2" >"$tmp/again"
same "$tmp/again" "$tmp/out" 'from the text twin: the same bytes'

# a mapping that says it is symbolized
for flags in F N L FNLI; do
	profile $flags >"$tmp/raw"
	prof-symbolize "$tmp/raw" | text - >"$tmp/got"
	text "$tmp/raw" >"$tmp/want"
	same "$tmp/got" "$tmp/want" "a mapping with flags $flags is left alone"
done
prof-symbolize --force "$tmp/raw" | text - >"$tmp/got"
like "$tmp/got" '"outer"' '--force: named'
! grep -q '"kept"' "$tmp/got"
ok $? '--force: also what had a name'
profile - | sed "s|$tmp/prog|/gone|" >"$tmp/raw"
prof-symbolize --force "$tmp/raw" | text - >"$tmp/got"
like "$tmp/got" '"kept"' '--force without the file: the old name stays'

# What differed in nothing but names is one and the same then: a row that says it has names,
# and a location that has them, beside ones that do not yet.
profile - >"$tmp/raw"
prof-symbolize "$tmp/raw" | text - | awk '
	/^mapping/ { nm++ }
	/^mapping .* "abcd01" FNLI$/ { copy = $0; sub(/FNLI$/, "-", copy) }
	/^function 1 / { sub(/^mapping [0-9]+/, "mapping " ++nm, copy); print copy }
	/^location/ { nl++ }
	/^location .* 0x501000 / { l = $2 }
	/^sample/ && !done++ { print "location " ++nl " m" nm " 0x501000"; print "sample 1 10 : " l }
	/^sample/ { $0 = "sample 2 20 : " nl }
	{ print }' >"$tmp/alike"
prof-symbolize "$tmp/alike" | text - >"$tmp/got"
is "$(grep -c '^mapping' "$tmp/got") $(grep -c '^location' "$tmp/got") $(grep '^sample' "$tmp/got")" \
	'1 1 sample 9 90 : 1' 'what becomes alike is one: mapping, location and sample'

# fake mappings hold the file's own addresses
cat >"$tmp/fake" <<END
# profpipe text 1
profile
type "samples" "count"
mapping 1 0x0 0xffffffffffffffff 0x0 "$tmp/prog" "" -
location 1 m1 0x500000
sample 1 : 1
end
END
prof-symbolize "$tmp/fake" | text - >"$tmp/got"
like "$tmp/got" '"outer"' 'a mapping of everything: addresses of the file'

# names
cat >"$tmp/names.cc" <<'END'
#include <vector>
namespace n {
template <class T> struct S {
	T get(std::vector<T> v);
};
template <class T> T S<T>::get(std::vector<T> v)
{
	return v[0];
}
template int S<int>::get(std::vector<int>);
}
int main() { }
END
if g++ -g -O1 -no-pie "$tmp/names.cc" -o "$tmp/names" 2>/dev/null; then
	at=$(nm "$tmp/names" | awk '/_ZN1n1SIiE3getE/ { print $1 }')
	sed "s|$tmp/prog|$tmp/names|; s|0x500000|0x$at|" "$tmp/fake" >"$tmp/raw"
	mangled='"_ZN1n1SIiE3getESt6vectorIiSaIiEE"'
	for mode in simple:n::S::get 'templates:n::S<int>::get' \
		'full:n::S<int>::get(std::vector<int, std::allocator<int> >)' \
		'none:_ZN1n1SIiE3getESt6vectorIiSaIiEE'; do
		prof-symbolize --demangle="${mode%%:*}" "$tmp/raw" | text - >"$tmp/got"
		grep -qF "\"${mode#*:}\" $mangled" "$tmp/got"
		ok $? "--demangle=${mode%%:*}" || diag "$tmp/got"
	done
fi
cat >"$tmp/clone.s" <<'END'
	.section .note.GNU-stack,"",@progbits
	.text
	.globl main
	.type main, @function
main:	ret
	.size main, .-main
	.type work.constprop.0, @function
work.constprop.0:
	ret
	.size work.constprop.0, .-work.constprop.0
END
gcc -no-pie "$tmp/clone.s" -o "$tmp/clone"
at=$(nm "$tmp/clone" | awk '$3 ~ "^work" { print $1 }')
sed "s|$tmp/prog|$tmp/clone|; s|0x500000|0x$at|" "$tmp/fake" >"$tmp/raw"
prof-symbolize "$tmp/raw" | text - >"$tmp/got"
like "$tmp/got" '"work" "work.constprop.0"' 'clone: name without, system name with suffix'
like "$tmp/got" '^mapping .* F$' 'a symbol gives a function and nothing else'
prof-symbolize --keep-clones "$tmp/raw" | text - >"$tmp/got"
like "$tmp/got" '"work.constprop.0" "work.constprop.0"' '--keep-clones'

# streams: N in, N out, each passed on before the next is read
profile - >"$tmp/raw"
for i in 1 2 3; do
	sed "s/^time .*/time 170000000${i}000000000/" "$tmp/raw"  >"$tmp/part$i"
	prof-symbolize "$tmp/part$i"
done >"$tmp/want"
run prof-symbolize "$tmp/part1" "$tmp/part2" "$tmp/part3"
same "$tmp/out" "$tmp/want" 'three profiles, three results'
mkfifo "$tmp/in"
prof-symbolize <"$tmp/in" >"$tmp/live" &
pid=$!
exec 3>"$tmp/in"
prof-merge "$tmp/part1" >&3
tries=0
while [ ! -s "$tmp/live" ] && [ "$tries" -lt 200 ]; do
	sleep 0.05
	tries=$((tries + 1))
done
is "$(text "$tmp/live" | grep -c '^profile')" 1 'the first is out before the second comes in'
exec 3>&-
wait "$pid"
is $? 0 'end of input'

# --require
run prof-symbolize --require=33% "$tmp/raw" # 10 + 20 of 60: leaves with names
is "$status" 0 '--require, met: half of the time is named'
run prof-symbolize --require=51% "$tmp/raw"
is "$status" 1 '--require, missed: exit 1'
like "$tmp/err" '50.00%.*51.00%' 'with both figures'
is "$(text "$tmp/out" | grep -c '^profile')" 1 'and the output is there'
run prof-symbolize --require=x "$tmp/raw"
is "$status" 2 '--require=x'
refuses '--demangle=x' prof-symbolize --demangle=x "$tmp/raw"

# bad input
printf '' >"$tmp/empty"
refuses 'no profile' prof-symbolize "$tmp/empty"
refuses 'not a profile' prof-symbolize "$tmp/prog.c"
refuses 'no such file' prof-symbolize "$tmp/nothing"
prof-merge "$tmp/part1" >"$tmp/good.pb.gz"
head -c 100 "$tmp/good.pb.gz" >"$tmp/cut.pb.gz"
run prof-symbolize "$tmp/good.pb.gz" "$tmp/cut.pb.gz" "$tmp/good.pb.gz"
is "$status" 2 'a bad member: exit 2'
is "$(text "$tmp/out" | grep -c '^profile')" 1 'what came before it is out'
like "$tmp/err" 'cut.pb.gz' 'it is named'
run prof-symbolize --skip-bad "$tmp/good.pb.gz" "$tmp/cut.pb.gz" "$tmp/good.pb.gz"
is "$status $(text "$tmp/out" | grep -c '^profile')" '0 2' '--skip-bad: the others'
like "$tmp/err" 'cut.pb.gz' 'it is named'
run prof-symbolize --skip-bad "$tmp/cut.pb.gz"
is "$status" 2 '--skip-bad, none good: exit 2'
run prof-symbolize -o "$tmp/result" "$tmp/good.pb.gz" "$tmp/cut.pb.gz"
is "$status" 2 'a bad member with -o'
[ ! -e "$tmp/result" ]
ok $? 'leaves no result'
is "$(find "$tmp" -name '.*' -type f ! -name .diff | wc -l)" 0 'nor a temporary file'
if [ -w /dev/full ]; then
	run sh -c 'prof-symbolize "$1" >/dev/full' sh "$tmp/raw"
	is "$status $(wc -l <"$tmp/err")" '2 1' 'a full device: exit 2, one line'
fi

# names of files are anybody's
cat >"$tmp/hostile" <<'END'
# profpipe text 1
profile
type "samples" "count"
mapping 1 0x1000 0x2000 0x0 "/x\n\x1b[31m\xff/../../etc/passwd" "zz\x00y" -
mapping 2 0x3000 0x4000 0x0 "/dev/stdin" "" -
mapping 3 0x5000 0x4fff 0x0 "/proc/self/mem" "" -
mapping 4 0x0 0x0 0xffffffffffffffff "/proc/self/exe" "" -
location 1 m1 0x1001
location 2 m2 0x3001
location 3 m3 0xffffffffffffffff
location 4 m4 0xfffffffffffffffe
sample 1 : 1 2 3 4
end
END
if prof-merge "$tmp/hostile" >/dev/null 2>&1; then
	run prof-symbolize -v "$tmp/hostile"
	is "$status" 0 'hostile mappings'
	! LC_ALL=C grep -q '[[:cntrl:]]' "$tmp/err"
	ok $? 'no control characters on the terminal' || diag "$tmp/err"
	run prof-symbolize -v --sysroot "$tmp" --binary /dev/null --debug-dir /dev/null "$tmp/hostile"
	is "$status" 0 'hostile mappings, strange places'
else
	skip 'the reader refuses them' 'hostile mappings'
fi
done_testing
