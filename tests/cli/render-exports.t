#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tree, peek, tags, csv, json, markdown, speedscope, grafana: the same numbers as the table,
# readable by what they are for, also where names and values are not nice.
. "$top/tests/lib/tap.sh"

command -v jq >/dev/null || skip_all "no jq"
mixed=$top/tests/golden/render/mixed.txt
hostile=$top/tests/golden/render/hostile.txt
formats='tree tags csv json markdown speedscope grafana'
read_csv() {
	awk -f "$top/tests/lib/csv.awk" "$1"
}

head='# profpipe text 1
profile
duration 10000000000
type "objects" "count"
type "space" "bytes" default'
{
	echo "$head"
	cat <<'TWIN'
mapping 1 0x400000 0x500000 0x0 "/usr/bin/app" "aa" FNLI
function 1 "main" "main" "m.c" 10
function 2 "work" "work" "m.c" 20
function 3 "leaf" "leaf" "l.c" 30
function 4 "other" "other" "" 0
location 1 m1 0x400001 f1:1:0
location 2 m1 0x400002 f2:2:0
location 3 m1 0x400003 f3:3:0
location 4 m1 0x400004 f4:4:0
sample 5 500 : 3 2 1 : "k"="a" "n"=7
sample 3 300 : 3 3 1 : "k"="b" "n"=7
sample 1 100 : 4 1 : "k"="b" "k"="c"
sample 1 99 : 2 1 :
sample 1 1 : 4 2 1 :
TWIN
	echo end
} >"$tmp/a.txt"

# --- each by itself ---------------------------------------------------------------------------
cat >"$tmp/want" <<'TREE'
----------------------------------------------------------+-------------
      flat  flat%   sum%        cum   cum%   calls calls% + context
----------------------------------------------------------+-------------
                                              500B 62.50% |   work
                                              300B 37.50% |   main
      800B 80.00% 80.00%       800B 80.00%                | leaf
----------------------------------------------------------+-------------
                                              100B 99.01% |   main
      101B 10.10% 90.10%       101B 10.10%                | other
----------------------------------------------------------+-------------
                                              600B   100% |   main
       99B  9.90%   100%       600B 60.00%                | work
                                              500B 83.33% |   leaf
----------------------------------------------------------+-------------
         0     0%   100%      1000B   100%                | main
                                              600B 60.00% |   work
                                              300B 30.00% |   leaf
                                              100B 10.00% |   other
----------------------------------------------------------+-------------
TREE
prof-render -f tree "$tmp/a.txt" | sed -n '/^---/,$p' >"$tmp/got"
prof-render -f tree --no-trim "$tmp/a.txt" | sed -n '/^---/,$p' >"$tmp/all"
is "$(diff "$tmp/got" "$tmp/all" | grep -c '^[<>]')" 0 "tree: edges below a thousandth go"
sed -i 's/^ *1B .*//; /^$/d' "$tmp/got"
same "$tmp/got" "$tmp/want" "tree: callers, callees, recursion counted once" || diag "$tmp/got"
prof-render -f peek --function '^wor' "$tmp/a.txt" >"$tmp/got"
is "$(grep -c '| ' "$tmp/got") $(grep -c '^ *99B .* | work$' "$tmp/got")" "4 1" "peek: one function" ||
	diag "$tmp/got"
refuses "peek: of what?" prof-render -f peek "$tmp/a.txt"
like "$tmp/err" 'peek shows the functions that --function=RE matches$' "and says so"
refuses "peek: nothing" prof-render -f peek --function nothing "$tmp/a.txt"
like "$tmp/err" 'no function matches "nothing"$' "and says so"
refuses "peek: bad expression" prof-render -f peek --function '(' "$tmp/a.txt"
sed 's/"leaf"/"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"/' "$tmp/a.txt" >"$tmp/long.txt"
refuses "peek: wild expression" prof-render -f peek --function '^(a|aa|a+)+[bc]$' "$tmp/long.txt"
like "$tmp/err" 'too many steps' "and says so"

cat >"$tmp/want" <<'TAGS'

k: Total 900B of 1000B (90.00%)
        500B (50.00%): a
        400B (40.00%): b
        100B (10.00%): c

n: Total 800B of 1000B (80.00%)
        800B (80.00%): 7
