#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-diff on real captures of the demo service: a release against itself, against one that is
# slower by 5 % of the total in one function, and against one that is much faster. Every side is a
# process of its own under a load that changes; no profile is on two sides of one claim: the base
# sides of the second claim are base sides of the first.
#
# PROFPIPE_DIFF_SAME (20), PROFPIPE_DIFF_SLOWER (10): how many pairs of each
# PROFPIPE_DIFF_RATE (997), PROFPIPE_DIFF_INTERVALS (5), PROFPIPE_DIFF_SECONDS (5, of each)
# 51 sides, of half a minute each, as it stands. For a quiet machine.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"

needs_capture
same=${PROFPIPE_DIFF_SAME:-20}
slower=${PROFPIPE_DIFF_SLOWER:-10}
rate=${PROFPIPE_DIFF_RATE:-997}
intervals=${PROFPIPE_DIFF_INTERVALS:-5}
seconds=${PROFPIPE_DIFF_SECONDS:-5}
cd "$tmp" || exit

# --- the releases ---------------------------------------------------------------------------------
# build NAME FLAG…
flags='-O2 -g -fno-omit-frame-pointer'
build() {
	name=$1
	shift
	mkdir "$name"
	# shellcheck disable=SC2086
	gcc $flags "$@" -I"$top" -fPIC -shared -o "$name/libmathdep.so" "$top/demo/c/mathdep/mathdep.c" &&
		gcc $flags "$@" -I"$top" -pthread -o "$name/demo-server" server.c -L"$name" -lmathdep \
			"-Wl,-rpath,\$ORIGIN"
	ok $? "builds $name"
}
# what handle_add does besides
sed '/^\tsnprintf(body/i #ifdef EXTRA\n\tfor (volatile long i = 0; i < EXTRA; i++)\n\t\t;\n#endif' \
	"$top/demo/c/server.c" >server.c
build v1
build v2 -DMATHDEP_FIXED
# how much of that is 5 % of a request, by CPU time
cat >extra.c <<'C'
#include <stdio.h>
#include <time.h>
#include "demo/c/mathdep/mathdep.h"
int main(void)
{
	clock_t a = clock(), b, c;

	for (int i = 0; i < 100; i++)
		addition(i, i);
	b = clock();
	for (volatile long i = 0; i < 100000000; i++)
		;
	c = clock();
	printf("%.0f\n", 0.05 * (double)(b - a) / 100 / ((double)(c - b) / 1e8));
	return 0;
}
C
# shellcheck disable=SC2086
gcc $flags -I"$top" -o extra extra.c -Lv1 -lmathdep "-Wl,-rpath,$tmp/v1" &&
	extra=$(./extra) && [ "$extra" -gt 0 ]
ok $? "5 % of a request are $extra turns of a loop"
build slow "-DEXTRA=$extra"
# shellcheck disable=SC2086
gcc $flags -I"$top" -pthread -o demo-load "$top/demo/c/load.c"
ok $? "builds the load"

