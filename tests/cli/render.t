#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-render: formats, choice of types, filters, errors.
. "$top/tests/lib/tap.sh"

cat >"$tmp/a.txt" <<'TWIN'
# profpipe text 1
profile
time 1700000000000000000
duration 10000000000
period "cpu" "nanoseconds" 10000000
type "samples" "count"
type "cpu" "nanoseconds" default
comment "a comment"
comment "profpipe: schema=1"
mapping 1 0x400000 0x500000 0x0 "/usr/bin/app" "0123abcd" FNLI
mapping 2 0x7f0000000000 0x7f0000100000 0x0 "/usr/lib/libz.so.1" "" -
function 1 "main" "main" "app.c" 10
function 2 "work" "work" "app.c" 20
function 3 "fib" "fib" "lib/../lib/fib.c" 5
function 4 "tiny" "tiny" "app.c" 40
location 1 m1 0x401000 f1:12:0
location 2 m1 0x402000 f3:7:0 f2:25:0
location 3 m1 0x403000 f3:9:0
location 4 m2 0x7f0000001000
location 5 m1 0x404000 f4:41:0
sample 600 6000000000 : 2 1 : "comm"="app" "pid"=7
sample 100 1000000000 : 3 3 2 1 : "comm"="app" "pid"=8
sample 297 2970000000 : 4 1 : "comm"="other"
sample 3 30000000 : 5 1 : "comm"="other"
end
TWIN

sed 's/^type "cpu" "nanoseconds" default/type "alloc_space" "bytes"/; s/1700000000/1800000000/' \
	"$tmp/a.txt" >"$tmp/heap.txt"

# --- table -------------------------------------------------------------------------------
cat >"$tmp/want" <<'TABLE'
File: app
Build ID: 0123abcd
a comment
Type: cpu
Time: 2023-11-14 22:13:20 UTC
Duration: 10s, Total samples = 10s (  100%)
Showing nodes accounting for 9.97s, 99.70% of 10s total
Dropped 1 node (cum <= 0.05s)
      flat  flat%   sum%        cum   cum%
        7s 70.00% 70.00%         7s 70.00%  fib (inline)
     2.97s 29.70% 99.70%      2.97s 29.70%  [libz.so.1]
         0     0% 99.70%        10s   100%  main
         0     0% 99.70%         7s 70.00%  work
TABLE
run prof-render "$tmp/a.txt"
is "$status" 0 "the table"
same "$tmp/out" "$tmp/want" "table: header, units, order, recursion counted once"
prof-render -f text "$tmp/a.txt" | prof-render >"$tmp/out"
same "$tmp/out" "$tmp/want" "text twin in between: the same table"
run prof-render --no-trim --granularity lines -t samples -n 3 "$tmp/a.txt"
like "$tmp/out" '^       600 60.00% 60.00%        700 70.00%  fib lib/fib.c:7$' \
	"table: by line, paths cleaned"
like "$tmp/out" '^Showing top 3 nodes out of 6$' "table: -n says what it leaves out"
run prof-render --sort cum "$tmp/a.txt"
is "$(sed '1,/flat%/d' "$tmp/out" | awk '{ print $6 }' | tr '\n' ' ')" "main fib work [libz.so.1] " \
	"table: by cum" || diag "$tmp/out"
run prof-render --granularity binaries "$tmp/a.txt"
like "$tmp/out" ' 7.03s 70.30% 70.30%        10s   100%  \[app\]$' "table: binaries"
run prof-render --unit ms -s comm=other "$tmp/a.txt"
like "$tmp/out" ' 2970ms 99.00% 99.00%     2970ms 99.00%  \[libz.so.1\]$' \
	"table: selector, unit"
run prof-render --focus work --hide '^fib$' "$tmp/a.txt"
like "$tmp/out" '^   focus=work$' "table: filters are named"
like "$tmp/out" '^        7s 70.00% 70.00%         7s 70.00%  work$' \
	"table: percentages stay of the whole"
run prof-render --since 2023-11-14T22:13:20Z --until @1700000001 "$tmp/a.txt"
is "$status" 0 "time window: start is inside"
refuses "time window: end is outside" prof-render --until @1700000000 "$tmp/a.txt"
like "$tmp/err" 'no profile in the time asked for' "and says so"
cat "$tmp/a.txt" "$tmp/a.txt" >"$tmp/twice.txt"
run prof-render "$tmp/twice.txt" "$tmp/a.txt"
like "$tmp/out" '^Duration: 30s, Total samples = 30s' "several profiles are added up"

# --- on a terminal -------------------------------------------------------------------------
if command -v script >/dev/null; then
	sed 's/"fib"/"std::vector<int, std::allocator<int> >::emplace_back<int\&>(int\&)"/' \
		"$tmp/a.txt" >"$tmp/names.txt"
	script -qec "COLUMNS=80 prof-render '$tmp/names.txt'" /dev/null </dev/null |
		tr -d '\r' >"$tmp/out"
	like "$tmp/out" ' 70.00%  std::vector::emplace_back \(inline\)$' \
		"terminal: names are shortened to its width"
	is "$(awk 'length > 80' "$tmp/out")" "" "terminal: no line is longer"
	prof-render "$tmp/names.txt" >"$tmp/out"
	like "$tmp/out" 'emplace_back<int&>\(int&\) \(inline\)$' "and in a file they are not"
