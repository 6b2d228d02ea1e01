#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-diff: the sides, scaling, reports, gates, and inputs that cannot be compared.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/corpus.sh"

# What differs is not chance, and nothing is scaled: one profile a side, of many samples.
pd() {
	prof-diff --norm none --force-single --assume-cv 0 --no-shift "$@"
}

# side NAME CPU_FIB CPU_OLD CPU_NEW: fib, old_only, new_only under main and work
twin() {
	cat <<TWIN
# profpipe text 1
profile
time 1700000000000000000
duration $1
period "cpu" "nanoseconds" 10000000
type "samples" "count"
type "cpu" "nanoseconds" default
mapping 1 0x400000 0x500000 0x0 "/usr/bin/app" "$2" FNLI
mapping 2 0x7f0000000000 0x7f0000100000 0x0 "/usr/lib/libz.so.1" "" -
function 1 "main" "main" "app.c" 10
function 2 "work" "work" "app.c" 20
function 3 "fib" "fib" "fib.c" 5
function 4 "old_only" "old_only" "app.c" 40
function 5 "new_only" "new_only" "app.c" 50
location 1 m1 0x401000 f1:12:0
location 2 m1 0x402000 f3:7:0 f2:25:0
location 3 m1 0x403000 f4:9:0
location 4 m1 0x404000 f5:9:0
location 5 m1 0x405000 f2:30:0
location 6 m2 0x7f0000001000
TWIN
	shift 2
	cat
	echo end
}
twin 10000000000 aa >"$tmp/base.txt" <<'S'
sample 600 6000000000 : 2 1 : "version"="1" "pid"=7
sample 100 1000000000 : 3 1 : "version"="1" "pid"=8
sample 300 3000000000 : 5 1 : "version"="1" "endpoint"="/pay"
S
twin 20000000000 bb >"$tmp/new.txt" <<'S'
sample 900 9000000000 : 2 1 : "version"="2" "pid"=7
sample 50 500000000 : 4 1 : "version"="2" "pid"=9
sample 300 3000000000 : 5 1 : "version"="2" "endpoint"="/pay"
S
cat "$tmp/base.txt" "$tmp/new.txt" >"$tmp/both.txt"

# --- the profile ------------------------------------------------------------------------------
run pd "$tmp/base.txt" "$tmp/new.txt"
is "$status $(wc -l <"$tmp/err")" "0 1" "BASE NEW"
like "$tmp/err" '^prof-diff: cpu: new lasted 2 times as long as base, and nothing is scaled \(--norm seconds\)$' \
	"a note: it lasted longer"
run pd --norm seconds "$tmp/base.txt" "$tmp/new.txt"
is "$status $(wc -c <"$tmp/err")" "0 0" "not with --norm seconds"
run pd "$tmp/base.txt" "$tmp/new.txt"
cp "$tmp/out" "$tmp/diff.pb.gz"
prof-render -f text "$tmp/diff.pb.gz" >"$tmp/out"
is "$(grep -c '^sample -.*"pprof::base"="true"' "$tmp/out") $(grep -c '^sample' "$tmp/out")" "3 6" \
	"base samples are negated and marked"
like "$tmp/out" '^duration 20000000000$' "the duration is the new one's"
like "$tmp/out" '^comment "profpipe: norm=none"$' "the comparison is in the comments"
like "$tmp/out" '^sample 900 9000000000 : .*: "pid"=7 "version"="2"$' "new samples are as they were"
for how in "--base $tmp/base.txt --new $tmp/new.txt" "--new $tmp/new.txt --base $tmp/base.txt" \
	"--base-select version=1 --new-select version=2 $tmp/both.txt"; do
	# shellcheck disable=SC2086
	run pd $how
	same "$tmp/out" "$tmp/diff.pb.gz" "the same by ${how%%[ -]/*}" ||
		prof-render -f text "$tmp/out" | head -n 30 | diag
done
run pd --base-select version=1 --new-select version=2 <"$tmp/both.txt"
same "$tmp/out" "$tmp/diff.pb.gz" "one stream, from standard input"
run pd --base "$tmp/base.txt" "$tmp/base.txt" --new "$tmp/new.txt"
prof-render "$tmp/out" >"$tmp/table"
like "$tmp/table" '^   -3000ms 15.00% .* fib' "several files of a side are added up"
run pd -o "$tmp/x.pb.gz" "$tmp/base.txt" - <"$tmp/new.txt"
is "$status $(wc -c <"$tmp/out")" "0 0" "-o FILE, and NEW from standard input"
same "$tmp/x.pb.gz" "$tmp/diff.pb.gz" "the same again"

# --- one program, another library: not the same build ------------------------------------------
for id in 11 22; do
	twin 10000000000 aa <<-'S' | sed "s/libz.so.1\" \"\"/libz.so.1\" \"$id\"/" >"$tmp/lib$id.txt"
	sample 600 6000000000 : 2 1
	sample 100 1000000000 : 6 1
	S
done
run pd "$tmp/lib11.txt" "$tmp/lib11.txt"
like "$tmp/err" 'both sides are of the same build$' "program and library are the same"
run pd --allow-unsymbolized "$tmp/lib11.txt" "$tmp/lib22.txt"
is "$status $(grep -c 'same build' "$tmp/err")" "0 0" "the library is not"