# --- one side -------------------------------------------------------------------------------------
# measure RELEASE NAME: a process of it, its load, its intervals; the requests go to NAME.done. All
# of them are answered while it is captured.
sides=0
measure() {
	sides=$((sides + 1))
	length=$((intervals * seconds))
	"$1/demo-server" $((length + 60)) >port &
	server=$!
	while [ ! -s port ]; do
		sleep 0.1
	done
	prof-capture -q -F "$rate" -i "$seconds" -n "$intervals" --pid "$server" >"$2.raw" 2>"$2.err" &
	capture=$!
	sleep 2
	: >"$2.done"
	at=3
	while [ $((at + 2)) -lt "$length" ]; do
		# 80 to 200 a second
		./demo-load "$(cat port)" $((80 + (sides * 37 + at * 17) % 121)) 2 >>"$2.done"
		at=$((at + 2))
	done
	wait "$capture"
	result=$?
	kill "$server"
	wait "$server" 2>/dev/null
	rm port
	[ "$result" -eq 0 ] && prof-symbolize -q -o "$2.pb.gz" "$2.raw" && rm "$2.raw"
}
requests() {
	awk '{ n += $1 } END { print n + 0 }' "$1.done"
}
# judge HOW BASE NEW: what was found, by its verdict: "regressed handle_add …"
judge() {
	case $1 in
	work) set -- "$@" --work "base=$(requests "$2"),new=$(requests "$3")" ;;
	esac
	base=$2 new=$3
	shift 3
	# what is left of v1 in v2 is not much
	prof-diff -q --force "$@" --report "json:$base-$new.json" -o /dev/null "$base.pb.gz" "$new.pb.gz" || return
	jq -r '[.functions[] | select(.verdict | IN("regressed", "improved", "new", "gone")) |
		"\(.verdict) \(.name)"] | join(", ")' "$base-$new.json"
}
# at_most N OF PART: so many of a part of so many
at_most() {
	awk -v n="$1" -v all="$2" -v part="$3" 'BEGIN { exit n > (all * part < 1 ? 1 : all * part) }'
}

# --- v1 against itself, and against a slower one ----------------------------------------------------
false_work=0 false_plain=0
i=0
while [ "$i" -lt "$same" ]; do
	i=$((i + 1))
	{ measure v1 "a$i" && measure v1 "b$i"; } || break
	for how in work plain; do
		found=$(judge $how "a$i" "b$i") || found='no verdict'
		[ -z "$found" ] && continue
		echo "# v1 against v1, $i, $how: $found"
		[ $how = work ] && false_work=$((false_work + 1)) || false_plain=$((false_plain + 1))
	done
done
is "$i" "$same" "v1 against v1: all are measured"
at_most "$false_plain" "$same" 0.05
ok $? "v1 against v1: $false_plain of $same with a false verdict"
# what a request costs differs from process to process, by the clock of the CPU and its neighbours:
# intervals of one process do not show that, so this is not held to a limit
echo "# by the requests: $false_work of $same"

found_work=0 found_plain=0
i=0
while [ "$i" -lt "$slower" ]; do
	i=$((i + 1))
	[ -f "a$i.pb.gz" ] || measure v1 "a$i" || break
	measure slow "s$i" || break
	for how in work plain; do
		found=$(judge $how "a$i" "s$i") || found='no verdict'
		case ", $found," in
		*', regressed handle_add,'* | *', new handle_add,'*)
			[ $how = work ] && found_work=$((found_work + 1)) || found_plain=$((found_plain + 1))
			;;
		*) echo "# v1 against a slower one, $i, $how: found $found" ;;
		esac
	done
done
is "$i" "$slower" "v1 against one slower by 5 %: all are measured"
at_most $((slower - found_plain)) "$slower" 0.1
ok $? "v1 against one slower by 5 %: named $found_plain of $slower times"
at_most $((slower - found_work)) "$slower" 0.1
ok $? "by the requests: named $found_work of $slower times"

# --- v1 against v2 ----------------------------------------------------------------------------------
[ -f a1.pb.gz ] || measure v1 a1
measure v2 fast
ok $? "v2 is measured"
judge work a1 fast >out
like out '(improved|gone) fib' "v2: fib costs less"
jq -r '.types[0].functions[] | "\(.cum_test.verdict) \(.name)"' a1-fast.json >out
like out '^(improved|gone) addition$' "and addition with what it calls"
prof-diff -q --force --work "base=$(requests fast),new=$(requests a1)" --gate 'regressed > +1%' \
	--report json:turned.json -o /dev/null fast.pb.gz a1.pb.gz
is $? 1 "the other way round a gate fails"
jq -r '.functions[] | "\(.verdict) \(.name)"' turned.json >out
like out '^(regressed|new) fib$' "and fib costs more"
jq -r '.types[0].functions[] | "\(.cum_test.verdict) \(.name)"' turned.json >out
like out '^(regressed|new) addition$' "and addition"
done_testing