TAGS
prof-render -f tags "$tmp/a.txt" | sed '1,/^Showing/d' >"$tmp/got"
same "$tmp/got" "$tmp/want" "tags: a sample counts once per key, and once per value"
prof-render -f tags -s k=a "$tmp/a.txt" | sed '1,/^Showing/d' >"$tmp/got"
like "$tmp/got" '^ *500B \( *100%\): a$' "tags: with a selector"
prof-render -f tags --focus other "$tmp/a.txt" | sed '1,/^Showing/d' >"$tmp/got"
is "$(grep -c ': a$' "$tmp/got") $(grep -c '100B (10.00%): c' "$tmp/got")" "0 1" "tags: with a filter"
printf '%s\nfunction 1 "f" "" "" 0\nlocation 1 m0 0x0 f1:0:0\nsample 1 1 : 1 :\nend\n' "$head" |
	prof-render -f tags >"$tmp/got"
like "$tmp/got" '^no labels$' "tags: none"

cat >"$tmp/want" <<'CSV'
flat	flat_percent	sum_percent	cum	cum_percent	name	file	line	module	inlined	unit
800	80.000000	80.000000	800	80.000000	leaf	l.c	30	/usr/bin/app	no	bytes
101	10.100000	90.100000	101	10.100000	other		4	/usr/bin/app	no	bytes
99	9.900000	100.000000	600	60.000000	work	m.c	20	/usr/bin/app	no	bytes
0	0.000000	100.000000	1000	100.000000	main	m.c	10	/usr/bin/app	no	bytes
CSV
prof-render -o "$tmp/x.csv" "$tmp/a.txt"
read_csv "$tmp/x.csv" >"$tmp/got"
same "$tmp/got" "$tmp/want" "csv, by -o's ending"

prof-render -o "$tmp/x.json" "$tmp/a.txt"
jq -c '[.schema, .filters, (.types[0] | .type, .unit, .is_diff, .duration_nanos, .total, .shown, .functions_left_out),
	(.types[0].functions | map([.name, .flat, .cum]))]' "$tmp/x.json" >"$tmp/got"
echo '["profpipe-profile-1",[],"space","bytes",false,10000000000,1000,1000,0,[["leaf",800,800],["other",101,101],["work",99,600],["main",0,1000]]]' \
	>"$tmp/want"
same "$tmp/got" "$tmp/want" "json, by -o's ending"
prof-render -f json --focus work -n 1 --sort cum "$tmp/a.txt" >"$tmp/out"
is "$(jq -c '[.filters, (.types[0] | .total, .shown, .functions_left_out, .functions[0].name)]' "$tmp/out")" \
	'[["focus=work"],1000,600,3,"main"]' "json: filters, -n, --sort"
cat >"$tmp/want" <<'MD'
`space`, total 1000B, over 10s

| self | % | running % | total | % | function |
|--:|--:|--:|--:|--:|:--|
| 800B | 80.00% | 80.00% | 800B | 80.00% | `leaf` |
| 101B | 10.10% | 90.10% | 101B | 10.10% | `other` |

2 functions, 2 smaller left out
MD
prof-render -o "$tmp/x.md" -n 2 "$tmp/a.txt"
same "$tmp/x.md" "$tmp/want" "markdown, by -o's ending"

# stacks of speedscope, back to folded ones
scope() {
	jq -r --arg name "$2" '.shared.frames as $f | .profiles[] | select(.name == $name) |
		[.samples, .weights] | transpose | .[] |
		"\(.[0] | map($f[.].name) | join(";")) \(.[1])"' "$1"
}
prof-render -o "$tmp/x.speedscope.json" "$tmp/a.txt"
scope "$tmp/x.speedscope.json" space >"$tmp/got"
prof-render -f folded "$tmp/a.txt" >"$tmp/want"
same "$tmp/got" "$tmp/want" "speedscope: the stacks, by -o's ending"
scope "$tmp/x.speedscope.json" objects >"$tmp/got"
prof-render -f folded -t objects "$tmp/a.txt" >"$tmp/want"
same "$tmp/got" "$tmp/want" "speedscope: the other type"
# what the format asks for
is "$(jq '[.profiles[] | .type == "sampled" and (.samples | length) == (.weights | length) and .startValue == 0
	and .endValue == (.weights | add // 0) and ([.weights[] | select(. <= 0)] | length) == 0] | all' \
	"$tmp/x.speedscope.json") $(jq '(.shared.frames | length) as $n | [.profiles[].samples[][] |
	. >= 0 and . < $n] | all' "$tmp/x.speedscope.json")" "true true" "speedscope: as its schema says"