# --- against itself ---------------------------------------------------------------------------
run pd --report "text:$tmp/self" "$tmp/base.txt" "$tmp/base.txt"
is "$status" 0 "a profile against itself: exit status 0"
like "$tmp/self" '^no function changed$' "nothing changed"
like "$tmp/err" 'both sides are of the same build$' "and the build is the same"
cp "$tmp/out" "$tmp/self.pb.gz"
run pd -q "$tmp/base.txt" "$tmp/base.txt"
same "$tmp/out" "$tmp/self.pb.gz" "the same bytes again"
is "$(prof-render -f folded "$tmp/self.pb.gz" | wc -l)" 0 "no stack is left"
pd -q --report json:- --norm share "$tmp/base.txt" "$tmp/base.txt" >"$tmp/json"
is "$(jq '[.types[].functions[] | .flat.delta, .cum.delta] | map(fabs) | add' "$tmp/json")" 0 \
	"JSON: all zero"

# --- usage ------------------------------------------------------------------------------------
# usage DESCRIPTION MESSAGE ARGUMENTS
usage() {
	what=$1
	message=$2
	shift 2
	refuses "$what" pd "$@" </dev/null
	like "$tmp/err" "$message" "and says so"
}
a=$tmp/base.txt
usage "two reports to one file" '/r: two documents to one file$' --report "text:$tmp/r" \
	--report "json:$tmp/r" "$a" "$a"
usage "a report where the profile goes" '/r: two documents to one file$' -o "$tmp/r" \
	--report "json:$tmp/r" "$a" "$a"
usage "one FILE" 'BASE and NEW expected' "$a"
usage "no FILE" 'BASE and NEW expected'
usage "three FILEs" 'BASE and NEW expected' "$a" "$a" "$a"
usage "a FILE before --base" 'of which side\?' "$a" --base "$a" --new "$a"
usage "--base without FILE" 'no FILE after --base' --base --new "$a"
usage "--new without FILE" 'no FILE after --new' --base "$a" --new
usage "--base alone" 'no FILE after --new' --base "$a"
usage "one selector" 'go together' --base-select a=b "$a"
usage "a type of one side" '--new-select: a type is for both sides: say it by -t$' \
	--base-select a=b --new-select 'cpu{a=c}' "$a"
usage "selectors and sides" 'split one stream' --base-select a=b --new-select a=c --base "$a"
usage "a bad selector" '--new-select: selector' --base-select a=b --new-select 'a="' "$a"
usage "standard input for both" 'standard input can be named once' - -
usage "two documents to standard output" 'one document only' --report text --report json "$a" "$a"
usage "report and pprof to standard output" 'one document only' -o - --report text "$a" "$a"
usage "unknown report" 'codequality, with \[:FILE\], not yaml:x' --report yaml:x "$a" "$a"
usage "report without its file" 'no FILE after the colon' --report text: "$a" "$a"
usage "unknown norm" 'seconds or none, not worth' --norm worth "$a" "$a"
usage "work without counts" 'how much was done' --norm work "$a" "$a"
usage "bad --top" 'not a number' --top x "$a" "$a"
usage "bad --sort" 'flat or cum' --sort name "$a" "$a"
usage "bad type" 'base has no profile of type heap' -t heap "$a" "$a"
usage "no profile in the time" 'base has no profile in the time' --until @1 "$a" "$a"
usage "no such file" 'nothing' "$tmp/nothing" "$a"
usage "base empty" '^prof-diff: base: no profile in input' /dev/null "$a"
usage "new empty" '^prof-diff: new: no profile in input' "$a" /dev/null
for gate in 'total' 'total >' 'total > 2' 'totals > +2%' 'flat:( > +1%' 'label:x > +1%' \
	'new > x2' 'total > x0' 'total > +2% where' 'total > +2% where share > 1%' \
	'total > +2% where share >= x' 'total > +2% and more'; do
	usage "gate '$gate'" '^prof-diff: --gate: gate "' --gate "$gate" "$a" "$a"
done

# --- text report ------------------------------------------------------------------------------
cat >"$tmp/want" <<'REPORT'
cpu, norm none: base 1 profile of 10s, new 1 profile of 20s
total 10000ms -> 12500ms, +2500ms, +25.00%: regressed
  the change is +13.97% to +36.03%
advisory, one profile a side: 1 regressed, 1 new, 1 gone
      base        new      delta  of base verdict    function, flat
    6000ms     9000ms    +3000ms  +30.00% regressed  fib
    1000ms          0    -1000ms  -10.00% gone       old_only
         0      500ms     +500ms   +5.00% new        new_only

regressed fib
  +30.00% of base (+20.99% to +39.01%), x1.5, q < 1e-12
  under main > work
new new_only
  +5.00% of base (+3.36% to +6.64%), q 1.5e-12
  under main
gone old_only
  -10.00% of base (-10.00% to -7.67%), q < 1e-12

with what they call:
regressed work, +30.00% of base (+19.34% to +40.66%)
regressed main, +25.00% of base (+13.97% to +36.03%)

