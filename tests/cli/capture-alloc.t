#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-capture -e alloc: allocations and what is in use, held to what a program says it did, over
# the allocators that programs have.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

load=$build/tests/lib/allocload

refuses 'without a process' prof-capture -e alloc -d 1
is "$(cat "$tmp/err")" 'prof-capture: -e alloc: needs -p PID or COMMAND' '... it says what it needs'
refuses '--inuse of no allocations' prof-capture --inuse -- true
for size in 0 2G -1 many; do
	refuses "--alloc-bytes=$size" prof-capture -e alloc --alloc-bytes=$size -- true
done

needs_capture
cd "$tmp" || exit
case $build in */san-*) skip_all 'a sanitizer has an allocator of its own' ;; esac

# value FILE TYPE REGEX: sum of the stacks (function names, root first) that match
value() {
	prof-symbolize -q "$1" | prof-render -q -f folded -t "$2" |
		awk -v re="$3" '{ n = $NF; sub(/ [0-9]+$/, ""); if ($0 ~ re) s += n } END { printf "%.0f\n", s }'
}

# counter FILE KEY: of all profiles, a number each
counter() {
	prof-render -f text "$1" | sed -n "s/^comment \"profpipe: $2=\(.*\)\"/\1/p" | xargs
}

# both FILE FUNCTION: number and bytes of what it asked for itself
both() {
	echo "$(value "$1" alloc_objects ";$2\$") $(value "$1" alloc_space ";$2\$")"
}

# whole OUT OPTION…: everything is a sample, whatever it costs
whole() {
	out=$1
	shift
	run prof-capture -e alloc --alloc-bytes=1 --force -o "$out" "$@"
}

# --- counts ------------------------------------------------------------------------------------

works='small 3000 zeroed 2000 grown 1000 aligned 500 stretch 400'
# counted FILE NAME
counted() {
	is "$(both "$1" small)" '3000 300000' "$2: malloc"
	is "$(both "$1" zeroed)" '2000 600000' "$2: calloc"
	is "$(both "$1" grown)" '2000 120000' "$2: realloc, also of nothing"
	is "$(both "$1" aligned)" '1000 1000000' "$2: posix_memalign and aligned_alloc"
	is "$(both "$1" stretch)" '400 802000' "$2: a block that grows"
	is "$(counter "$1" unexplained) $(counter "$1" 'lost_[a-z]*' | tr -d '0 ')" '0 ' "$2: nothing unexplained or lost"
}
# shellcheck disable=SC2086 # words
whole glibc -- "$load" nap 300 $works
is "$status" 0 '-e alloc' || diag "$tmp/err"
like "$tmp/err" '^prof-capture: alloc: [0-9]+ calls at [0-9.]+ us$' '... the price is told'
counted glibc 'C library'
is "$(counter glibc kept) $(counter glibc alloc_calls)" "$(counter glibc expected) $(counter glibc expected)" \
	'all are samples'
is "$(prof-render -f text glibc | grep -E '^(period|type)' | xargs)" \
	'period alloc_space bytes 1 type alloc_objects count type alloc_space bytes default' 'types and period'
for library in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2.0; do
	found=$(find /usr/lib -name "lib$library" | head -n 1)
	if [ -z "$found" ]; then
		skip "no lib$library" "$library"
		continue
	fi
	# shellcheck disable=SC2086 # words
	whole other -- env LD_PRELOAD="$found" "$load" nap 500 $works
	counted other "${library%%.*}"
done

whole threads -- "$load" nap 300 threads 5000
is "$(value threads alloc_objects ';small$')" 20000 'threads: none is lost between them'
whole child -- "$load" nap 300 fork nap 300 small 700
is "$(value child alloc_objects ';small$')" 700 'a child'
whole other -- "$load" exec nap 500 small 900
is "$(value other alloc_objects ';small$')" 900 'another program of the same process'
whole first -- "$load" small 1000
is "$(counter first unexplained) $(value first alloc_space .)" "0 $(counter first alloc_bytes)" \
	'from its first instruction on: all counted'
[ "$(counter first alloc_bytes)" -ge 100000 ]
ok $? '... and all seen'

# --- C++, one file, no file ----------------------------------------------------------------------

