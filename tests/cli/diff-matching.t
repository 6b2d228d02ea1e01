#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-diff: which functions are the same on both sides, which cost only moved, and what the
# report says it did not compare.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/diff.sh"

make_side 1 -v build=aa >"$tmp/base.txt"
make_side 2 -v build=bb >"$tmp/same.txt"
verdicts "$tmp/base.txt" "$tmp/same.txt" >"$tmp/out"
is "$(jq -c '[.types[0].functions[] | select(.name == "f40") | .flat_test |
	.verdict, .low > -0.0025, .high < 0.0025]' "$tmp/json")" '["unchanged",true,true]' \
	"unchanged: the whole interval is less than --min-effect"

# --- cost that moved: f04 and f09 have other callers -----------------------------------------------
# domain WANT DESCRIPTION [AWK-OPTION…]; $how: options of prof-diff
how=
domain() {
	want=$1 what=$2
	shift 2
	make_side 51 "$@" >"$tmp/d0.txt"
	make_side 52 -v grow='f04=0.4 f09=1.98' "$@" >"$tmp/d1.txt"
	# shellcheck disable=SC2086
	is "$(verdicts "$tmp/d0.txt" "$tmp/d1.txt" $how)" "$want" "$what"
}
stays="f04=improved f09=regressed"
domain "$stays" "other callers, files and packages: not moved"
domain "f04=moved f09=moved" "within a file" -v file='f04=x.c f09=x.c'
domain "pkg.a=moved pkg.b=moved" "within a package" -v name='f04=pkg.a f09=pkg.b'
domain "app::lex::a=moved app::parse::b=moved" "within a namespace" -v name='f04=app::lex::a f09=app::parse::b'
domain "app::M<a::b>::f=improved bpp::M<a::b>::f=regressed" "not within what a template is of" \
	-v name='f04=app::M<a::b>::f f09=bpp::M<a::b>::f'
domain "example.com/app/lex.a=moved example.com/app/parse.b=moved" "within a module of Go" \
	-v name='f04=example.com/app/lex.a f09=example.com/app/parse.b'
domain "example.com/lex.a=improved example.com/parse.b=regressed" "not on a host" \
	-v name='f04=example.com/lex.a f09=example.com/parse.b'
domain "f04=moved f09=moved" "within a label" -v part='f04=x f09=x'
domain "$stays" "not by a label that most of the cost has" -v part='f00=x f01=x'
domain "$stays" "nor by one that all of it has" -v host=1
domain "$stays" "nor by one with a value for each sample" -v part='f04=x f09=x' -v ids=1
how='--names raw'
domain "work.isra.0=moved work.part.1=moved" "within the clones of a function" \
	-v name='f04=work.isra.0 f09=work.part.1'
how=
# main calls all of it, on one host, and what rises and falls by much has no more in common
make_side 51 -v host=1 >"$tmp/d0.txt"
make_side 52 -v host=1 -v grow='f00=0.3 f01=1.87' >"$tmp/d1.txt"
is "$(verdicts "$tmp/d0.txt" "$tmp/d1.txt")" "f00=improved f01=regressed" "not within the whole program"

