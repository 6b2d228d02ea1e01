#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-diff on replicates: verdicts, normalization, moved and renamed cost, gates and waivers,
# and all reports. The figures of the test itself are in tests/unit/stat_test.c.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/diff.sh"

make_side 1 -v build=aa >"$tmp/base.txt"
make_side 2 -v build=bb >"$tmp/same.txt"
make_side 3 -v build=bb -v grow='f05=1.5' >"$tmp/slow.txt"

# --- the verdicts -----------------------------------------------------------------------------
is "$(verdicts "$tmp/base.txt" "$tmp/same.txt")" "" "the same build: nothing is found"
is "$(jq -c '.types[0] | [.norm, .advisory, .base.replicates, .new.replicates]' "$tmp/json")" \
	'["stable",false,6,6]' "by six replicates a side, stable"
is "$(jq '[.types[0].functions[].flat_test.verdict] | unique | inside(["inconclusive", "unchanged"])' \
	"$tmp/json")" true "each function is unchanged, or nobody knows"
is "$(verdicts "$tmp/base.txt" "$tmp/slow.txt")" "f05=regressed" "slower by half in one function"
is "$(jq -c '.types[0].functions[] | select(.name == "f05") | .flat_test |
	[.low < .effect, .effect < .high, .q < 0.01, .relative > 0.4, .relative < 0.6]' "$tmp/json")" \
	'[true,true,true,true,true]' "and by how much"
is "$(jq -r '.functions[] | select(.name == "handler1") | .cum_verdict' "$tmp/json")" regressed \
	"its caller costs more with what it calls"
is "$(verdicts "$tmp/slow.txt" "$tmp/base.txt")" "f05=improved" "the other way round"
for norm in share seconds none; do
	is "$(verdicts "$tmp/base.txt" "$tmp/slow.txt" --norm "$norm" | tr ' ' '\n' | grep -c '^f05=reg')" 1 \
		"--norm $norm finds it too"
done
is "$(verdicts "$tmp/base.txt" "$tmp/slow.txt" --min-effect 20%)" "" "--min-effect: too little"
is "$(verdicts "$tmp/base.txt" "$tmp/slow.txt" --alpha 0.000000001)" "" "--alpha: too uncertain"
prof-diff -q --report json:"$tmp/again" "$tmp/base.txt" "$tmp/slow.txt" >"$tmp/d1"
prof-diff -q --report json:"$tmp/again2" "$tmp/base.txt" "$tmp/slow.txt" >"$tmp/d2"
same "$tmp/again" "$tmp/again2" "the same report again"
same "$tmp/d1" "$tmp/d2" "and the same profile"
prof-render -f text "$tmp/d1" >"$tmp/out"
like "$tmp/out" '^comment "profpipe: verdict=regressed name=f05"$' "the profile has the verdict"
like "$tmp/out" '^comment "profpipe: tested=[0-9]+"$' "and that others were tested"
make_side 3 -v grow='f05=0' >"$tmp/gone.txt"
is "$(verdicts "$tmp/base.txt" "$tmp/gone.txt")" "f05=gone" "gone"
is "$(verdicts "$tmp/gone.txt" "$tmp/base.txt")" "f05=new" "new"

# one function ten times cheaper must not make the others dearer
make_side 4 -v grow='f00=0.1' >"$tmp/cheap.txt"
is "$(verdicts "$tmp/base.txt" "$tmp/cheap.txt")" "f00=improved" "cheaper elsewhere: stable"
ok "$((1 - $(verdicts "$tmp/base.txt" "$tmp/cheap.txt" --norm share | grep -c regressed)))" \
	"by share, others seem dearer"

# --- few functions --------------------------------------------------------------------------------
# small SECONDS COUNT…: six profiles of as many functions, their counts varying by a twentieth
small() {
	awk -v seconds="$1" -v counts="$2" 'BEGIN {
		f = split(counts, c, " ")
		for (j = 0; j < 6; j++) {
			printf "# profpipe text 1\nprofile\ntime %d000000000\n", 1700000000 + 10 * j
			printf "duration %d000000000\ntype \"samples\" \"count\"\n", seconds
			for (i = 1; i <= f; i++)
				printf "function %d \"f%d\" \"\" \"\" 0\nlocation %d m0 0x0 f%d:0:0\n", i, i, i, i
			for (i = 1; i <= f; i++)
				if (c[i])
					printf "sample %d : %d :\n", c[i] * (1 + ((i * 5 + j * 7) % 6 - 2.5) / 50), i
			print "end"
		}
	}'
}
# few VERDICTS DESCRIPTION SECONDS-BASE "COUNT…" SECONDS-NEW "COUNT…"
few() {
	small "$3" "$4" >"$tmp/few0.txt"
	small "$5" "$6" >"$tmp/few1.txt"
	is "$(verdicts "$tmp/few0.txt" "$tmp/few1.txt" --force)" "$1" "few functions: $2"
}
few "f1=improved" "one fell, the others did not rise" 10 "4000 2000 500 300" 10 "1000 2000 500 300"
few "f1=improved" "not by the time" 0 "4000 2000 500 300" 0 "1000 2000 500 300"
few "f1=improved" "nor under half of the load" 10 "4000 2000 2000 900 800" 10 "500 1000 1000 450 400"
few "f2=regressed" "one rose, the others did not fall" 10 "4000 2000 500 300" 10 "4000 4000 500 300"
few "" "the load doubled" 10 "4000 2000 500 300" 10 "8000 4000 1000 600"
few "f1=improved" "of two, the time tells which" 10 "4000 2000" 10 "2000 2000"
few "f2=regressed" "or that it was the other one" 10 "4000 2000" 10 "4000 4000"
few "" "of two that are all of a CPU, nobody knows" 10 "4000 2000" 10 "3000 3000"
few "" "two of four doubled, or two were halved: nobody knows" 0 "2000 2000 2000 2000" 0 "1000 1000 2000 2000"
few "" "of two without a time" 0 "4000 2000" 0 "2000 2000"
is "$(jq -c '.types[0] | [.norm, .functions_tested, .total_test]' "$tmp/json")" '["share",2,null]' \
	"nothing is found by shares alone"