is "$(jq -r '.profiles[0].name, .profiles[0].unit, .profiles[1].unit, .["$schema"]' \
	"$tmp/x.speedscope.json" | tr '\n' ' ')" \
	"space bytes none https://www.speedscope.app/file-format-schema.json " "speedscope: default type first"

# Stacks of a nested set, back to folded ones: a node comes right before its callees, one level
# deeper. grafana FILE FIELD: by the self values of that field
grafana() {
	jq -r --arg self "$2" '.[0].fields as $f | ($f | map({ (.name): .values }) | add) as $c |
		$c.level | to_entries | reduce .[] as $n ({ path: [], out: [] };
			.path = .path[:$n.value] + [$c.label[$n.key]] | .path[1:] as $stack |
			if $c[$self][$n.key] == 0 then . else .out += ["\($stack | join(";")) \($c[$self][$n.key])"] end) |
		.out[]' "$1" | sort
}
# nested FILE VALUE SELF: whether each node has the sum of its own value and its callees'
nested() {
	jq --arg value "$2" --arg self "$3" '(.[0].fields | map({ (.name): .values }) | add) as $c |
		[range($c.level | length)] | all(. as $i | $c[$value][$i] == ($c[$self][$i] +
			([range($i + 1; $c.level | length)] | map(select($c.level[.] == $c.level[$i] + 1)) |
			map(select(. as $k | [range($i + 1; $k)] | all($c.level[.] > $c.level[$i]))) | map($c[$value][.]) | add // 0)))' "$1"
}
prof-render -o "$tmp/x.grafana.json" "$tmp/a.txt"
grafana "$tmp/x.grafana.json" self >"$tmp/got"
prof-render -f folded "$tmp/a.txt" | sort >"$tmp/want"
same "$tmp/got" "$tmp/want" "grafana: the stacks, by -o's ending"
is "$(nested "$tmp/x.grafana.json" value self)" true "grafana: values are sums"
is "$(jq -c '.[0] | [.name, .meta.preferredVisualisationType, (.fields | map([.name, .type, .config.unit]))]' "$tmp/x.grafana.json")" \
	'["space","flamegraph",[["level","number",null],["value","number","bytes"],["self","number","bytes"],["label","string",null]]]' \
	"grafana: fields and units"
is "$(jq -c '.[0].fields | [.[0].values[0], .[1].values[0], .[3].values[0]], (map(.values | length) | unique | length)' \
	"$tmp/x.grafana.json" | tr '\n' ' ')" '[0,1000,"total"] 1 ' "grafana: the root first, fields of one length"

# --- the same numbers everywhere ----------------------------------------------------------------
# numbers FILE OPTION…: of each function, flat and cum in the unit of the type, from each format
numbers() {
	file=$1
	shift
	prof-render --no-trim -f table --unit nanoseconds "$@" "$file" | sed '1,/flat%/d' |
		sed 's/ (partial-inline)$//; s/ (inline)$//' |
		awk '{ f = $1; c = $4; sub(/ns$/, "", f); sub(/ns$/, "", c); $1 = $2 = $3 = $4 = $5 = ""; print f, c, $0 }' |
		sed 's/  */ /g' >"$tmp/n.table"
	prof-render -f json "$@" "$file" | jq -r '.types[0].functions[] | "\(.flat) \(.cum) \(.name)"' >"$tmp/n.json"
	prof-render -f csv "$@" "$file" >"$tmp/n.raw"
	read_csv "$tmp/n.raw" | awk -F '\t' 'NR > 1 { print $1, $4, $6 }' >"$tmp/n.csv"
	prof-render --no-trim -n 0 --unit nanoseconds -f tree "$@" "$file" |
		awk '/^ *[-0-9.]+(ns)? +[0-9.e-]+% +[0-9.e-]+% / && /  \| / { f = $1; c = $4; sub(/ns$/, "", f); sub(/ns$/, "", c)
			sub(/^.*  \| /, ""); print f, c, $0 }' >"$tmp/n.tree"
	prof-render --no-trim --unit nanoseconds -f markdown "$@" "$file" | grep '^| [-0-9]' |
		sed 's/^| //; s/ |$//; s/ns / /g' | awk -F ' [|] ' '{ n = $6; gsub(/`/, "", n); print $1, $4, n }' >"$tmp/n.markdown"
	for f in json csv tree markdown; do
		same "$tmp/n.$f" "$tmp/n.table" "the numbers of $f are the table's: $* ${file##*/}"
	done
}
numbers "$mixed"
numbers "$mixed" --granularity lines
numbers "$mixed" --sort cum
numbers "$mixed" --focus work -q
. "$top/tests/lib/corpus.sh"
if [ -f "$corpus/INDEX.tsv" ]; then
	numbers "$corpus/dundee__gdu/default.pgo"
	if command -v go >/dev/null && go tool pprof -help 2>&1 | grep -q symbolize; then
		body() {
			sed -n '/^Showing/,$p' | sed 's/[[:space:]]*$//'
		}
		against() { # FILE PPROF-OPTIONS OUR-OPTIONS
			# shellcheck disable=SC2086
			go tool pprof -symbolize=none $2 "$corpus/$1" 2>/dev/null | body >"$tmp/want"
			# shellcheck disable=SC2086
			prof-render $3 "$corpus/$1" | body >"$tmp/got"
			same "$tmp/got" "$tmp/want" "as pprof $2 has it: $1"
		}
		gdu=dundee__gdu/default.pgo
		against $gdu -tree '-f tree'
		against $gdu '-tree -cum' '-f tree --sort cum'
		against $gdu '-tree -lines -nodecount=30' '-f tree --granularity lines -n 30'
		against $gdu '-tree -trim=false' '-f tree --no-trim -n 0'
		against $gdu '-tree -focus=mallocgc' '-f tree --focus mallocgc'
		against $gdu '-peek=mallocgc|mcall' '-f peek --function mallocgc|mcall'
		against parca-dev__parca/pkg/query/testdata/alloc_space_delta.pb.gz -tree '-f tree'
		against google__pprof/internal/proftest/testdata/large.cpu -tree '-f tree'
		against grafana__pyroscope/ingester-3.pb.gz '-peek=Push' '-f peek --function Push'
	fi
fi

# --- a difference ------------------------------------------------------------------------------
sed 's/^sample 5 500/sample 2 200/; s/^sample 1 100 .*/sample 4 400 : 2 1 : "k"="a"/; s/^sample 1 1 .*//; s/^sample 1 99/sample 1 98/' \
	"$tmp/a.txt" | grep . >"$tmp/b.txt"
prof-diff -q --norm none -o "$tmp/d.pb.gz" "$tmp/a.txt" "$tmp/b.txt"
prof-render -f csv "$tmp/d.pb.gz" >"$tmp/x.csv"
read_csv "$tmp/x.csv" | cut -f1-3,6-8,10 >"$tmp/got"
cat >"$tmp/want" <<'CSV'
flat_base	flat_new	flat_delta	cum_base	cum_new	cum_delta	name
99	498	399	600	698	98	work
800	500	-300	800	500	-300	leaf
101	0	-101	101	0	-101	other
0	0	0	1000	998	-2	main
CSV
same "$tmp/got" "$tmp/want" "csv: base, new, delta; removed code is there"
prof-render -f json "$tmp/d.pb.gz" >"$tmp/x.json"
jq -r '.types[0].functions[] | [.flat.base, .flat.new, .flat.delta, .cum.base, .cum.new, .cum.delta, .name] | @tsv' \
	"$tmp/x.json" >"$tmp/got"
sed -i 1d "$tmp/want"
same "$tmp/got" "$tmp/want" "json: the same"
is "$(jq -c '.types[0] | [.is_diff, .total, .shown]' "$tmp/x.json")" \
	'[true,1000,{"base":1000,"new":998,"delta":-2}]' "json: totals"
prof-render -f markdown "$tmp/d.pb.gz" >"$tmp/got"
like "$tmp/got" '^\| 101B \| 0 \| -101B \| -10\.10% \| 101B \| 0 \| -101B \| -10\.10% \| `other` \|$' \
	"markdown: both sides"
prof-render -f tree "$tmp/d.pb.gz" >"$tmp/got"
like "$tmp/got" '^ +399B 39\.90% 39\.90% +98B  9\.80% +\| work \[600B -> 698B\]$' "tree: both sides of a function"
like "$tmp/got" '^ +-100B .* \|   main \[100B -> 0\]$' "tree: and of a call"
prof-render -f tags "$tmp/d.pb.gz" >"$tmp/got"
like "$tmp/got" '^ +-100B \(10\.00%\): c \[100B -> 0\]$' "tags: both sides"
is "$(grep -c 'pprof::base' "$tmp/got")" 0 "tags: without the mark of the base"
prof-render -f speedscope -t space "$tmp/d.pb.gz" >"$tmp/x.json"
for side in base:a new:b; do
	scope "$tmp/x.json" "space (${side%:*})" >"$tmp/got"
	prof-render -f folded "$tmp/${side#*:}.txt" >"$tmp/want"
	same "$tmp/got" "$tmp/want" "speedscope: ${side%:*}"
done

prof-render -f grafana "$tmp/d.pb.gz" >"$tmp/x.json"
for side in self:a selfRight:b; do
	grafana "$tmp/x.json" "${side%:*}" >"$tmp/got"
	prof-render -f folded "$tmp/${side#*:}.txt" | sort >"$tmp/want"
	same "$tmp/got" "$tmp/want" "grafana: ${side%:*} of a difference"
done
is "$(nested "$tmp/x.json" value self) $(nested "$tmp/x.json" valueRight selfRight)" "true true" "grafana: values of both sides are sums"

# --- names that are not nice --------------------------------------------------------------------
for f in $formats; do
	run prof-render -f "$f" "$hostile"
	is "$status $(LC_ALL=C tr -d '\n\r' <"$tmp/out" | LC_ALL=C grep -c '[[:cntrl:]]')" "0 0" \
		"$f: no control characters"
	iconv -f UTF-8 -t UTF-8 "$tmp/out" >/dev/null 2>&1
	ok $? "$f: UTF-8"
done
# units stand behind numbers, where nothing is escaped
for unit in '\x1b[31m' '<b>' '|' '0'; do
	printf '%s\n' "$head" 'function 1 "f" "" "" 0' 'location 1 m0 0 f1:0:0' 'sample 5 5 : 1' end |
		sed "s/\"bytes\"/\"$unit\"/" >"$tmp/unit.txt"
	for f in table tree markdown; do
		run prof-render -f "$f" "$tmp/unit.txt"
		like "$tmp/out" '^(\| )? *5 .* `?f`?( \|)?$' "$f: unit $unit, which is no word, is not shown"
	done
done
printf '%s\n' "$head" >"$tmp/names.txt"
n=0
for name in '=1+cmd|x!A0' '+f' '-[Foo bar:]' '@sum' 'a,\"b\"' 'c|d' 'e`f``g' '<img src=x>' '  x'; do
	n=$((n + 1))
	printf 'function %d "%s" "" "" 0\nlocation %d m0 0x0 f%d:0:0\nsample 1 %d : %d :\n' $n "$name" $n $n $((20 - n)) $n
done >"$tmp/rows"
{ grep ^function "$tmp/rows"; grep ^location "$tmp/rows"; grep ^sample "$tmp/rows"; echo end; } >>"$tmp/names.txt"
prof-render -f csv "$tmp/names.txt" >"$tmp/x.csv"
read_csv "$tmp/x.csv" | cut -f6 | sed 1d >"$tmp/got"
cat >"$tmp/want" <<'NAMES'
'=1+cmd|x!A0
'+f
'-[Foo bar:]
'@sum
a,"b"
c|d
e`f``g
<img src=x>
  x
NAMES
same "$tmp/got" "$tmp/want" "csv: quotes, commas, formulas"
prof-render -f json "$tmp/names.txt" | jq -r '.types[0].functions[].name' >"$tmp/got"
sed -i "s/^'//" "$tmp/want"
same "$tmp/got" "$tmp/want" "json: as they are"
prof-render -f speedscope "$tmp/names.txt" | jq -r '.shared.frames[].name' | sort | uniq >"$tmp/got"
sort "$tmp/want" >"$tmp/want2"
same "$tmp/got" "$tmp/want2" "speedscope: as they are"
prof-render -f markdown "$tmp/names.txt" | grep '^| [0-9]' >"$tmp/out"
is "$(sed 's/\\|//g' "$tmp/out" | awk -F '[|]' '{ print NF }' | sort -u)" 8 "markdown: as many cells in each row"
like "$tmp/out" '```e`f``g```' "markdown: backticks"

# --- shapes -----------------------------------------------------------------------------------
printf '%s\nend\n' "$head" >"$tmp/empty.txt"
printf '%s\nfunction 1 "f" "" "" 0\nlocation 1 m0 0x0 f1:0:0\nsample 0 0 : 1 :\nend\n' "$head" >"$tmp/zero.txt"
printf '%s\nfunction 1 "f" "" "" 0\nfunction 2 "g" "" "" 0\nlocation 1 m0 0x0 f1:0:0
location 2 m0 0x0 f2:0:0\nsample 1 -30 : 1 :\nsample 1 10 : 2 1 :\nsample 1 9000000000000000000 : 2 :\nend\n' \
	"$head" >"$tmp/neg.txt"
{
	printf '%s\nfunction 1 "again" "" "" 0\nfunction 2 "leaf" "" "" 0\n' "$head"
	printf 'location 1 m0 0x0 f1:0:0\nlocation 2 m0 0x0 f2:0:0\nsample 7 7 : 2 '
	awk 'BEGIN { for (i = 0; i < 5000; i++) printf "1 " }'
	printf ':\nend\n'
} >"$tmp/deep.txt"
for shape in empty zero neg deep; do
	for f in $formats; do
		run prof-render -f "$f" "$tmp/$shape.txt"
		is "$status $(grep -ciE '(^|[^a-z])(nan|inf)([^a-z]|$)' "$tmp/out")" "0 0" "$shape: $f"
		case $f in
		json | speedscope) jq . "$tmp/out" >/dev/null ;;
		csv) read_csv "$tmp/out" >/dev/null ;;
		*) true ;;
		esac
		ok $? "can be read"
	done
