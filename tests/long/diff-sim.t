#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-diff on simulated releases, whose truth is known: how often it cries wolf, and how often it
# finds what is there. PROFPIPE_DIFF_SIM names the simulator: `emit DIR --seed N --shift X
# --intervals N --renames N` writes both sides and truth.json, `score truth.json report.json`
# counts. The limits leave room for chance: 3 standard deviations below what is wanted.
. "$top/tests/lib/tap.sh"
sim=${PROFPIPE_DIFF_SIM:-}
[ -f "$sim" ] || skip_all "no simulator (PROFPIPE_DIFF_SIM)"
command -v python3 >/dev/null || skip_all "no python3"
draws=${PROFPIPE_DIFF_SIM_DRAWS:-100}

# draw EMIT-OPTIONS…: $found and $false of so many draws
draw() {
	: >"$tmp/scores"
	seed=0
	while [ "$seed" -lt "$draws" ]; do
		seed=$((seed + 1))
		rm -rf "$tmp/d"
		python3 "$sim" emit "$tmp/d" --seed "$seed" "$@" || return
		prof-diff -q --report "json:$tmp/d/report.json" -o /dev/null \
			--base "$tmp"/d/base-*.pb.gz --new "$tmp"/d/new-*.pb.gz || return
		python3 "$sim" score "$tmp/d/truth.json" "$tmp/d/report.json" >>"$tmp/scores" || return
	done
	found=$(jq -s 'map(.found) | add' "$tmp/scores")
	false=$(jq -s 'map(.reports_with_false_flags) | add' "$tmp/scores")
	echo "# $*: $draws draws, found $found, with a false flag $false"
}
# at_most N PERCENT, at_least N PERCENT: of the draws, with what chance may add or take
at_most() {
	awk -v n="$1" -v p="$2" -v d="$draws" 'BEGIN { p /= 100; exit n > p * d + 3 * sqrt(d * p * (1 - p)) }'
}
at_least() {
	awk -v n="$1" -v p="$2" -v d="$draws" 'BEGIN { p /= 100; exit n < p * d - 3 * sqrt(d * p * (1 - p)) }'
}

draw --shift 0
at_most "$false" 2
ok $? "5+5 intervals, the same build: false flags"
draw --shift 0.01
at_least "$found" 95
ok $? "one function costs 1 % of the total more"
at_most "$false" 2
ok $? "and no other one is named"
draw --shift 0.005
at_least "$found" 75
ok $? "0.5 %"
draw --shift 0 --intervals 2
at_most "$false" 2
ok $? "2+2 intervals, the same build: false flags"
draw --shift 0.05 --intervals 2
at_least "$found" 95
ok $? "5 %, by 2+2"
draw --shift 0 --renames 10
at_most "$false" 2
ok $? "ten functions with suffixes of a compiler: false flags"
done_testing