run prof-diff --gate 'regressed > +1%' --report "text:$tmp/text" "$tmp/few0.txt" "$tmp/few1.txt"
is "$status $(jq '.types[0].scale_unknown' "$tmp/json")" "0 true" "and no gate fails by them"
like "$tmp/text" '^too few functions to tell what rose from what the others fell by: --work$' "the report says so"
like "$tmp/err" '^prof-diff: gate inconclusive: regressed > \+1%: f2 is ' "which says that it is not known"
verdicts "$tmp/few0.txt" "$tmp/few1.txt" --norm share >"$tmp/out"
like "$tmp/out" '^f1=improved f2=regressed$' "--norm share has its way"
few "f2=regressed" "nor is seventy times as much for want of a scale" 0 "4000 2" 0 "4000 140"
few "" "but eight times may be" 0 "4000 20" 0 "4000 160"
small 10 4000 | awk '/^sample/ { n++; $2 *= n % 3 + 1 } { print }' >"$tmp/few0.txt"
small 10 4000 | awk '/^sample/ { n++; $2 *= n % 2 + 2 } /^time/ { sub(/17/, "18") } { print }' >"$tmp/few1.txt"
is "$(verdicts "$tmp/few0.txt" "$tmp/few1.txt" --norm seconds)" "" "few functions: one, by seconds that differ"
is "$(jq '.types[0].cv_between_replicates > 0.2' "$tmp/json")" true "which the report says"
sed 's/^time 17/time 18/; /^sample/s/ [0-9]*/ 1/' "$tmp/few0.txt" >"$tmp/few1.txt"
verdicts "$tmp/few0.txt" "$tmp/few1.txt" --norm seconds >"$tmp/out"
is "$(jq '[.types[0].functions[].flat_test.low] | min' "$tmp/json")" -1 "nothing falls by more than it was"
few "f1=gone f3=new" "what is new or gone is so by any measure" 0 "1000 2000 0" 0 "0 2000 500"

# --- work ---------------------------------------------------------------------------------------
# twice the load, twice the work
make_side 5 -v load=2 >"$tmp/busy.txt"
is "$(verdicts "$tmp/base.txt" "$tmp/busy.txt" --work base=1000,new=2000)" "" "twice the work: nothing"
is "$(jq -r '.types[0] | .norm, (.factor > 1.99 and .factor < 2.01)' "$tmp/json" | xargs)" "work true" \
	"the base counts double"
verdicts "$tmp/base.txt" "$tmp/busy.txt" --work base=1000,new=1000 >"$tmp/out"
like "$tmp/out" 'f00=regressed' "the same work: all cost double"
printf '# requests\nbase 1000\nnew 2000\n' >"$tmp/work"
is "$(verdicts "$tmp/base.txt" "$tmp/busy.txt" --work "$tmp/work")" "" "counts from a file"
printf 'base.txt 1000\nbusy.txt 2000\n' >"$tmp/work"
is "$(verdicts "$tmp/base.txt" "$tmp/busy.txt" --work "$tmp/work")" "" "by the names of the inputs"
prof-diff --work base=1000,new=2000 "$tmp/base.txt" "$tmp/busy.txt" 2>"$tmp/err" >/dev/null
like "$tmp/err" '^prof-diff: cpu: one count of work a side does not say how runs differ: ' "a count for a side: a note"
prof-diff --work "$tmp/work" --replicate-by file --base "$tmp/base.txt" "$tmp/same.txt" --new "$tmp/busy.txt" \
	2>"$tmp/err" >/dev/null
is "$? $(grep -c 'of work' "$tmp/err")" "2 1" "a file without its count"
printf 'base.txt 1000\nsame.txt 1000\nbusy.txt 2000\n' >"$tmp/work"
prof-diff --work "$tmp/work" --replicate-by file --report "json:$tmp/json" -o /dev/null \
	--base "$tmp/base.txt" "$tmp/same.txt" --new "$tmp/busy.txt" 2>"$tmp/err"
is "$? $(grep -c 'of work' "$tmp/err") $(jq -c '[.types[0] | .base.replicates, .new.replicates]' "$tmp/json")" \
	"0 0 [2,1]" "a count for each file: no note"
printf 'base.txt 1000\n' >"$tmp/work"
refuses "a file without counts" prof-diff -q --work "$tmp/work" "$tmp/base.txt" "$tmp/busy.txt"
printf 'base x\n' >"$tmp/work"
refuses "a count that is none" prof-diff -q --work "$tmp/work" "$tmp/base.txt" "$tmp/busy.txt"
refuses "no such file of counts" prof-diff -q --work "$tmp/nothing" "$tmp/base.txt" "$tmp/busy.txt"
for bad in base=1 base=1,new=0 base=1,new=x new=1,old=2 base=1e300,new=1e-300 base=1,new=1e10; do
	refuses "--work $bad" prof-diff -q --work "$bad" "$tmp/base.txt" "$tmp/busy.txt"