cat >new.cc <<'END'
#include <cstdlib>
#include <new>
#include <unistd.h>
struct S { char b[200]; };
struct alignas(128) A { char b[256]; };
void *volatile sink;
__attribute__((noinline)) void made() { S *s = new S; sink = s; delete s; }
__attribute__((noinline)) void array() { char *s = new char[64]; sink = s; delete[] s; }
__attribute__((noinline)) void over() { A *s = new A; sink = s; delete s; }
__attribute__((noinline)) void quiet() { S *s = new (std::nothrow) S; sink = s; delete s; }
int main(int c, char **)
{
	usleep(500000 * (c > 1 ? 4 : 1));
	for (int i = 0; i < 1000; i++) {
		made();
		array();
		over();
		quiet();
	}
}
END
# operators FILE NAME
operators() {
	is "$(value "$1" alloc_space ';made(;|$)') $(value "$1" alloc_space ';array(;|$)')" '200000 64000' "$2: new, new[]"
	is "$(value "$1" alloc_space ';over(;|$)') $(value "$1" alloc_space ';quiet(;|$)')" '256000 200000' "$2: aligned, nothrow"
	is "$(counter "$1" unexplained)" 0 "$2: nothing unexplained"
}
if g++ -std=c++17 -g -O1 -fno-builtin new.cc -o new && g++ -std=c++17 -g -O1 -fno-builtin -static new.cc -o static; then
	whole cxx -- ./new
	operators cxx 'C++'
	whole cxx -- ./static
	operators cxx 'a static program'
	for library in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2.0; do
		found=$(find /usr/lib -name "lib$library" | head -n 1)
		if [ -z "$found" ]; then
			skip "no lib$library" "$library"
			continue
		fi
		whole cxx -- env LD_PRELOAD="$found" ./new
		operators cxx "C++ with ${library%%.*}"
	done
	cp static gone
	./gone late &
	pid=$!
	rm gone
	whole cxx -p $pid -d 2.5
	wait $pid
	is "$(counter cxx alloc_bytes)" 720000 'a program whose file was deleted'
	strip static
	run prof-capture -e alloc -d 0.1 -o bare -- ./static
	is "$status" 0 'one without symbols' || diag "$tmp/err"
else
	skip 'no g++' 'C++'
fi
"$load" nap 3000 &
pid=$!
run prof-capture -e alloc -d 0.3 -o idle -p $pid
is "$status" 0 'a process that asks for nothing' || diag "$tmp/err"
kill $pid
cat >quiet.c <<'END'
#include <unistd.h>
int main(void) { pause(); }
END
if gcc -static -s quiet.c -o quiet 2>/dev/null; then
	./quiet &
	pid=$!
	run prof-capture -e alloc -d 0.3 -o idle -p $pid
	kill $pid
	is "$(head -n 1 "$tmp/err")" "prof-capture: alloc: process $pid: no allocator that we know" 'no allocator: is said'
else
	skip 'no static C library' 'no allocator'
fi
if command -v go >/dev/null; then
	cat >wait.go <<'END'
package main

import "time"

func main() { time.Sleep(time.Minute) }
END
	GOCACHE=$tmp/gocache CGO_ENABLED=0 go build -o wait wait.go 2>/dev/null
	./wait &
	pid=$!
	run prof-capture -e alloc -d 0.3 -o idle -p $pid
	kill $pid
	is "$(head -n 1 "$tmp/err")" "prof-capture: alloc: process $pid is Go's: prof-scrape has its heap" "a Go program: its own heap's place is told"
else
	skip 'no go' 'a Go program'
fi

# --- samples -------------------------------------------------------------------------------------

# The standard error of an estimate is at most 1 / sqrt(samples): of twenty runs all lie within
# 4.5 of them, not more than 5 beyond 2, and their sum as well.
round=0
while [ $round -lt 20 ]; do
	run prof-capture -q -e alloc --alloc-bytes=64K --force -o part -- "$load" nap 100 mixed 20
	echo "$(value part alloc_space .) $(counter part alloc_bytes) $(counter part kept) $(value part alloc_objects .) $(counter part alloc_calls)"
	round=$((round + 1))
done >runs
awk '{ z = ($1 - $2) / $2 * sqrt($3); if (z < 0) z = -z; if (z > 4.5) bad++; if (z > 2) far++ }
	END { exit !(NR == 20 && !bad && far <= 5) }' runs
ok $? 'samples: each estimate within its error' || diag runs
awk '{ a += $1; b += $2; n += $3 } END { z = (a - b) / b * sqrt(n); exit !(z < 4.5 && z > -4.5) }' runs
ok $? '... and all together' || diag runs
run prof-capture -q -e alloc --alloc-bytes=16 --force -o part -- "$load" nap 200 small 20000
awk -v a="$(value part alloc_objects ';small')" 'BEGIN { exit !(a > 19900 && a < 20100) }'
ok $? 'samples stand for as many as there were' || value part alloc_objects ';small' | diag
is "$(prof-render -f text part | grep ^period)" 'period "alloc_space" "bytes" 16' '... the period says how many bytes each'

# --- what is in use ------------------------------------------------------------------------------