power: with 1+1 replicates a function of 1% of the total had to grow
by 2.4% of it (241% of itself) to be found with 80% probability
in functions of both sides: 90.0% of base, 96.0% of new
other sample types (-t): samples
REPORT
run pd --report text "$tmp/base.txt" "$tmp/new.txt"
same "$tmp/out" "$tmp/want" "text report"
run pd --report text --sort cum -n 1 "$tmp/base.txt" "$tmp/new.txt"
like "$tmp/out" '^ +9000ms +12000ms +\+3000ms +\+30.00% +regressed +work$|^ +9s +12s +\+3s +\+30.00% +regressed +work$' \
	"by cum"
like "$tmp/out" '^\.\.\. and [0-9]+ more that changed less \(--top 0 shows all\)$' "says what is left out"
if command -v script >/dev/null; then
	COLUMNS=70 script -qec "prof-diff --norm none --assume-cv 0 --no-shift -q $tmp/base.txt $tmp/new.txt" /dev/null </dev/null |
		tr -d '\r' >"$tmp/out"
	same "$tmp/out" "$tmp/want" "on a terminal it comes without being asked for"
fi
# names and values that are wide
twin 10000000000 aa >"$tmp/w1.txt" <<'S'
sample 1 6000000000 : 2 1 :
S
twin 10000000000 aa >"$tmp/w2.txt" <<'S'
sample 4611686018427387 4600000000000000000 : 2 1 :
S
long=$(printf '%0200d' 0 | tr 0 x)
sed -i "s/\"fib\" \"fib\"/\"std::$long<int>::fib(\\\\x1b[31m)\" \"fib\"/" "$tmp/w1.txt" "$tmp/w2.txt"
for o in '-t cpu' '-t samples' '--sort cum' '--norm seconds' '--gate total>+1%' '--granularity lines'; do
	# shellcheck disable=SC2086
	run pd $o --report text "$tmp/w1.txt" "$tmp/w2.txt"
	is "$(sed 's/…/./g' "$tmp/out" | awk 'length > 80' | wc -l) $(sed -n "/, \(flat\|cum\)\$/,/^$/p" "$tmp/out" | grep -c fib)" "0 1" \
		"80 columns: $o" || diag "$tmp/out"
done

# --- JSON -------------------------------------------------------------------------------------
run pd --report "text:$tmp/text" --report json:- --gate 'total > +50%' --gate 'warn flat:fib > x1.1' \
	"$tmp/base.txt" "$tmp/new.txt"
is "$(jq -c '[.schema, .norm, .alpha, (.types | length)]' "$tmp/out")" \
	'["profpipe-diff-2","none",0.01,1]' "JSON: head"
jq -c '.types[0] | [.type, .unit, .factor, .mean_of_profiles, .base.matched_share, .new.matched_share, .total,
	.base.profiles, .new.duration_nanos, .new.unnamed_share, .other_types]' "$tmp/out" >"$tmp/got"
cat >"$tmp/want" <<'JSON'
["cpu","nanoseconds",1,false,0.9,0.96,{"base":10000000000,"new":12500000000,"delta":2500000000},1,20000000000,0,["samples"]]
JSON
same "$tmp/got" "$tmp/want" "JSON: a type"
like "$tmp/out" '"time_nanos": 1700000000000000000,$' "JSON: integers are exact"
jq -c '.types[0].functions[] | [.name, .status, .flat.base, .flat.new, .flat.delta, .cum.delta]' \
	"$tmp/out" >"$tmp/got"
cat >"$tmp/want" <<'JSON'
["fib","both",6000000000,9000000000,3000000000,3000000000]
["old_only","gone",1000000000,0,-1000000000,-1000000000]
["new_only","new",0,500000000,500000000,500000000]
["work","both",3000000000,3000000000,0,3000000000]
["main","both",0,0,0,2500000000]
JSON
same "$tmp/got" "$tmp/want" "JSON: functions"
jq -c '.types[0].gates[] | [.gate, .verdict, .item, .value.new, .limit]' "$tmp/out" >"$tmp/got"
cat >"$tmp/want" <<'JSON'
["total > +50%","ok","total",12500000000,15000000000]
["warn flat:fib > x1.1","warn","fib",9000000000,6600000000]
JSON
same "$tmp/got" "$tmp/want" "JSON: gates"
# what text says in units, JSON says in numbers: undone for each row
jq -r '.types[0] as $t | $t.functions[] | select(.flat.delta != 0) | "\(.name) \(.flat.base / 1e6) \(.flat.new / 1e6) \(.flat.delta / 1e6) \(.flat.delta / $t.total.base * 100)"' \
	"$tmp/out" >"$tmp/want"
sed -n '/function, flat/,/^$/p' "$tmp/text" | grep '%' | sed 's/ms//g; s/[+%]//g' |
	awk '{ print $NF, $1 + 0, $2 + 0, $3 + 0, $4 + 0 }' \
	>"$tmp/got"
same "$tmp/got" "$tmp/want" "text and JSON agree"
like "$tmp/text" '^gate ok: total > \+50%$' "text: a gate that holds"
like "$tmp/text" '^gate warns: warn flat:fib > x1.1$' "text: a gate that warns"
like "$tmp/text" '^  fib is 9s, was 6s, may be 6.60s$' "text: and why"