done
refuses "work with another norm" prof-diff -q --work 1 --norm share "$tmp/base.txt" "$tmp/busy.txt"
refuses "a gate on a total that is made equal" prof-diff -q --norm share --gate 'total > +1%' \
	"$tmp/base.txt" "$tmp/busy.txt"

# --- replicates and pairs ------------------------------------------------------------------------
make_side 6 -v host=3 -v hostbias=0.5 >"$tmp/hosts0.txt"
make_side 7 -v host=3 -v hostbias=0.5 -v grow='f05=1.5' >"$tmp/hosts1.txt"
for by in host label:host "host,"; do
	case $by in
	*,) refuses "--replicate-by $by" prof-diff -q --replicate-by "$by" "$tmp/hosts0.txt" "$tmp/hosts1.txt" ;;
	*)
		verdicts "$tmp/hosts0.txt" "$tmp/hosts1.txt" --replicate-by "$by" >/dev/null
		is "$(jq -c '.types[0] | [.base.replicates, .new.replicates]' "$tmp/json")" '[3,3]' \
			"--replicate-by $by: three hosts"
		;;
	esac
done
verdicts "$tmp/hosts0.txt" "$tmp/hosts1.txt" --replicate-by time:30s >/dev/null
is "$(jq .types[0].base.replicates "$tmp/json")" 3 "--replicate-by time:30s: windows since the epoch"
verdicts "$tmp/hosts0.txt" "$tmp/hosts1.txt" --replicate-by file >/dev/null
is "$(jq -c '.types[0] | [.base.replicates, .advisory]' "$tmp/json")" '[1,true]' "--replicate-by file: one"
is "$(verdicts "$tmp/hosts0.txt" "$tmp/hosts1.txt" --pair-by host)" "f05=regressed" \
	"hosts that differ among themselves, as pairs"
is "$(jq .types[0].paired "$tmp/json")" true "the report says so"
refuses "pairs without a twin" prof-diff -q --pair-by nothing "$tmp/hosts0.txt" /dev/null
refuses "pairs of profiles" prof-diff -q --pair-by profile "$tmp/hosts0.txt" "$tmp/hosts1.txt"

# slices of one run are less different than runs
one='are of one host or run'
prof-diff "$tmp/base.txt" "$tmp/same.txt" 2>"$tmp/err" >/dev/null
is "$(grep -c "$one" "$tmp/err")" 0 "nothing is known of the hosts: no word of it"
sed '/^type "cpu"/a comment "profpipe: host=a"' "$tmp/base.txt" >"$tmp/one0.txt"
sed '/^type "cpu"/a comment "profpipe: host=b"' "$tmp/same.txt" >"$tmp/one1.txt"
run prof-diff --report "text:$tmp/text" --report json:- "$tmp/one0.txt" "$tmp/one1.txt"
like "$tmp/err" "^prof-diff: cpu: all profiles of a side $one: how runs differ is not known \\(" \
	"one host a side: a note"
like "$tmp/text" "^replicates of a side $one: how runs differ is not known\$" "in the report too"
is "$(jq -c '.types[0].one_source' "$tmp/out")" true "and in JSON"
run prof-diff "$tmp/hosts0.txt" "$tmp/hosts1.txt"
is "$(grep -c "$one" "$tmp/err")" 0 "not with several hosts"
run prof-diff --replicate-by file "$tmp/one0.txt" "$tmp/one1.txt"
is "$(grep -c "$one" "$tmp/err")" 0 "nor with one replicate a side"
sed 's/^\(sample.*\)$/\1 "run"="7"/' "$tmp/hosts0.txt" >"$tmp/run0.txt"
run prof-diff "$tmp/run0.txt" "$tmp/hosts1.txt"
like "$tmp/err" "all profiles of a side $one" "one label run is one run"

# --- labels and subtrees ---------------------------------------------------------------------------
# f05 is called by handler1, whose samples have the endpoint /1
# family BY: "what=verdict …" of what changed
family() {
	jq -r --arg by "$1" '[.types[0].families[] | select(.by == $by) | .items[] |
		select(.test.verdict | IN("unchanged", "inconclusive") | not) |
		"\(.value // (.path | join("/")))=\(.test.verdict)"] | sort | join(" ")' "$tmp/json"
}
run prof-diff -q --by label:endpoint --by subtree --report "json:$tmp/json" --report "markdown:$tmp/md" \
	--report text "$tmp/base.txt" "$tmp/slow.txt"
is "$(family label)" "/1=regressed" "--by label: the value of what is slower"
is "$(family subtree)" "main/handler1/f05=regressed main/handler1=regressed" "--by subtree: from the leaf up"
is "$(jq -c '[.types[0].families[1].items[] | select(.test.verdict == "regressed") | [.name, .is_root]]' "$tmp/json")" \
	'[["main > handler1 > f05",true],["main > handler1",false]]' "one of them explains the other"
is "$(jq -c '[.types[0].families[0] | .by, .key, (.items | map(.value) | sort)]' "$tmp/json")" \
	'["label","endpoint",["/0","/1","/2","/3"]]' "all values are in JSON"