# --- lines: by their distance from where the function begins ------------------------------------------
# lined START COUNTS-2-BELOW COUNTS-5-BELOW: a function of two lines, and one whose start is not told
lined() {
	awk -v start="$1" -v two="$2" -v five="$3" 'BEGIN {
		for (r = 0; r < 5; r++) {
			printf "# profpipe text 1\nprofile\ntime %d000000000\nduration 10000000000\n", 17e8 + 10 * r
			print "period \"cpu\" \"nanoseconds\" 10000000\ntype \"samples\" \"count\""
			printf "mapping 1 0x400000 0x500000 0x0 \"/usr/bin/app\" \"%d\" FNLI\n", start
			printf "function 1 \"work\" \"work\" \"w.c\" %d\nfunction 2 \"idle\" \"idle\" \"w.c\" 0\n", start
			printf "location 1 m1 0x401000 f1:%d:0\nlocation 2 m1 0x401100 f1:%d:0\n", start + 2, start + 5
			print "location 3 m1 0x401200 f2:7:0"
			printf "sample %d : 1\nsample %d : 2\nsample %d : 3\nend\n", two + r % 2, five + r % 3, 5000 + r % 2
		}
	}'
}
lines_seen() {
	jq -r '[.types[0].functions[].name] | sort | join(" ")' "$tmp/json"
}
how='--norm none --granularity lines'
lined 10 100 100 >"$tmp/l0.txt"
lined 40 100 200 >"$tmp/l1.txt"
# shellcheck disable=SC2086
is "$(verdicts "$tmp/l0.txt" "$tmp/l1.txt" $how)" "work w.c:45=regressed" "lines, of a function that begins later"
# shellcheck disable=SC2086
is "$(prof-diff -q $how "$tmp/l0.txt" "$tmp/l1.txt" | prof-render -f csv --granularity lines | cut -d, -f1,2,10 | tail -n +2 | xargs)" \
	"504,1004,work w.c:45" "in the pprof output as well: the new side's"
# shellcheck disable=SC2086
prof-diff -q $how --report text --report "markdown:$tmp/out.md" "$tmp/l0.txt" "$tmp/l1.txt" >"$tmp/out"
like "$tmp/out" 'line, flat$' "the text report is of lines"
like "$tmp/out.md" '^\| verdict .* \| line \|$' "and so is the table"
# shellcheck disable=SC2086
verdicts "$tmp/l0.txt" "$tmp/l1.txt" $how --names raw >"$tmp/out"
is "$(lines_seen)" "idle w.c:7 work w.c:12 work w.c:15 work w.c:42 work w.c:45" "--names raw: lines as they are"
lined 10 200 100 >"$tmp/l0.txt"
lined 40 100 200 >"$tmp/l1.txt"
# shellcheck disable=SC2086
is "$(verdicts "$tmp/l0.txt" "$tmp/l1.txt" $how)" "work w.c:42=moved work w.c:45=moved" "moved: within a function's lines"
# two functions of one name and file: which is which?
sed -e 's/^function 2.*/function 2 "work" "work" "w.c" 90/' "$tmp/l1.txt" >"$tmp/l2.txt"
# shellcheck disable=SC2086
prof-diff -q $how --report json:- --force "$tmp/l0.txt" "$tmp/l2.txt" >"$tmp/json"
is "$(lines_seen)" \
	"idle w.c:7 work w.c:12 work w.c:15 work w.c:42 work w.c:45 work w.c:7" "not where there are two of a name"
how=

# --- other names: when not to guess ---------------------------------------------------------------
renamed() { # FILE: what the report says has another name
	prof-diff -q --report json:- "$tmp/base.txt" "$1" |
		jq -r '[.types[0].functions[] | select(.renamed_from) | "\(.renamed_from)=\(.name)"] | join(" ")'
}
sed 's/"handler2"/"handle_two"/g' "$tmp/same.txt" >"$tmp/renamed.txt"
is "$(renamed "$tmp/renamed.txt")" "handler2=handle_two" "one that has all its neighbours"
awk '/^profile/ { k++ } { gsub(/"handler2"/, k % 2 ? "\"handle_two\"" : "\"handle_too\""); print }' \
	"$tmp/same.txt" >"$tmp/two.txt"
is "$(renamed "$tmp/two.txt")" "" "not where two are as like it"
sed 's/"f05"/"f5"/g' "$tmp/same.txt" >"$tmp/few.txt"
is "$(renamed "$tmp/few.txt")" "" "nor by a caller and a file alone"

# --- inlined frames on one side -------------------------------------------------------------------
# f00, f04 … are inlined into handler0
sed 's/^location \([0-9]*\) m1 \(0x[0-9a-f]*\) f\(6\|10\|14\):1:0$/& f2:1:0/' "$tmp/same.txt" >"$tmp/inlined.txt"
sed 's/FNLI$/FNL/' "$tmp/base.txt" >"$tmp/plain.txt"
run prof-diff --names raw -o /dev/null --report "json:$tmp/json" "$tmp/plain.txt" "$tmp/inlined.txt"
like "$tmp/err" 'cpu: only new has inlined frames: the functions in them seem new \(--no-inlines\)$' \
	"only one side has inlined frames, raw names: a note"