# --- outputs ----------------------------------------------------------------------------------
run pd --report "text:$tmp/t" --report "json:$tmp/j" "$tmp/base.txt" "$tmp/new.txt"
same "$tmp/out" "$tmp/diff.pb.gz" "reports to files: pprof still goes to standard output"
ok "$(($(wc -c <"$tmp/t") == 0 || $(wc -c <"$tmp/j") == 0))" "both are there"
run pd --report json:- -o "$tmp/y.pb.gz" "$tmp/base.txt" "$tmp/new.txt"
same "$tmp/out" "$tmp/j" "report to standard output, pprof to -o"
same "$tmp/y.pb.gz" "$tmp/diff.pb.gz" "both are what they were"
run pd -q -o "$tmp/none/x" "$tmp/base.txt" "$tmp/new.txt"
is "$status $(wc -l <"$tmp/err")" "2 1" "-o into a directory that is not there"
run pd -q --report "text:$tmp/none/x" "$tmp/base.txt" "$tmp/new.txt"
is "$status $(wc -l <"$tmp/err")" "2 1" "--report into one"
if [ -w /dev/full ]; then
	pd -q "$tmp/base.txt" "$tmp/new.txt" >/dev/full 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" "2 1" "full device: pprof"
	pd -q --report text "$tmp/base.txt" "$tmp/new.txt" >/dev/full 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" "2 1" "full device: report"
	pd -q --report json:/dev/full "$tmp/base.txt" "$tmp/new.txt" >/dev/null 2>"$tmp/err"
	is "$? $(wc -l <"$tmp/err")" "2 1" "full device: report by name"
fi
pd -q --report text "$tmp/base.txt" "$tmp/new.txt" >&- 2>"$tmp/err"
is "$? $(wc -l <"$tmp/err")" "2 1" "closed standard output"

# --- gates ------------------------------------------------------------------------------------
# gate STATUS GATE [OPTION…]
gate() {
	want=$1
	what=$2
	shift 2
	run pd --report "text:$tmp/t" --gate "$what" "$@" "$tmp/base.txt" "$tmp/new.txt"
	is "$status" "$want" "gate '$what' $*: $want" || diag "$tmp/err"
}
gate 1 'total > +24.99%'
like "$tmp/t" '^gate FAILED: total > \+24.99%$' "the report is there"
same "$tmp/out" "$tmp/diff.pb.gz" "and the profile"
like "$tmp/err" '^prof-diff: gate failed: total > \+24.99%: total is 12.50s, was 10s, may be 12.50s$' \
	"and the reason on standard error"
gate 0 'total > +25%'
gate 0 'fail total>25%'
gate 1 'total > x1.24'
gate 0 'total > x1.25'
gate 1 'fail total > +10%'
gate 0 'warn total > +10%'
like "$tmp/err" '^prof-diff: gate warns: ' "a warning is said"
gate 1 'total > +0%' -q
is "$(wc -c <"$tmp/err")" 0 "-q: the status alone"
gate 1 'regressed > +29.9%'
gate 0 'regressed > +30%'
gate 0 'regressed > +4.9% where share >= 80%'
like "$tmp/t" '^  nothing has that share$' "nothing is large enough"
gate 1 'regressed > x1.4'
gate 1 'regressed > x1.6'
gate 0 'regressed > x1.6 where share >= 5%'
gate 1 'new > +4.9%'
gate 0 'new > +5%'
gate 1 'flat:^fib$ > +29%'
gate 0 'flat:^fib$ > +30%'
gate 0 'flat:^work$ > +0%'
gate 1 'cum:^work$ > +29%'
gate 1 'flat:a>b|fib > +1%'
gate 1 'label:pid=7 > +29%'
gate 0 'label:pid=7 > +30%'
gate 0 'label:endpoint=/pay > +0%'
gate 0 'flat:^fib$ > +1% where share >= 90%'
gate 2 'flat:^gone_with_the_wind$ > +1%'
like "$tmp/err" '^prof-diff: gate "flat:\^gone_with_the_wind\$ > \+1%" matches nothing$' \
	"a gate that watches nothing is trouble"
# a share that nothing can have, or that is a part to one and a percentage to another
for share in 101% 5 0.05 -1% '' '5% x'; do
	refuses "a share of '$share'" pd --gate "regressed > +1% where share >= $share" \
		"$tmp/base.txt" "$tmp/new.txt"
done
gate 0 'regressed > +1% where share >= 100%'
refuses "one line also where there is something to note" pd --gate 'cum:nowhere > +1%' \
	"$tmp/base.txt" "$tmp/new.txt"
gate 2 'label:pid=70 > +1%'
gate 2 'cum:(a|aa|a+)+[bc]$ > +1%x'
run pd --gate 'total > +1%' --gate 'warn total > +2%' "$tmp/base.txt" "$tmp/new.txt"
is "$status $(grep -c gate "$tmp/err")" "1 2" "several gates"
sed 's/"fib"/"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"/' "$tmp/new.txt" >"$tmp/long.txt"
refuses "a gate that goes wild" pd --force --gate 'flat:^(a|aa|a+)+[bc]$ > +1%' \
	"$tmp/long.txt" "$tmp/long.txt" -q

# --- filters ----------------------------------------------------------------------------------
pd -q --report json:- --focus work --hide '^work$' "$tmp/base.txt" "$tmp/new.txt" >"$tmp/out"
is "$(jq -c '.types[0] | [.total.base, .total.new, (.functions | map(.name) | sort)]' "$tmp/out")" \
	'[9000000000,12000000000,["fib","main"]]' "filters choose what is compared, once"