# the values add up to the total, the subtree from main is the total
is "$(jq -c '.types[0] | .total as $t | [(.families[0].items | [(map(.amount.base) | add) - $t.base,
	(map(.amount.new) | add) - $t.new]), (.families[1].items[] | select(.name == "main") |
	[.amount.base - $t.base, .amount.new - $t.new])]' "$tmp/json")" '[[0,0],[0,0]]' "they add up"
like "$tmp/out" ' regressed  /1$' "text: the label"
like "$tmp/out" ' regressed  main > handler1 > f05$' "text: the subtree"
is "$(grep -c 'regressed  main > handler1$' "$tmp/out")" 0 "but not what it explains"
is "$(sed 's/…/./g' "$tmp/out" | awk 'length > 80' | wc -l)" 0 "80 columns"
like "$tmp/md" '^\| regressed \| .* \| ./1. \|$' "markdown: the label"
run prof-diff -q --by endpoint --report "json:$tmp/json" --report text "$tmp/base.txt" "$tmp/same.txt"
is "$(family label)" "" "the same build: no value changed"
run prof-diff -q --by nothing --report "json:$tmp/json" --report text "$tmp/base.txt" "$tmp/slow.txt"
is "$(jq -c '[.types[0].families[0].items[] | .value]' "$tmp/json")" '[""]' "a label that no sample has"
like "$tmp/out" ' \(none\)$' "text says so"
run prof-diff -q --by subtree --report "json:$tmp/json" --report text "$tmp/base.txt" "$tmp/same.txt"
like "$tmp/out" '^no subtree changed$' "no subtree changed"
refuses "--by without a label" prof-diff -q --by label: "$tmp/base.txt" "$tmp/slow.txt"
refuses "--by a list" prof-diff -q --by a,b "$tmp/base.txt" "$tmp/slow.txt"

# --- moved and renamed ---------------------------------------------------------------------------
# f04 and f08 have one caller; f08 takes over 600 of 4000/8
make_side 8 -v grow='f04=0.4 f08=1.9' >"$tmp/moved.txt"
is "$(verdicts "$tmp/base.txt" "$tmp/moved.txt")" "f04=moved f08=moved" "cost that moved between siblings"
is "$(verdicts "$tmp/base.txt" "$tmp/moved.txt" --no-shift)" "f04=improved f08=regressed" "--no-shift"
prof-diff -q --gate 'regressed > +0.5%' "$tmp/base.txt" "$tmp/moved.txt" >/dev/null
is $? 0 "what moved fails no gate"
prof-diff -q --gate 'flat:^f08$ > +0.5%' "$tmp/base.txt" "$tmp/moved.txt" >/dev/null
is $? 1 "unless it is watched by name"
# one function is nearly all of the cost, and another one gets dearer: of equal totals the first
# seems to fall by as much, which is no excuse
# dominant SEED COST-OF-F04
dominant() {
	make_side "$1" -v grow="f00=300 f04=$2"
}
dominant 21 1 >"$tmp/dom0.txt"
dominant 22 200 >"$tmp/dom1.txt"
verdicts "$tmp/dom0.txt" "$tmp/dom1.txt" --norm share >"$tmp/out"
like "$tmp/out" 'f04=regressed' "by share: what the rest seems to fall by excuses no rise"
# one fall, and two rises under the same caller that it would make up for: nobody can tell which
make_side 23 -v grow='f04=0.4 f08=1.9 f12=2.2' >"$tmp/contested.txt"
is "$(verdicts "$tmp/base.txt" "$tmp/contested.txt")" "f04=improved f08=regressed f12=regressed" \
	"one fall and two rises that it fits: neither is excused"
# two falls and two rises of other sizes: each rise by the fall that fits
make_side 24 -v grow='f00=0.7 f04=0.4 f08=1.9 f12=2.2' >"$tmp/two.txt"
is "$(verdicts "$tmp/base.txt" "$tmp/two.txt")" "f00=moved f04=moved f08=moved f12=moved" \
	"two falls and two rises"
make_side 9 -v name='f03=f03.constprop.0 f06=f06.cold f09=f09.isra.1.llvm.77' >"$tmp/clones.txt"
is "$(verdicts "$tmp/base.txt" "$tmp/clones.txt")" "" "what a compiler adds to names is no change"
is "$(jq -c '.types[0].functions[] | select(.name == "f09") | .raw_names' "$tmp/json")" \
	'["f09.isra.1.llvm.77"]' "the report has the raw names"