fi

# --- folded ------------------------------------------------------------------------------
cat >"$tmp/want" <<'FOLDED'
main;[libz.so.1] 2970000000
main;tiny 30000000
main;work;fib 6000000000
main;work;fib;fib;fib 1000000000
FOLDED
run prof-render -o "$tmp/x.folded" "$tmp/a.txt"
same "$tmp/x.folded" "$tmp/want" "folded, by -o's ending"
run prof-render -f folded --no-inlines -t samples "$tmp/a.txt"
like "$tmp/out" '^main;work 600$' "folded: no inlines"

sed '/^sample/d' "$tmp/a.txt" | prof-render -f folded >"$tmp/out"
is "$? $(wc -c <"$tmp/out")" "0 0" "folded: no sample, no line"

# --- text --------------------------------------------------------------------------------
prof-render -f text "$tmp/a.txt" >"$tmp/one"
prof-render -f text "$tmp/one" >"$tmp/two"
same "$tmp/two" "$tmp/one" "text of text is the same"
prof-render -f text "$tmp/twice.txt" >"$tmp/out"
is "$(grep -c '^profile$' "$tmp/out") $(grep -c '^# profpipe text 1$' "$tmp/out")" "2 1" \
	"text: N profiles in, N out, one head"
prof-render -f text -s 'comm=app,pid=8' -t samples "$tmp/a.txt" >"$tmp/out"
is "$(grep -c '^sample' "$tmp/out")" 1 "text: selector"
like "$tmp/out" '^type "samples" "count" default$' "text: the type asked for is the default"
(cat "$tmp/a.txt"; echo garbage) >"$tmp/bad.txt"
run prof-render -f text "$tmp/bad.txt"
is "$status $(grep -c '^end$' "$tmp/out") $(wc -l <"$tmp/err")" "2 1 1" \
	"text: what comes before the bad one is passed on"
mkdir "$tmp/dir"
run prof-render -f text -o "$tmp/dir/none.txt" "$tmp/bad.txt"
is "$status $(find "$tmp/dir" -type f | wc -l)" "2 0" "text: with -o nothing is left"

# a second profile is not touched by what was remembered of the first
prof-render -f text --focus fib --hide '^main$' "$tmp/a.txt" >"$tmp/first"
prof-render -f text --focus fib --hide '^main$' "$tmp/heap.txt" >"$tmp/second"
prof-render -f text --focus fib --hide '^main$' "$tmp/a.txt" "$tmp/heap.txt" >"$tmp/out"
sed 1d "$tmp/second" | cat "$tmp/first" - >"$tmp/want"
same "$tmp/out" "$tmp/want" "text: each profile as if alone"

# --- types -------------------------------------------------------------------------------
run prof-render "$tmp/a.txt" "$tmp/heap.txt"
is "$(grep -c '^Type: ' "$tmp/out") $(grep -c '^$' "$tmp/out")" "2 1" \
	"table: one per profile type, an empty line between"
refuses "folded: two types" prof-render -f folded "$tmp/a.txt" "$tmp/heap.txt"
like "$tmp/err" 'choose by -t: samples/count, cpu/nanoseconds, samples/count, alloc_space/bytes$' \
	"and names them"
run prof-render -f folded -t cpu "$tmp/a.txt" "$tmp/heap.txt"
is "$status" 0 "-t chooses"
refuses "a type that is not there" prof-render -t inuse_space "$tmp/a.txt"
refuses "a type that is not there, text" prof-render -f text -t inuse_space "$tmp/a.txt"

# --- drop_frames -------------------------------------------------------------------------
sed 's/^comment "a comment"/drop "fib"/' "$tmp/a.txt" >"$tmp/drop.txt"
run prof-render -f folded "$tmp/drop.txt" "$tmp/a.txt"
like "$tmp/out" '^main;work 7000000000$' "drop_frames is applied, to its own profile"
like "$tmp/out" '^main;work;fib 6000000000$' "and the profiles are then of one type"
run prof-render -f folded --all-frames "$tmp/drop.txt" "$tmp/a.txt"
like "$tmp/out" '^main;work;fib 12000000000$' "--all-frames"
sed 's/^comment "a comment"/drop "("/' "$tmp/a.txt" >"$tmp/drop.txt"
run prof-render -f folded "$tmp/drop.txt"
is "$status $(wc -l <"$tmp/err")" "0 1" "a bad one is ignored with a note"
is "$(prof-render -f text "$tmp/drop.txt" | grep -c '^sample.* 3 3 2 1 ')" 1 \
	"text keeps all frames" || prof-render -f text "$tmp/drop.txt" | diag