pd -q --report json:- --granularity files "$tmp/base.txt" "$tmp/new.txt" >"$tmp/out"
is "$(jq -c '.types[0].functions | map(.name) | sort' "$tmp/out")" '["app.c","fib.c"]' "by file"
pd -q --report json:- --granularity binaries "$tmp/base.txt" "$tmp/new.txt" >"$tmp/out"
is "$(jq -c '.types[0].functions | map([.name, .flat.delta])' "$tmp/out")" '[["[app]",2500000000]]' \
	"by binary"
pd -q --report json:- -t samples -s pid=7 "$tmp/base.txt" "$tmp/new.txt" >"$tmp/out"
is "$(jq -c '.types[0] | [.type, .total.base, .total.new]' "$tmp/out")" '["samples",600,900]' \
	"type and selector"

# --- units that convert ---------------------------------------------------------------------------
# milliseconds FILE: the same in another unit, of values and of the period
milliseconds() {
	sed -e 's/"cpu" "nanoseconds"/"cpu" "milliseconds"/' -e 's/^\(period .*\) \([0-9]*\)000000$/\1 \2/' \
		-e 's/^\(sample [0-9]*\) \([0-9]*\)000000 /\1 \2 /' "$1"
}
mkdir "$tmp/ns" "$tmp/ms" "$tmp/both"
cp "$tmp/base.txt" "$tmp/new.txt" "$tmp/ns"
for f in base new; do
	milliseconds "$tmp/$f.txt" >"$tmp/ms/$f.txt"
done
in_units() { # UNIT-OF-BASE UNIT-OF-NEW OPTION…
	cp "$tmp/$1/base.txt" "$tmp/$2/new.txt" "$tmp/both"
	shift 2
	(cd "$tmp/both" && pd -q "$@" base.txt new.txt | cksum)
}
for o in '-o -' '--report json' '-t samples --report json'; do
	# shellcheck disable=SC2086
	is "$(in_units ms ns $o) $(in_units ns ms $o)" "$(in_units ns ns $o) $(in_units ns ns $o)" \
		"milliseconds against nanoseconds: $o"
done
sed 's/^\(sample [0-9]*\) [0-9]* /\1 4000000000000000000 /' "$tmp/ms/new.txt" | awk '!/^sample/ || !n++' >"$tmp/huge.txt"
refuses "what does not fit in the finer unit" pd -q "$tmp/base.txt" "$tmp/huge.txt"
like "$tmp/err" 'values do not fit 64 bits in the finer unit of the two sides$' "and says so"

# --- inputs that cannot be compared (each has its own words) -----------------------------------
incompatible() { # DESCRIPTION MESSAGE BASE NEW [OPTION…]
	what=$1
	message=$2
	shift 2
	refuses "$what" pd -q "$@"
	like "$tmp/err" "$message" "and says so"
}
sed 's/^type "cpu" "nanoseconds" default/type "wall" "seconds"/' "$tmp/new.txt" >"$tmp/other.txt"
incompatible "no type in common" \
	'no profile type in common: base has samples/count,cpu/nanoseconds per cpu/nanoseconds; new has samples/count,wall/seconds per cpu/nanoseconds$' \
	"$tmp/base.txt" "$tmp/other.txt"
incompatible "one side has the type" 'new has no profile of type cpu$' -t cpu \
	"$tmp/base.txt" "$tmp/other.txt"
sed 's/^type "cpu" "nanoseconds" default/type "cpu" "bytes" default/' "$tmp/new.txt" >"$tmp/other.txt"
incompatible "another unit" 'base has samples/count,cpu/nanoseconds .* new has samples/count,cpu/bytes ' \
	"$tmp/base.txt" "$tmp/other.txt"
sed 's/^period "cpu"/period "wall"/' "$tmp/new.txt" >"$tmp/other.txt"
incompatible "another period type" 'new has samples/count,cpu/nanoseconds per wall/nanoseconds$' \
	"$tmp/base.txt" "$tmp/other.txt"
sed '/^duration/a drop "^x$"' "$tmp/new.txt" >"$tmp/other.txt"
incompatible "other frames to drop" 'new has .* dropping \^x\$$' "$tmp/base.txt" "$tmp/other.txt"
incompatible "base is a difference" 'base has negative values: it is a difference already$' \
	"$tmp/diff.pb.gz" "$tmp/new.txt"
incompatible "new is a difference" 'new has negative values' "$tmp/base.txt" "$tmp/diff.pb.gz"
sed 's/"version"="1"/"pprof::base"="true"/' "$tmp/base.txt" >"$tmp/other.txt"
incompatible "marked as a difference" 'base has label pprof::base: it is a difference already$' \
	"$tmp/other.txt" "$tmp/new.txt"
sed '/^sample/d' "$tmp/base.txt" >"$tmp/empty.txt"
incompatible "base has no sample" 'base has no cpu$' "$tmp/empty.txt" "$tmp/new.txt"
incompatible "new has no sample" 'new has no cpu$' "$tmp/base.txt" "$tmp/empty.txt"
sed 's/^sample \([0-9]*\) [0-9]*/sample \1 0/' "$tmp/base.txt" >"$tmp/zero.txt"
incompatible "a total of 0" 'new has no cpu$' "$tmp/base.txt" "$tmp/zero.txt"
incompatible "a selector that fits nothing" 'base has no cpu$' --base-select version=0 \
	--new-select version=2 "$tmp/both.txt"
