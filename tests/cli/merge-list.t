#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-merge --list: what there is to choose from; --minus: what counters gained.
. "$top/tests/lib/tap.sh"

# profile NAME SECONDS LENGTH: samples from standard input
profile() {
	{
		printf '%s\n' '# profpipe text 1' profile "time $((1700000000 + $2))000000000"
		[ "$3" = 0 ] || echo "duration ${3}000000000"
		printf '%s\n' 'period "cpu" "nanoseconds" 10' 'type "samples" "count"' \
			'type "cpu" "nanoseconds" default'
		cat
		echo end
	} >"$tmp/$1"
}
profile a 0 10 <<'END'
sample 1 10 : : "comm"="app" "pid"=7
sample 1 10 : : "comm"="app" "pid"=8
END
profile b 10 10 <<'END'
sample 1 10 : : "comm"="db\tx" "pid"=9
END
profile c 60 10 <<'END'
sample 1 10 : : "comm"="app"
END
profile d 70 10 </dev/null
sed 's/^type .*default/type "alloc_space" "bytes"/; s/^period.*//; s/^duration.*//' "$tmp/a" >"$tmp/heap"

run prof-merge --list labels "$tmp/a" "$tmp/b" "$tmp/c"
printf '%s\t%s\n' comm 2 pid 3 >"$tmp/want"
same "$tmp/out" "$tmp/want" 'labels, and how many values each has'
run prof-merge --list values "$tmp/a" "$tmp/b" "$tmp/c"
printf '%s\t%s\t%s\n' comm app 2 comm 'db\tx' 1 pid 7 1 pid 8 1 pid 9 1 >"$tmp/want"
same "$tmp/out" "$tmp/want" 'values, and how many profiles have each'
run prof-merge --list values --by comm -s pid=7 "$tmp/a" "$tmp/b"
printf '%s\t%s\t%s\n' comm app 1 >"$tmp/want"
same "$tmp/out" "$tmp/want" 'of some labels, of some samples'
run prof-merge --list values --without pid --label x=1 "$tmp/c"
printf '%s\t%s\t%s\n' comm app 1 x 1 1 >"$tmp/want"
same "$tmp/out" "$tmp/want" 'as --without and --label make them'

run prof-merge --list types "$tmp/a" "$tmp/b" "$tmp/heap"
cat >"$tmp/want" <<'END'
cpu:cpu:nanoseconds:cpu:nanoseconds:delta	2
cpu:samples:count:cpu:nanoseconds:delta	2
profile:alloc_space:bytes::	1
profile:samples:count::	1
END
same "$tmp/out" "$tmp/want" 'types'
cut -f1 "$tmp/out" | while read -r type; do
	prof-merge -t "$type" "$tmp/a" "$tmp/heap" | prof-render -f text | grep -c '^profile$'
done | sort -u >"$tmp/got"
is "$(cat "$tmp/got")" 1 'each of which -t takes'

cpu=cpu:cpu:nanoseconds:cpu:nanoseconds:delta
printf "$cpu\t%s\t%s\t%s\n" 2023-11-14T22:13:20Z 2023-11-14T22:13:40Z 2 \
	2023-11-14T22:14:20Z 2023-11-14T22:14:40Z 2 >"$tmp/want"
run prof-merge --list ranges "$tmp/a" "$tmp/b" "$tmp/c" "$tmp/d"
same "$tmp/out" "$tmp/want" 'ranges: two stretches with a gap between them'
run prof-merge --list ranges "$tmp/d" "$tmp/b" "$tmp/c" "$tmp/a"
same "$tmp/out" "$tmp/want" 'in any order'
run prof-merge --list ranges -s comm=app "$tmp/a" "$tmp/b" "$tmp/c" "$tmp/d"
printf "$cpu\t%s\t%s\t%s\n" 2023-11-14T22:13:20Z 2023-11-14T22:13:30Z 1 \
	2023-11-14T22:14:20Z 2023-11-14T22:14:30Z 1 >"$tmp/want"