# --- errors ------------------------------------------------------------------------------
refuses "no such file" prof-render "$tmp/nothing"
refuses "empty input" prof-render /dev/null
refuses "bad input" prof-render "$tmp/bad.txt"
refuses "bad selector" prof-render -s 'comm="x' "$tmp/a.txt"
like "$tmp/err" '^prof-render: --select: selector: quote is not closed at byte 6$' "names the byte"
refuses "bad regular expression" prof-render --focus '(' "$tmp/a.txt"
refuses "bad time" prof-render --since yesterday "$tmp/a.txt"
like "$tmp/err" 'such as .*Z, @[0-9]+ or -10m$' "and says what is one"
refuses "bad granularity" prof-render --granularity atoms "$tmp/a.txt"
refuses "bad format" prof-render -f png "$tmp/a.txt"
refuses "bad ending" prof-render -o "$tmp/x.png" "$tmp/a.txt"
refuses "no such unit" prof-render --unit foo "$tmp/a.txt"
like "$tmp/err" 'no unit "foo": ns us ms s hrs, B kB' "and the units that there are"
refuses "a unit of something else" prof-render --unit ms -t samples "$tmp/a.txt"
like "$tmp/err" "^prof-render: --unit=ms does not suit values in count\$" "and of what"
run prof-render --unit ms "$tmp/a.txt" "$tmp/heap.txt"
like "$tmp/out" '7000ms .* fib' "a unit of one of two types: this one has it"
like "$tmp/out" '6.52GB .* fib' "and the other one its own"
printf '\357\273\277' | cat - "$tmp/a.txt" >"$tmp/bom.txt"
refuses "text with a byte order mark" prof-render "$tmp/bom.txt"
like "$tmp/err" 'byte order mark' "is named"
sed 's/"tiny"/"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"/' "$tmp/a.txt" >"$tmp/long.txt"
refuses "wild regular expression" prof-render --focus '^(a|aa|a+)+[bc]$' "$tmp/long.txt"
refuses "wild regular expression, text" prof-render -f text --focus '^(a|aa|a+)+[bc]$' \
	"$tmp/long.txt"
like "$tmp/err" 'needs too many steps$' "and says what is wrong"
run prof-render --skip-bad "$tmp/nothing" "$tmp/a.txt"
is "$status $(wc -l <"$tmp/err")" "0 1" "--skip-bad goes on"
if [ -w /dev/full ]; then
	prof-render "$tmp/a.txt" >/dev/full 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" "2 1" "full device"
fi

# Addresses alone: a hint, once, and only where functions are shown.
raw() { # raw LINES-OF-LOCATION-2: two types, one frame in a file without names, one with them
	cat <<-END
	# profpipe text 1
	profile
	type "samples" "count"
	mapping 1 0x1000 0x2000 0x0 "/usr/bin/app" "ab" -
	mapping 2 0xffffffff81000000 0xffffffff82000000 0x0 "[kernel.kallsyms]_stext" "" F
	function 1 "f" "f" "" 0
	location 1 m1 0x1001
	location 2 m1 0x1002 ${1:-}
	location 3 m2 0xffffffff81000010 f1:0:0
	sample ${2:-5} : 3 1 :
	sample 5 : 3 2 :
	end
	END
}
{ raw; raw | sed 's/"samples"/"faults"/'; } >"$tmp/raw"
hint='prof-render: most frames have no function names: prof-symbolize names them, and its -v tells which files it lacks'
for f in table csv folded; do
	run prof-render -t "$([ "$f" = table ] && echo samples || echo faults)" -f "$f" "$tmp/raw"
	is "$status $(cat "$tmp/err")" "0 $hint" "$f of addresses: a hint"
done
run prof-render "$tmp/raw"
is "$(cat "$tmp/err")" "$hint" 'two types: once'
run prof-render -q "$tmp/raw"
is "$(cat "$tmp/err")" '' 'not with -q'
run prof-render --granularity=addresses "$tmp/raw"
is "$(cat "$tmp/err")" '' 'nor where addresses are asked for'
run prof-render -f text "$tmp/raw"
is "$(cat "$tmp/err")" '' 'nor in the text twin'
for f in tags timeline; do
	run prof-render -f $f "$tmp/raw"
	is "$status $(cat "$tmp/err")" '0 ' "nor in $f, which has no functions"
done
raw 'f1:3:0' >"$tmp/raw"
run prof-render "$tmp/raw"
is "$(cat "$tmp/err")" '' 'nor where half of it has names'
raw 'f1:3:0' 6 >"$tmp/raw"
run prof-render "$tmp/raw"
is "$(cat "$tmp/err")" "$hint" 'but where more has none'
sed 's|"/usr/bin/app"|"[vdso]"|; /location 2/s/ f1.*//' "$tmp/raw" >"$tmp/raw2"
run prof-render "$tmp/raw2"
is "$(cat "$tmp/err")" '' 'nor for what is in no file'
done_testing