whole use --inuse -d 1.2 -- "$load" nap 400 leak 100 keep 500 stretch 300 small 200 zeroed 100 aligned 50 nap 3000
is "$(value use inuse_objects ';leak') $(value use inuse_space ';leak')" '100 12300' 'in use: what leaks'
is "$(value use inuse_objects ';keep') $(value use inuse_space ';keep')" '500 500000' '... and what is kept'
is "$(value use inuse_space ';(small|zeroed|aligned|stretch)')" 0 '... and nothing that was freed'
is "$(value use alloc_space ';(small|zeroed|aligned|stretch)')" "$((20000 + 30000 + 100000 + 451500))" '... all was seen'
is "$(prof-render -f text use | grep -E '^type' | tail -n 1)" 'type "inuse_space" "bytes" default' '... is the default'
is "$(counter use lost_live) $(counter use unexplained)" '0 0' '... none lost'
prof-capture -q -e alloc --inuse --alloc-bytes=1 --force -i 1 -n 3 -- \
	"$load" nap 500 keep 500 nap 2000 drop leak 10 nap 5000 >steps
prof-symbolize -q steps | prof-render -q -f timeline -t inuse_space | awk -F, 'NR > 1 { print int($(NF - 1) / 1000) }' >levels
is "$(sed -n '1,2p' levels | xargs)" '500 500' 'intervals: a level that stays' || diag levels
[ "$(sed -n 3p levels)" -lt 3 ]
ok $? '... and falls when another thread frees' || diag levels
whole use --inuse -- "$load" nap 300 leak 500
is "$(value use inuse_space .) $(value use alloc_space ';leak')" '0 61500' 'who has ended has nothing in use'
whole use --inuse -d 1.5 -- "$load" nap 300 keep 500 exec nap 3000
is "$(value use inuse_space ';keep')" 0 'nor has a program that another one took the place of'

# --- the price -----------------------------------------------------------------------------------

"$load" small 2000000000 &
busy=$!
sleep 0.3
refuses 'a process that does little else' prof-capture -e alloc -d 0.5 -p $busy
like "$tmp/err" '^prof-capture: -e alloc: would take [0-9]+ % of .* calls/s at .* us\); --force does it$' '... how much it would cost'
run prof-capture -e alloc --force -d 0.5 -o forced -p $busy
is "$status" 0 '... but by force' || diag "$tmp/err"
[ "$(counter forced alloc_calls)" -gt 1000 ]
ok $? '... it is recorded'
kill $busy
run prof-capture -e alloc -o late -- "$load" nap 300 small 20000000 nap 700
is "$status" 0 'one that begins to later' || diag "$tmp/err"
like "$tmp/err" 'prof-capture: alloc: ends here: it takes [0-9]+ % .*; --force goes on$' '... is left alone'

run prof-capture -e alloc --inuse -i 0.2 -- "$load" nap 300 keep 500 small 20000000 nap 700
like "$tmp/err" 'prof-capture: alloc: ends here: ' '... in short intervals, too'
prof-render -f text "$tmp/out" | awk '/^profile$/ { n = 0 } /^sample/ { n++ } END { exit n > 0 }'
ok $? '... and nothing is said to be in use from then on'

# --- ends ----------------------------------------------------------------------------------------

"$load" nap 60000 &
who=$!
start_capture -e alloc,offcpu --inuse -o killed -p $who
kill -9 "$pid"
wait "$pid" 2>/dev/null
sleep 0.3
if command -v bpftool >/dev/null; then
	is "$(bpftool prog 2>/dev/null | grep -cE 'on_alloc|on_free|on_return')" 0 'kill -9: no probe is left'
else
	skip 'no bpftool' 'kill -9'
fi
kill -0 $who
ok $? '... and the process lives'
kill -9 $who
cat >storm <<'END'
i=0
while [ $i -lt 150 ]; do
	"$1" small 20 &
	i=$((i + 1))
	[ $((i % 10)) -ne 0 ] || wait
done
wait
END
run prof-capture -e alloc,cpu --inuse --force --alloc-bytes=1 -i 0.2 -o 'storm-%s%N.{type}' -- sh storm "$load"
[ "$status" -ne 2 ] || run prof-capture -e alloc --inuse --force --alloc-bytes=1 -o storm.alloc -- sh storm "$load"
is "$status" 0 'a storm of processes' || diag "$tmp/err"
prof-merge -q storm*alloc -o all 2>/dev/null
is "$(counter all unexplained) $(counter all lost_live)" '0 0' '... nothing unexplained'
prof-render -f text all | awk '/^sample/ { for (i = 2; $i != ":"; i++) if ($i < 0) bad++ } END { exit bad > 0 }'
ok $? '... nothing negative'
done_testing