same "$tmp/out" "$tmp/want" 'where samples fit'
run prof-merge --list ranges --since @1700000060 "$tmp/a" "$tmp/b" "$tmp/c" "$tmp/d"
is "$(cut -f4 "$tmp/out")" 2 '--since chooses'
for i in $(seq 0 99 | shuf); do
	profile "p$i" "$((i * 10))" 10 </dev/null
done
prof-merge --list ranges "$tmp"/p* | cut -f4 >"$tmp/got"
is "$(cat "$tmp/got")" 100 'a hundred intervals that follow one another are one stretch'
refuses 'no such list' prof-merge --list nothing "$tmp/a"
head -c 60 "$tmp/a" >"$tmp/cut"
refuses 'a bad profile is trouble' prof-merge --list types "$tmp/a" "$tmp/cut"
prof-merge --list labels -o "$tmp/list" "$tmp/a"
is "$(wc -l <"$tmp/list")" 2 '-o'

# counters
heap() { # heap SECONDS ALLOC1 ALLOC2 INUSE
	cat <<END
# profpipe text 1
profile
time $((1700000000 + $1))000000000
type "alloc_space" "bytes"
type "inuse_space" "bytes" default
function 1 "a" "" "" 0
function 2 "b" "" "" 0
location 1 m0 0x0 f1:0:0
location 2 m0 0x0 f2:0:0
sample $2 $4 : 1
sample $3 0 : 2
end
END
}
heap 0 100 50 30 >"$tmp/h0"
heap 60 180 50 20 >"$tmp/h1"
heap 60 180 49 20 >"$tmp/h2"
heap 60 20 5 7 >"$tmp/h3"
run prof-merge --minus "$tmp/h0" "$tmp/h1"
prof-render -f text "$tmp/out" >"$tmp/text"
is "$(grep '^sample' "$tmp/text")" 'sample 80 20 : 1' 'counters lose what they had, levels stay'
is "$(grep -E '^(time|duration)' "$tmp/text" | tr '\n' ' ')" \
	'time 1700000000000000000 duration 60000000000 ' 'time and duration are what lies between'
is "$(cat "$tmp/err")" '' 'and nothing is said'
prof-merge --minus "$tmp/h0" "$tmp/h2" | prof-render -f text | grep '^sample' >"$tmp/got"
is "$(cat "$tmp/got")" 'sample 80 20 : 1' 'what falls by a rounding is nothing'
run prof-merge --minus "$tmp/h0" "$tmp/h3"
prof-render -f text "$tmp/out" | grep '^sample' >"$tmp/got"
printf '%s\n' 'sample 20 7 : 1' 'sample 5 0 : 2' >"$tmp/want"
same "$tmp/got" "$tmp/want" 'after a restart all of it counts'
like "$tmp/err" '^prof-merge: alloc_space fell, so its process has started anew' 'which is said'
run prof-merge --minus "$tmp/heap" "$tmp/h1"
like "$tmp/err" 'has no profile of the type inuse_space' 'no earlier one: a note'
prof-merge "$tmp/h1" >"$tmp/want"
same "$tmp/out" "$tmp/want" 'and all of it'
refuses 'the later one first' prof-merge --minus "$tmp/h1" "$tmp/h0"
refuses 'what counts from nowhere' prof-merge --minus "$tmp/a" "$tmp/b"
refuses 'windows' prof-merge --window 1m --minus "$tmp/h0" "$tmp/h1"
if command -v go >/dev/null; then
	prof-merge -o "$tmp/h0.pb.gz" "$tmp/h0"
	prof-merge -o "$tmp/h1.pb.gz" "$tmp/h1"
	go tool pprof -symbolize=none -top -unit=B -nodefraction=0 -sample_index=alloc_space \
		-base "$tmp/h0.pb.gz" "$tmp/h1.pb.gz" 2>/dev/null | awk '$NF == "a" { print $1 }' >"$tmp/want"
	prof-merge --minus "$tmp/h0" "$tmp/h1" | prof-render -t alloc_space --unit B |
		awk '$NF == "a" { print $1 }' >"$tmp/got"
	same "$tmp/got" "$tmp/want" "as go tool pprof -base has it"
else
	skip 'no go' 'as go tool pprof -base has it'
fi
done_testing