sed 's/^duration.*/duration 0/' "$tmp/base.txt" >"$tmp/other.txt"
incompatible "seconds without a duration" '--norm seconds: base has no duration$' --norm seconds \
	"$tmp/other.txt" "$tmp/new.txt"
twin 10000000000 bb >"$tmp/unnamed.txt" <<'S'
sample 70 700000000 : 2 1 :
sample 30 300000000 : 6 1 :
S
incompatible "no names" 'cpu: 30% of new has no function names, and builds do not share addresses: run prof-symbolize \(its -v tells which files it lacks\), or --allow-unsymbolized$' \
	"$tmp/base.txt" "$tmp/unnamed.txt"
run pd --allow-unsymbolized "$tmp/base.txt" "$tmp/unnamed.txt"
is "$status" 0 "--allow-unsymbolized goes on"
like "$tmp/err" '^prof-diff: cpu: 30.0% of new has no function names$' "with a note"
sed 's/^sample 70 700000000/sample 2000 20000000000/' "$tmp/unnamed.txt" >"$tmp/other.txt"
run pd "$tmp/base.txt" "$tmp/other.txt"
is "$status" 0 "few without names"
like "$tmp/err" '^prof-diff: cpu: 1.5% of new has no function names$' "a note"
sed 's/^function \([0-9]\) "[a-z_]*"/function \1 "other\1"/' "$tmp/new.txt" >"$tmp/other.txt"
incompatible "another program" 'cpu: only 0% of the cost is in functions that both sides have: the same program\? \(--force\)$' \
	"$tmp/base.txt" "$tmp/other.txt"
run pd --force "$tmp/base.txt" "$tmp/other.txt"
is "$status" 0 "--force goes on"
(cat "$tmp/new.txt"; sed 's/^sample 300.*/sample 3/' "$tmp/new.txt") >"$tmp/bad.txt"
incompatible "a bad profile in the text form" "bad.txt: " "$tmp/base.txt" "$tmp/bad.txt"
prof-merge "$tmp/new.txt" >"$tmp/good.pb.gz"
(cat "$tmp/good.pb.gz"; head -c 100 "$tmp/good.pb.gz") >"$tmp/bad.pb.gz"
incompatible "a truncated member" '^prof-diff: .*/bad.pb.gz: member 2: .* at byte [0-9]+' "$tmp/base.txt" "$tmp/bad.pb.gz"
run pd -q --skip-bad "$tmp/base.txt" "$tmp/bad.pb.gz"
is "$status $(wc -l <"$tmp/err")" "0 1" "--skip-bad names it and goes on"
prof-render -f text "$tmp/out" | grep '^sample' >"$tmp/got"
prof-render -f text "$tmp/diff.pb.gz" | grep '^sample' >"$tmp/want"
same "$tmp/got" "$tmp/want" "with what was good"
sed 's/^period.*/period "cpu" "nanoseconds" 20000000/; s/^sample 900/sample 450/; s/^sample 300/sample 150/; s/^sample 50/sample 25/' \
	"$tmp/new.txt" >"$tmp/half.txt"
run pd -t samples --report json:- "$tmp/base.txt" "$tmp/half.txt"
is "$status $(jq -c '.types[0] | [.factor, .total]' "$tmp/out")" \
	'0 [0.5,{"base":500,"new":625,"delta":125}]' "another period: counts of samples are scaled"
like "$tmp/err" 'samples: the sampling periods differ \(base 10000000, new 20000000\): base is scaled' \
	"with a note"
run pd --report json:- "$tmp/base.txt" "$tmp/half.txt"
is "$status $(jq -c '.types[0] | [.factor, .total.delta]' "$tmp/out")" '0 [1,2500000000]' \
	"times are not"
like "$tmp/err" 'cpu: the sampling periods differ \(base 10000000, new 20000000\)$' "with a note"
# two types, one of them on one side only
sed 's/^type "cpu" "nanoseconds" default/type "alloc_space" "bytes"/; s/^period.*/period "space" "bytes" 512/' \
	"$tmp/base.txt" >"$tmp/heap.txt"
sed 's/^time .*/time 1700000900000000000/' "$tmp/base.txt" >"$tmp/later.txt"
run pd --base "$tmp/base.txt" "$tmp/heap.txt" --new "$tmp/new.txt"
same "$tmp/out" "$tmp/diff.pb.gz" "a type that one side has is left out"
like "$tmp/err" '^prof-diff: only in base, not compared: samples/count,alloc_space/bytes per space/bytes$' \
	"and named"
run pd -q --report "text:$tmp/text" --report "markdown:$tmp/md" --report json:- --base "$tmp/base.txt" "$tmp/heap.txt" \
	--new "$tmp/new.txt"
like "$tmp/text" '^only in base, not compared: samples/count,alloc_space/bytes per space/bytes$' "the report names it"
like "$tmp/md" '^- .only in base, not compared: samples/count,alloc_space/bytes per space/bytes.$' "in Markdown"
is "$(jq -c '[.not_compared, .left_out]' "$tmp/out")" \
	'[["only in base, not compared: samples/count,alloc_space/bytes per space/bytes"],{"base":0,"new":0}]' "and in JSON"