make_side 9 -v grow='f03=2 f09=1.9' -v name='f03=f03.constprop.0 f09=f09.isra.1.llvm.77' >"$tmp/grown.txt"
prof-diff -q --report text "$tmp/base.txt" "$tmp/grown.txt" >"$tmp/out"
like "$tmp/out" '^  raw f09.isra.1.llvm.77$' "the text report as well, where something changed"
prof-diff -q --report markdown "$tmp/base.txt" "$tmp/grown.txt" >"$tmp/out"
like "$tmp/out" '\| `f03` \(raw `f03.constprop.0`\) \|$' "and Markdown"
long=$(head -c 100000 /dev/zero | tr '\0' x)
sed "s/\"f03/\"$long/g" "$tmp/base.txt" >"$tmp/long0.txt"
sed "s/\"f03/\"$long/g" "$tmp/grown.txt" >"$tmp/long1.txt"
prof-diff -q --report markdown "$tmp/long0.txt" "$tmp/long1.txt" >"$tmp/out"
like "$tmp/out" '^\| regressed .*xxx' "a name of 100 kB"
[ "$(wc -c <"$tmp/out")" -lt 65536 ]
ok $? "does not make it longer than a comment may be"
prof-diff -q "$tmp/base.txt" "$tmp/clones.txt" | prof-render -f text >"$tmp/out"
like "$tmp/out" '^function [0-9]+ "f06" "f06.cold" ' "system_name is as it was"
verdicts "$tmp/base.txt" "$tmp/clones.txt" --names raw --no-shift >"$tmp/out"
like "$tmp/out" '^f03.constprop.0=new f03=gone ' "--names raw"
# closures: one more before them, and those behind it have other numbers
# closures FORM: N is the number
closures() {
	form=$1
	set -- "${form%N*}1${form##*N}" "${form%N*}2${form##*N}" "${form%N*}3${form##*N}"
	make_side 31 -v name="f04=$1 f08=$2" >"$tmp/c0.txt"
	make_side 32 -v name="f04=$2 f08=$3" >"$tmp/c1.txt"
	is "$(verdicts "$tmp/c0.txt" "$tmp/c1.txt" --no-shift)" "" "numbers that shift: $form"
	is "$(jq -c '[.types[0].functions[] | select(.raw_names) | .raw_names | sort]' "$tmp/json")" \
		"$(jq -cn '[$ARGS.positional]' --args "$1" "$2" "$3")" "one row, which has all names"
	is "$(verdicts "$tmp/c0.txt" "$tmp/c1.txt" --no-shift --names raw | tr ' ' '\n' | grep -c =)" 3 \
		"--names raw: three changes"
}
closures main.run.funcN
closures 'run()::{lambda()#N}::operator()()const'
closures 'app::run::{closure#N}'
# the same ones on both sides are told apart
make_side 33 -v name='f04=main.run.func1 f08=main.run.func2' >"$tmp/c0.txt"
make_side 34 -v name='f04=main.run.func1 f08=main.run.func2' -v grow='f08=1.6' >"$tmp/c1.txt"
is "$(verdicts "$tmp/c0.txt" "$tmp/c1.txt")" "main.run.func2=regressed" "the same closures are told apart"
# closures that call one another: what they cost together is each stack once
nested() { # CLOSURES: a chain of them, called by main
	cat <<-TEXT
	# profpipe text 1
	profile
	time $2
	type "samples" "count"
	function 1 "main" "main" "m.go" 1
	function 2 "main.run.func$3" "" "m.go" 2
	function 3 "main.run.func$4" "" "m.go" 3
	location 1 m0 0x0 f1:1:0
	location 2 m0 0x0 f2:2:0
	location 3 m0 0x0 f3:3:0
	sample $1 : 3 2 1 :
	sample 100 : 1 :
	end
	TEXT
}
nested 400 1000 1 2 >"$tmp/n0.txt"
nested 500 2000 2 3 >"$tmp/n1.txt"
prof-diff -q --norm none --report "json:$tmp/json" -o /dev/null "$tmp/n0.txt" "$tmp/n1.txt"
is "$(jq -c '[.types[0].functions[] | [.name, .flat.base, .flat.new, .cum.base, .cum.new]] | sort' "$tmp/json")" \
	'[["main",100,100,500,600],["main.run.func#",400,500,400,500]]' "closures that call one another"
# renamed, with the caller, the file and its callees to know it by: a handler
sed 's/"handler2"/"handle_two"/g' "$tmp/same.txt" >"$tmp/renamed.txt"
prof-diff -q --report json:"$tmp/json" "$tmp/base.txt" "$tmp/renamed.txt" >/dev/null
is "$(jq -r '.types[0].functions[] | select(.renamed_from) | "\(.name) \(.renamed_from) \(.verdict)"' "$tmp/json")" \
	"handle_two handler2 renamed" "another name, known by its neighbours"

# --- gates ----------------------------------------------------------------------------------------
# gate STATUS DESCRIPTION NEW OPTION…
gate() {
	want=$1 what=$2 new=$3
	shift 3
	run prof-diff "$@" "$tmp/base.txt" "$tmp/$new.txt"
	is "$status" "$want" "$what" || diag "$tmp/err"
}
gate 0 "a gate on the same build" same --gate 'regressed > +0.5%'
gate 1 "a gate on a slower one" slow --gate 'regressed > +0.5%'
like "$tmp/err" '^prof-diff: gate failed: regressed > \+0.5%: f05 is ' "and what it was"
gate 0 "over no limit" slow --gate 'regressed > +50%'
gate 0 "--advisory" slow --gate 'regressed > +0.5%' --advisory
like "$tmp/err" '^prof-diff: gate advisory: ' "says what it would have been"
gate 1 "by label" slow --gate 'label:endpoint=/1 > +0.5%'
gate 0 "by another label" slow --gate 'label:endpoint=/2 > +0.5%'
gate 1 "cumulative, of a caller" slow --gate 'cum:^handler1$ > x1.02'
prof-diff -q --gate 'regressed > +0.1%' "$tmp/base.txt" "$tmp/slow.txt" --replicate-by file >/dev/null
is $? 0 "one replicate a side: advice"
prof-diff -q --gate 'regressed > +0.1%' "$tmp/base.txt" "$tmp/slow.txt" --replicate-by file \
	--force-single --assume-cv 1% >/dev/null
is $? 1 "--force-single"
gate 3 "--require-power: a limit below what can be seen" same --gate 'flat:^f00$ > +0.0001%' \
	--require-power