is "$(jq -c '.types[0] | [.inlined_only_in, .inlined_folded]' "$tmp/json")" '["new",false]' "and in JSON"
run prof-diff --names raw -o /dev/null "$tmp/inlined.txt" "$tmp/plain.txt"
like "$tmp/err" 'only base has inlined frames: the functions in them seem gone' "the other way round"
# to a side that was named without them, handler0 is all there is
sed 's/^location \([0-9]*\) m1 \(0x[0-9a-f]*\) f\(6\|10\|14\):1:0$/location \1 m1 \2 f2:1:0/' "$tmp/plain.txt" >"$tmp/outer.txt"
for how in "outer inlined new" "inlined outer base"; do
	# shellcheck disable=SC2086
	set -- $how
	run prof-diff --report "text:$tmp/text" --report "json:$tmp/json" -o "$tmp/d.pb.gz" "$tmp/$1.txt" "$tmp/$2.txt"
	like "$tmp/err" "^prof-diff: cpu: only $3 has inlined frames: they count as what they are inlined into\$" \
		"only $3 has inlined frames: a note"
	like "$tmp/text" "^only $3 has inlined frames: they count as what they are inlined into\$" "in the report"
	is "$(jq -c '.types[0] | [.inlined_only_in, .inlined_folded]' "$tmp/json")" "[\"$3\",true]" "in JSON"
	is "$(jq -c '[.functions, (.types[0].functions | map(select(.status != "both") | .name))]' "$tmp/json")" "[[],[]]" \
		"nothing is found, nor new or gone"
	run prof-diff -q --no-inlines -o "$tmp/d2.pb.gz" "$tmp/$1.txt" "$tmp/$2.txt"
	prof-render -f text "$tmp/d.pb.gz" >"$tmp/got"
	prof-render -f text "$tmp/d2.pb.gz" >"$tmp/want"
	same "$tmp/got" "$tmp/want" "and the profile is that of --no-inlines"
done
run prof-diff -o /dev/null --no-inlines "$tmp/plain.txt" "$tmp/inlined.txt"
is "$status $(grep -c inlined "$tmp/err")" "0 0" "not where they are not compared"
run prof-diff -o /dev/null "$tmp/base.txt" "$tmp/inlined.txt"
is "$status $(grep -c inlined "$tmp/err")" "0 0" "nor where they were looked for"

# --- a change of most of the cost would not be seen ------------------------------------------------
make_side 4 -v grow='f00=0.01 f01=0.01 f02=0.01' >"$tmp/cheap.txt"
median='cpu: most functions have %s times their share of the total, which is taken for no change'
for how in "base.txt cheap.txt 1.29" "cheap.txt base.txt 0.778"; do
	# shellcheck disable=SC2086
	set -- $how
	run prof-diff -o /dev/null "$tmp/$1" "$tmp/$2"
	# shellcheck disable=SC2059
	like "$tmp/err" "$(printf "$median" "$3")" "$1 against $2: what most functions did is told"
done
run prof-diff -o /dev/null --norm seconds "$tmp/base.txt" "$tmp/cheap.txt"
is "$status $(grep -c 'most functions' "$tmp/err")" "0 0" "where it is used"
run prof-diff -o /dev/null "$tmp/base.txt" "$tmp/same.txt"
is "$status $(grep -c 'most functions' "$tmp/err")" "0 0" "and much"

# --- what it was not ------------------------------------------------------------------------------
verdicts "$tmp/base.txt" "$tmp/same.txt" --work 1 >"$tmp/out"
is "$(cat "$tmp/out")$(jq -c '.types[0] | [.norm, .factor]' "$tmp/json")" '["work",1]' \
	"--work 1: each profile is of the same amount"
is "$(prof-diff -q --report text --norm share "$tmp/base.txt" "$tmp/same.txt" | grep -c ': not assessed (no --work)$')" \
	1 "a total that is made equal is not assessed"