run pd -q -t cpu --until @1700000001 --report "text:$tmp/text" --report json:- --base "$tmp/base.txt" "$tmp/heap.txt" \
	"$tmp/later.txt" --new "$tmp/new.txt"
is "$status $(tail -n 1 "$tmp/text") $(jq -c .left_out "$tmp/out")" \
	'0 left out, of another type or time: 2 profiles of base, 0 of new {"base":2,"new":0}' "what was not asked for is counted"
run pd --base "$tmp/base.txt" "$tmp/heap.txt" --new "$tmp/new.txt" "$tmp/heap.txt"
is "$status $(prof-render -f text "$tmp/out" | grep -c '^profile$')" "0 2" "two types: two profiles"
run pd -q --report markdown --base "$tmp/base.txt" --new "$tmp/base.txt"
is "$(grep -c 'details' "$tmp/out")" 0 "nothing changed: Markdown has nothing to fold"
sed 's/^duration.*/duration 0/' "$tmp/heap.txt" >"$tmp/heap0.txt"
run pd --base "$tmp/heap0.txt" "$tmp/heap0.txt" --new "$tmp/heap0.txt"
like "$tmp/err" 'alloc_space: base adds up 2 profiles without a duration' "counters from the start: a note"

# --- what is there twice -------------------------------------------------------------------------
sed 's/^time .*/time 1700000100000000000/; s/^sample 300 3/sample 310 31/' "$tmp/base.txt" >"$tmp/more1.txt"
refuses "an interval of the base is on the new side too" pd -q --base "$tmp/base.txt" "$tmp/more1.txt" \
	--new "$tmp/new.txt" "$tmp/base.txt"
like "$tmp/err" ': cpu: 1 of 3 intervals is on both sides, which are to be measured apart \(--self\)$' "and says so"
run pd --self --base "$tmp/base.txt" "$tmp/more1.txt" --new "$tmp/new.txt" "$tmp/base.txt"
is "$status" 0 "--self goes on"
run pd "$tmp/base.txt" "$tmp/base.txt"
is "$status" 0 "all intervals are on both sides: a profile against itself"
like "$tmp/err" '^prof-diff: cpu: both sides are the same profiles$' "with a note"
run pd --base "$tmp/base.txt" "$tmp/base.txt" "$tmp/more1.txt" --new "$tmp/new.txt"
is "$status" 0 "an interval twice on one side"
like "$tmp/err" '^prof-diff: cpu: base has 1 profile more than once: that is no further measurement$' "a note"
run pd --base-select 'version=~1|2' --new-select version=2 "$tmp/both.txt"
is "$status" 2 "selectors that choose the same samples"
(cat "$tmp/base.txt"; sed 's/^time .*/time 1700000200000000000/' "$tmp/empty.txt") >"$tmp/idle.txt"
run pd "$tmp/idle.txt" "$tmp/new.txt"
is "$status $(grep -c measure "$tmp/err")" "0 0" "intervals without a sample are not meant"

# --- counters since the start of a process -------------------------------------------------------
# heap MINUTE ALLOCATED IN-USE
heap() {
	cat <<-HEAP
	# profpipe text 1
	profile
	time $((1700000000 + $1 * 60))000000000
	period "space" "bytes" 512
	type "alloc_space" "bytes"
	type "inuse_space" "bytes" default
	function 1 "grow" "grow" "heap.go" 1
	function 2 "keep" "keep" "heap.go" 9
	location 1 m0 0x0 f1:1:0
	location 2 m0 0x0 f2:9:0
	sample $2 $3 : 1 :
	sample 1000 1000 : 2 :
	end
	HEAP
}
heap 0 5000 10 >"$tmp/heap-0.txt"
heap 1 7000 20 >"$tmp/heap-1.txt"
heap 2 9500 60 >"$tmp/heap-2.txt"
heap 10 100 5 >"$tmp/heap-3.txt"
heap 11 4100 15 >"$tmp/heap-4.txt"
# delta OPTION…: total and profiles of each side
delta() {
	run pd --report json:- "$@" --base "$tmp"/heap-[012].txt --new "$tmp"/heap-[34].txt
	jq -c '.types[0] | [.total.base, .total.new, .base.profiles, .new.profiles, .base.duration_nanos]' "$tmp/out"
}
is "$(delta -t alloc_space)" '[24500,6200,3,2,0]' "counters that go on are added up"
delta -t alloc_space >/dev/null
like "$tmp/err" 'alloc_space: base adds up 3 profiles without a duration: .* say --delta' "with a note"
is "$(delta -t alloc_space --delta)" '[4500,4000,2,1,120000000000]' "--delta: what each profile added"
is "$(wc -l <"$tmp/err")" 1 "without that note" || diag "$tmp/err"
is "$(delta -t inuse_space --delta)" '[1040,1015,2,1,120000000000]' "levels are those of the later profiles, as means"
is "$(delta -t alloc_space --delta --norm seconds | cut -d, -f 1,2)" '[2250,4000' "with the time between them"
refuses "--delta: a counter that falls" pd --delta --base "$tmp/heap-0.txt" "$tmp/heap-3.txt" --new "$tmp"/heap-[34].txt
like "$tmp/err" 'heap-3.txt: --delta: alloc_space falls from 6000 to 1100: ' "and says so"
refuses "--delta: an earlier profile after a later one" pd --delta --base "$tmp/heap-1.txt" "$tmp/heap-0.txt" \
	--new "$tmp"/heap-[34].txt