like "$tmp/err" '^prof-diff: gate inconclusive: ' "and which"
gate 0 "--require-power: a limit that can be seen" same --gate 'flat:^f40$ > +5%' --require-power
printf '# ours\nregressed > +0.5%%\n\nwarn total > +1%%\n' >"$tmp/gates"
gate 1 "--gates FILE" slow --gates "$tmp/gates"
printf 'regressed > +0.5%%\n' >"$tmp/one-gate"
prof-diff -q --report json:"$tmp/json" --gate 'regressed > +0.5%' --gate 'regressed > +0.5%' \
	--gate 'warn total > +1%' --gates "$tmp/one-gate" "$tmp/base.txt" "$tmp/slow.txt" >/dev/null
is "$? $(jq -c '[.types[0].gates[].gate]' "$tmp/json")" '1 ["regressed > +0.5%","warn total > +1%"]' \
	"a gate given again is judged once"
refuses "--gates without gates" prof-diff --gates /dev/null "$tmp/base.txt" "$tmp/slow.txt"
refuses "--gates, no such file" prof-diff --gates "$tmp/nothing" "$tmp/base.txt" "$tmp/slow.txt"
# bad_gates DESCRIPTION MESSAGE TEXT: the place is named
bad_gates() {
	printf '%b' "$3" >"$tmp/gates"
	refuses "--gates: $1" prof-diff --gates "$tmp/gates" "$tmp/base.txt" "$tmp/slow.txt"
	like "$tmp/err" "^prof-diff: --gates: $tmp/gates: $2" "and says so"
}
bad_gates "a limit that is none" 'line 3: gate "total > 2": limit \+P% or xR expected' '# ours\n\n total > 2\n'
bad_gates "no limit" "line 1: gate \"total\": '> LIMIT' expected" 'total\ntotal > +1%\n'
bad_gates "another comparison" "line 1: gate \"new < \+1%\": '> LIMIT' expected" 'new < +1%\n'
bad_gates "a limit that is no number" 'line 1: .* limit \+P% or xR expected' 'total > +nan%\n'
bad_gates "two words" 'line 2: .*, not "fail new"$' 'new > +1%\nfail fail new > +1%\n'
bad_gates "an expression that is none" 'line 1: .* regular expression: missing ' 'cum:[ > +1%\n'
bad_gates "no expression" 'line 1: .*, not "flat:"$' 'flat: > +1%\n'
bad_gates "no key" 'line 1: .*, not "label:=x"$' 'label:=x > +1%\n'
bad_gates "a comment behind a gate" 'line 1: .* expected, not "# ours"$' 'new > +1% # ours\n'
bad_gates "a byte of 0" 'not text: a byte of 0$' 'new > +1%\0\n'
bad_gates "comments alone" 'no gates$' '# nothing\n\n'
printf '\t new > +90%% \r\n' >"$tmp/gates"
gate 0 "--gates with the line ends of another system" slow --gates "$tmp/gates"
refuses "--gates without an end" prof-diff --gates /dev/zero "$tmp/base.txt" "$tmp/slow.txt"
like "$tmp/err" '/dev/zero: more than 16777216 bytes$' "is read so far"
refuses "--gates, a directory" prof-diff --gates "$tmp" "$tmp/base.txt" "$tmp/slow.txt"
# the new side was measured in November 2023
waive() { # STATUS DESCRIPTION MESSAGE LINE
	printf '%s\n' "$4" >"$tmp/waivers"
	gate "$1" "$2" slow --gate 'regressed > +0.5%' --waive "$tmp/waivers"
	like "$tmp/err" "$3" "and says so"
}
waive 0 "a waiver" '^prof-diff: gate waived: ' 'f05 | flat | +10% | expires 2024-01-01 | #12 | a cache is gone'
waive 1 "one that has expired" 'waiver for f05 \(#12\): has expired$' \
	'f05 | flat | +10% | expires 2023-11-13 | #12 | a cache is gone'
waive 0 "on its last day" 'gate waived' 'f05 | flat | x2 | expires 2023-11-14 | #12 | a cache is gone'
waive 1 "one with a low ceiling" 'waiver for f05 \(#12\): the ceiling is too low$' \
	'f05 | flat | +1% | expires 2024-01-01 | #12 | a cache is gone'
waive 1 "one for something else" 'waiver for f06 \(#12\): not needed: no gate asked$' \
	'f06 | flat | +1% | expires 2024-01-01 | #12 | a cache is gone'
for bad in 'f05' 'f05 | fat | +1% | expires 2024-01-01 | a | b' 'f05 | flat | 1 | expires 2024-01-01 | a | b' \
	'f05 | flat | +1% | 2024-01-01 | a | b' '| flat | +1% | expires 2024-01-01 | a | b' \
	'f05 | flat | +1% | expires 2024-13-01 | a | b' 'f05 | flat | +1% | expires 2024-01-01 | | b' \
	'f05 | flat | +1% | expires 2024-01-01 | a |' 'f05 | flat | +nan% | expires 2024-01-01 | a | b'; do
	echo "$bad" >"$tmp/waivers"
	refuses "waiver '$bad'" prof-diff --waive "$tmp/waivers" "$tmp/base.txt" "$tmp/slow.txt"
	like "$tmp/err" "^prof-diff: --waive: $tmp/waivers: line 1: " "and says where"
done