done
prof-render -f csv "$tmp/neg.txt" >"$tmp/x.csv"
is "$(read_csv "$tmp/x.csv" | cut -f1,4,6 | sed 1d | tr '\t\n' ' ,')" \
	"9000000000000000010 9000000000000000010 g,-30 -20 f," "negative and huge values are exact"
prof-render -f json "$tmp/neg.txt" >"$tmp/out"
like "$tmp/out" '"flat": 9000000000000000010,$' "json: exact"
prof-render -f speedscope -t space "$tmp/neg.txt" >"$tmp/out"
is "$(jq -c '.profiles | map(.name)' "$tmp/out") $(grep '^"weights"' "$tmp/out" | cut -d']' -f1 | tr '\n' ' ')" \
	'["space","space (negative values)"] "weights":[10,9000000000000000000 "weights":[30 ' \
	"speedscope: negative values apart"
is "$(prof-render -f speedscope -t space "$tmp/deep.txt" | jq '.profiles[0].samples[0] | length')" 5001 \
	"speedscope: deep stacks are whole"

# --- several types ------------------------------------------------------------------------------
sed 's/^type "space".*/type "cpu" "nanoseconds"/' "$tmp/a.txt" >"$tmp/cpu.txt"
refuses "csv: two types" prof-render -f csv "$tmp/a.txt" "$tmp/cpu.txt"
prof-render -f json "$tmp/a.txt" "$tmp/cpu.txt" >"$tmp/out"
is "$(jq -c '.types | map(.type)' "$tmp/out")" '["cpu","space"]' "json: two types"
prof-render -f speedscope "$tmp/a.txt" "$tmp/cpu.txt" >"$tmp/out"
is "$(jq -c '.profiles | map(.name)' "$tmp/out")" '["cpu","objects","space","objects"]' "speedscope: all types"
for f in tree tags markdown; do
	run prof-render -f "$f" "$tmp/a.txt" "$tmp/cpu.txt"
	is "$status $(grep -cE '^Type: |^`(cpu|space)`' "$tmp/out")" "0 2" "$f: one after the other"
done
if [ -w /dev/full ]; then
	for f in $formats; do
		prof-render -f "$f" "$tmp/a.txt" >/dev/full 2>"$tmp/err"
		is "$? $(wc -l <"$tmp/err")" "2 1" "full device: $f"
	done
fi
done_testing