refuses "--delta: one profile" pd --delta "$tmp/heap-0.txt" "$tmp/heap-3.txt"
like "$tmp/err" 'base has one profile of each type: --delta takes differences$' "and says so"
run pd --delta "$tmp/base.txt" "$tmp/new.txt"
same "$tmp/out" "$tmp/diff.pb.gz" "--delta: other profiles pass"

# --- gauges -----------------------------------------------------------------------------------
sed 's/"alloc_space"/"inuse_space"/' "$tmp/heap.txt" >"$tmp/inuse.txt"
run pd --report json:- --base "$tmp/inuse.txt" "$tmp/inuse.txt" "$tmp/inuse.txt" --new "$tmp/inuse.txt"
is "$(jq -c '.types[0] | [.mean_of_profiles, .total, (.functions | map(.flat.delta) | add)]' "$tmp/out")" \
	'[true,{"base":10000000000,"new":10000000000,"delta":0},0]' "levels are means of their profiles"

# --- scaling: against exact sums over every prefix of the folded stacks -------------------------
# tree_check BASE NEW NORM TYPE DESCRIPTION
tree_check() {
	prof-render -f folded -t "$4" "$1" >"$tmp/f0"
	prof-render -f folded -t "$4" "$2" >"$tmp/f1"
	pd -q --force --allow-unsymbolized -t "$4" --norm "$3" -o "$tmp/d.pb.gz" --report "json:$tmp/j" \
		"$1" "$2" && prof-render -f folded -t "$4" "$tmp/d.pb.gz" >"$tmp/f2" || return
	durations=$(jq -r '.types[0] | "\(.base.duration_nanos) \(.new.duration_nanos)"' "$tmp/j")
	awk -v norm="$3" -v durations="$durations" '
		FNR == 1 { file++ }
		{
			v = $NF
			sub(/ [^ ]*$/, "")
			n = split($0, part, ";")
			path = ""
			sum[file, path] += v
			all[path]
			for (i = 1; i <= n; i++) {
				path = path ";" part[i]
				sum[file, path] += v
				all[path]
			}
		}
		END {
			split(durations, d, " ")
			factor = norm == "share" ? sum[2, ""] / sum[1, ""] : d[2] / d[1]
			for (path in all) {
				off = sum[3, path] - (sum[2, path] - sum[1, path] * factor)
				off = off < 0 ? -off : off
				worst = off > worst ? off : worst
				paths++
			}
			printf "%d paths, worst %.3f\n", paths, worst
			exit !(paths > 3 && worst <= 1 + 1e-6 * 0 + (sum[2, ""] > 1e12 ? 1e-3 : 1e-6))
		}' "$tmp/f0" "$tmp/f1" "$tmp/f2" >"$tmp/got"
	ok $? "$5: every subtree within 1 of exact" || diag "$tmp/got"
}
{
	printf '# profpipe text 1\nprofile\nduration 7000000000\ntype "samples" "count"\n'
	awk 'BEGIN {
		srand(1)
		for (i = 1; i <= 60; i++) {
			printf "function %d \"f%d\" \"\" \"\" 0\n", i, i % 20
			printf "location %d m0 0x0 f%d:0:0\n", i, i
		}
		for (i = 0; i < 3000; i++) {
			printf "sample %d :", 1 + (rand() < .05 ? int(rand() * 50) : 0)
			for (k = 1 + int(rand() * 8); k; k--)
				printf " %d", 1 + int(rand() * 60)
			print " :"
		}
	}'
	echo end
} >"$tmp/many.txt"
sed 's/^duration.*/duration 1000000000/; s/^sample \([0-9]*\)/sample 1\1/' "$tmp/many.txt" >"$tmp/more.txt"
tree_check "$tmp/many.txt" "$tmp/more.txt" share samples "share, up"
tree_check "$tmp/more.txt" "$tmp/many.txt" share samples "share, down"
tree_check "$tmp/many.txt" "$tmp/more.txt" seconds samples "seconds, down"
tree_check "$tmp/more.txt" "$tmp/many.txt" seconds samples "seconds, up"
pd -q --norm share --report json:- "$tmp/more.txt" "$tmp/many.txt" >"$tmp/out"
is "$(jq '.types[0] | .total.delta' "$tmp/out") $(jq '[.types[0].functions[] | select(.status != "both")] | length' "$tmp/out")" \
	"0 0" "share: totals are equal, and no function vanishes by rounding"
pd --norm share -q -o "$tmp/s1.pb.gz" "$tmp/more.txt" "$tmp/many.txt"
pd --norm share -q --base "$tmp/more.txt" --new "$tmp/many.txt" >"$tmp/s2.pb.gz"
same "$tmp/s1.pb.gz" "$tmp/s2.pb.gz" "scaled: the same bytes again"
{
	grep -v '^sample\|^end' "$tmp/more.txt"
	grep '^sample' "$tmp/more.txt" | sort
	echo end
} >"$tmp/turned.txt"
pd --norm share -q "$tmp/turned.txt" "$tmp/many.txt" >"$tmp/s2.pb.gz"
same "$tmp/s2.pb.gz" "$tmp/s1.pb.gz" "scaled: whatever the order of the samples"
done_testing