for power in 0.5 0.8 0.99; do
	prof-diff -q --power $power --report text --report "json:$tmp/json" "$tmp/base.txt" "$tmp/same.txt" |
		grep -oE 'with [0-9]+% probability'
	jq '.types[0].functions[] | select(.name == "f05") | .flat_test.detectable' "$tmp/json" >>"$tmp/least"
done >"$tmp/out"
is "$(tr '\n' ' ' <"$tmp/out")" 'with 50% probability with 80% probability with 99% probability ' "--power is what the report says"
is "$(sort -g "$tmp/least" | uniq | cmp - "$tmp/least" && wc -l <"$tmp/least")" 3 "and takes a larger rise the more it is"
# the last profile of the new side has more of a rise than the others: without it, it is too small
make_side 3 -v grow='f05=2' | awk '/^profile/ { k++ }
	k == 6 && /^sample/ && $5 == 11 { $2 = int($2 * 1.5); $3 = $2 "0000000" } { print }' >"$tmp/burst.txt"
burst() { # burst OPTION…: report in $tmp/json and $tmp/out
	prof-diff -q --norm seconds --report "json:$tmp/json" --report text "$@" \
		"$tmp/base.txt" "$tmp/burst.txt" >"$tmp/out"
}
burst --min-effect 4.4%
like "$tmp/out" '^  most of it is in one replicate \(\+3\.[0-9]+% without\): ' "one replicate is what makes a finding"
is "$(jq -r '.types[0].functions[] | select(.name == "f05") | [.verdict, .largest_part_by, .effect_without < 0.044] |
	map(tostring) | join(" ")' "$tmp/json")" "regressed $tmp/burst.txt: profile 6#12 true" "JSON names it"
burst
is "$(grep -c '^regressed f05' "$tmp/out") $(grep -c 'most of it' "$tmp/out")" "1 0" "a finding also without it"

# left_out DESCRIPTION LINE BASE NEW [OPTION…]: the end of the report
left_out() {
	what=$1 line=$2
	shift 2
	prof-diff -q --report text "$@" >"$tmp/out"
	like "$tmp/out" "$line" "left out: $what"
}
(cat "$tmp/same.txt"; sed -n '1,/^end/p' "$tmp/same.txt" |
	sed 's/^time .*/time 1700009000000000000/; /^sample/d') >"$tmp/idle.txt"
left_out "an interval without samples" '^left out: 1 profiles without a sample$' "$tmp/base.txt" "$tmp/idle.txt"
sed 's/^location 15 m1 \(0x[0-9a-f]*\) .*/location 15 m1 \1/' "$tmp/same.txt" >"$tmp/unnamed.txt"
left_out "code without names" '^not compared by function: without names are 0% of base, [0-9.]+% of new$' \
	"$tmp/base.txt" "$tmp/unnamed.txt"
make_side 6 -v host=3 >"$tmp/h0.txt"
make_side 7 -v host=3 | sed 's/"host"="h2"/"host"="h9"/' >"$tmp/h1.txt"
left_out "hosts of one side" '^left out: 2 replicates without a twin$' --pair-by host "$tmp/h0.txt" "$tmp/h1.txt"

# --- every key of a report is in the manual page ----------------------------------------------------
# documented BASE NEW OPTION…: keys that are not
documented() {
	prof-diff -q --report json:- "$@" |
		jq -r '[paths | map(strings) | .[]] | unique | .[]' >"$tmp/keys"
	while read -r key; do
		grep -qE "^\.(It )?Va (.* )?$key( |\$)" "$top/tools/diff/prof-diff.1" || echo "$key"
	done <"$tmp/keys"
}
is "$(documented --by endpoint --by subtree --gate 'total > +1%' --norm seconds "$tmp/base.txt" "$tmp/burst.txt")" "" \
	"JSON: all keys, of findings, families and gates"
[ "$(wc -l <"$tmp/keys")" -gt 50 ]
ok $? "which are $(wc -l <"$tmp/keys")"
is "$(documented "$tmp/base.txt" "$tmp/renamed.txt")$(documented "$tmp/d0.txt" "$tmp/d1.txt")" "" \
	"of what has another name, and what moved"
done_testing