# --- measured differently ------------------------------------------------------------------------
sed '/^type "cpu"/a comment "profpipe: cpu=Fast 1"\ncomment "profpipe: kernel=6.1"' "$tmp/base.txt" >"$tmp/e0.txt"
sed '/^type "cpu"/a comment "profpipe: cpu=Slow 2"\ncomment "profpipe: kernel=6.1"' "$tmp/same.txt" >"$tmp/e1.txt"
run prof-diff --report text "$tmp/e0.txt" "$tmp/e1.txt"
prof-diff -q --report markdown "$tmp/e0.txt" "$tmp/e1.txt" >"$tmp/md"
is "$(sed -n 5p "$tmp/md" | cut -c -25)" '**Measured differently:**' "and the first thing in Markdown"
like "$tmp/err" '^prof-diff: cpu: measured differently: CPU: base has Fast 1; new has Slow 2$' \
	"another CPU is the first thing that is said"
is "$(sed -n 2p "$tmp/out")" "warning: CPU: base has Fast 1; new has Slow 2" "in the report too"
is "$(grep -c kernel "$tmp/err")" 0 "the same kernel is not"
run prof-diff --report text "$tmp/e0.txt" "$tmp/same.txt"
is "$(grep -c 'measured differently' "$tmp/err")" 0 "nor what one side does not say"
while IFS='|' read -r key words; do
	sed "/^type \"cpu\"/a comment \"profpipe: $key=1\"" "$tmp/base.txt" >"$tmp/e0.txt"
	sed "/^type \"cpu\"/a comment \"profpipe: $key=2\"" "$tmp/same.txt" >"$tmp/e1.txt"
	run prof-diff --report text --report "json:$tmp/json" "$tmp/e0.txt" "$tmp/e1.txt"
	is "$(sed -n 2p "$tmp/out")" "warning: $words: base has 1; new has 2" "$key: the report's first warning"
	is "$(jq -c '.types[0].environment' "$tmp/json")" "[\"$words: base has 1; new has 2\"]" "$key: in JSON"
	run prof-diff --report text "$tmp/e0.txt" "$tmp/e0.txt"
	is "$(grep -c "$words: base has" "$tmp/out" "$tmp/err" | cut -d: -f 2 | xargs)" "0 0" "$key: the same on both"
done <<'KEYS'
cpu|CPU
cpus|number of CPUs
kernel|kernel
rate|rate
event|event
quota|CPU quota
KEYS
# only a capture without privileges says what it is
sed '/^type "cpu"/a comment "profpipe: mode=unprivileged"' "$tmp/same.txt" >"$tmp/e1.txt"
run prof-diff --report text "$tmp/base.txt" "$tmp/e1.txt"
is "$(sed -n 2p "$tmp/out")" "warning: mode: base has none; new has unprivileged" "mode: only one has it"

# --- reports ----------------------------------------------------------------------------------------
run prof-diff -q --report text "$tmp/base.txt" "$tmp/slow.txt" --gate 'regressed > +0.5%'
like "$tmp/out" '^cpu, norm stable \(base x [0-9.]+\): base 6 profiles of 60s, new 6 profiles of 60s$' \
	"text: the norm is in the first line"
like "$tmp/out" '^verdict: 1 regressed$' "text: the verdict"
like "$tmp/out" '^  under main > handler1$' "text: where it was called"
like "$tmp/out" '^regressed handler1, \+[0-9.]+% of base' "text: and that its caller costs more by it"
like "$tmp/out" '^power: with 6\+6 replicates a function of 1% of the total had to grow$' "text: the power"
run prof-diff -q --calibrate --report text "$tmp/base.txt" "$tmp/same.txt"
like "$tmp/out" '^calibration: false findings: 0 flat of [0-9]+ tested, 0 cum of [0-9]+;$' "--calibrate"
for format in markdown junit github sarif codequality; do
	run prof-diff -q --report "$format" "$tmp/base.txt" "$tmp/slow.txt" --gate 'regressed > +0.5%' \
		--gate 'warn total > +90%'
	is "$status" 1 "$format: written, and exit 1"
	cp "$tmp/out" "$tmp/$format"
	like "$tmp/$format" 'f05' "$format: names the function"
done
run prof-diff -q --report github "$tmp/base.txt" "$tmp/base.txt"
is "$status $(cat "$tmp/out" "$tmp/err")" "0 " "github: of nothing, an empty report"
like "$tmp/markdown" '^## prof-diff: a gate failed$' "markdown: the state first"
like "$tmp/markdown" '^\| regressed \| \+[0-9.]+% \| .* \| .f05. \|$' "markdown: a row"
like "$tmp/github" '^::error title=prof-diff gate::cpu: regressed > \+0.5%25: fail: f05 is ' "github: an error"
is "$(jq -r '.version, .runs[0].results[0].ruleId, .runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri' \
	"$tmp/sarif" | xargs)" "2.1.0 regressed file05.c" "sarif"
prof-diff -q --granularity files --report sarif "$tmp/base.txt" "$tmp/slow.txt" >"$tmp/files"
is "$(jq -r '.runs[0].tool.driver.rules[].shortDescription.text' "$tmp/files" | cut -d' ' -f 2 | xargs)" \
	"file file" "sarif: rules speak of what is compared"
is "$(jq -r '.[0] | .check_name, .location.path, .location.lines.begin, (.fingerprint | length)' \
	"$tmp/codequality" | xargs)" "regressed file05.c 1 16" "codequality"
# well_formed WHAT: what SARIF 2.1.0 and GitLab's code quality require of what is there, and no
# other keys than theirs
well_formed() {
	jq -r '
		def keys_in($all): (keys - $all) == [];
		def uri: test("^[A-Za-z0-9._~/-]*(%[0-9A-F]{2}[A-Za-z0-9._~/-]*)*$");
		keys_in(["$schema", "version", "runs"]) and .version == "2.1.0" and (.runs | length) == 1 and
		(.runs[0] | keys_in(["tool", "results"]) and
			(.tool.driver | keys_in(["name", "version", "rules"]) and (.rules | all(.id and .shortDescription.text))) and
			([.tool.driver.rules[].id] as $rules | .results | length > 0 and all(
				keys_in(["ruleId", "level", "message", "locations", "partialFingerprints"]) and
				(.ruleId | IN($rules[])) and (.level | IN("none", "note", "warning", "error")) and
				(.message.text | length > 0) and (.partialFingerprints | all(type == "string")) and
				(.locations | length == 1 and all(.physicalLocation | (.artifactLocation.uri | uri) and
					.region.startLine >= 1)))))' "$tmp/sarif" >"$tmp/got"
	is "$(cat "$tmp/got")" true "$1: sarif has what its schema requires"
	jq -r 'length > 0 and (map(.fingerprint) | length == (unique | length)) and all(
		(keys == ["check_name", "description", "fingerprint", "location", "severity"]) and
		(.severity | IN("info", "minor", "major", "critical", "blocker")) and
		(.description | length > 0) and (.location.path | length > 0) and .location.lines.begin >= 1)' \
		"$tmp/codequality" >"$tmp/got"
	is "$(cat "$tmp/got")" true "$1: codequality has what GitLab requires"
}
well_formed "plain names"
like "$tmp/junit" '<testsuite name="prof-diff" tests="2" failures="1" errors="0" skipped="0">' "junit"
if command -v xmllint >/dev/null; then
	xmllint --noout "$tmp/junit"
	ok $? "junit: well-formed"
else
	python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$tmp/junit"
	ok $? "junit: well-formed"
fi
# what the readers of reports take
make_side 41 -v grow="$(seq -f 'f%02g=3' 1 2 47 | xargs)" >"$tmp/many.txt"
for i in $(seq 12); do
	echo "warn flat:^f0[0-9]\$ > +0.$i%"
	echo "regressed > +0.$i%"
	echo "flat:^f00\$ > x1.0$i"
done >"$tmp/gates"
prof-diff -q --norm seconds --report github --gates "$tmp/gates" "$tmp/base.txt" "$tmp/many.txt" >"$tmp/out"
is "$(sed 's/^::\([a-z]*\) .*/\1/' "$tmp/out" | sort | uniq -c | xargs)" "10 error 10 notice 10 warning" \
	"github: ten annotations of a kind, as many as are shown"
awk -v dir="$tmp" 'BEGIN {
	for (side = 0; side < 2; side++) {
		file = dir "/names" side ".txt"
		for (j = 0; j < 3; j++) {
			printf "# profpipe text 1\nprofile\ntime %d000000000\ntype \"samples\" \"count\"\n", 17e8 + j >file
			for (i = 1; i <= 3000; i++)
				printf "function %d \"a_name_of_some_length::%060d\" \"\" \"\" 0\nlocation %d m0 0x0 f%d:0:0\nsample %d : %d :\n", \
					i, i, i, i, 200 + j + (side && i % 2 ? 400 : 0), i >file
			print "end" >file
		}
	}
}'
prof-diff -q --norm none --min-effect 0 --report "markdown:$tmp/md" --report "sarif:$tmp/sarif" -o /dev/null \
	"$tmp/names0.txt" "$tmp/names1.txt"
is "$(($(wc -c <"$tmp/md") <= 65536)) $(jq '.runs[0].results | length' "$tmp/sarif")" "1 1500" \
	"markdown: a comment of GitHub can hold it, of 1500 that are dearer"
like "$tmp/md" '^[0-9]+ more are left out\.$' "and it says how many are left out"
# a name that wants to be more than a name
sed 's/"f05"/"f05\\n::error::<\&|\x60x"/g' "$tmp/slow.txt" >"$tmp/hostile.txt"
sed 's/"f05"/"f05\\n::error::<\&|\x60x"/g' "$tmp/base.txt" >"$tmp/hostile0.txt"
sed -i 's/"file05.c"/"a b:\\n%\\xff.c"/' "$tmp/hostile.txt" "$tmp/hostile0.txt"
for format in github junit sarif codequality markdown text; do
	prof-diff -q --report "$format" "$tmp/hostile0.txt" "$tmp/hostile.txt" \
		--gate 'regressed > +0.5%' >"$tmp/$format"
	ok "$(grep -c '^::error::' "$tmp/$format")" "$format: a hostile name stays a name"
done
python3 -c 'import sys, xml.dom.minidom as d; d.parse(sys.argv[1])' "$tmp/junit"
ok $? "junit: still well-formed"
jq empty "$tmp/sarif" "$tmp/codequality"
ok $? "JSON: still well-formed"
well_formed "hostile names"
is "$(jq -r '.runs[0].results[0].locations[0].physicalLocation.artifactLocation.uri' "$tmp/sarif")" \
	'a%20b%3A%0A%25%FF.c' "sarif: a path is a URI"
done_testing
