#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-diff on simulated releases, whose truth is known: how often it cries wolf, and how often it
# finds what is there. PROFPIPE_DIFF_SIM names the simulator, PROFPIPE_DIFF_SIM_DRAWS how many
# draws there are of each claim, PROFPIPE_DIFF_SIM_SEED the first of their seeds, and
# PROFPIPE_DIFF_SIM_CLAIMS the claims (all). The limits are what prof-diff is to hold; with few
# draws, or other seeds, chance may go beyond them.
. "$top/tests/lib/tap.sh"
sim=${PROFPIPE_DIFF_SIM:-}
[ -f "$sim" ] || skip_all "no simulator (PROFPIPE_DIFF_SIM)"
command -v python3 >/dev/null || skip_all "no python3"
draws=${PROFPIPE_DIFF_SIM_DRAWS:-200}
seed=${PROFPIPE_DIFF_SIM_SEED:-5001}
claims=${PROFPIPE_DIFF_SIM_CLAIMS:-same one half two two5 renames cheaper moved moved-wide moved-label moved-namespace detectable}

# draw CLAIM: false where it is not asked for
draw() {
	case " $claims " in
	*" $1 "*) ;;
	*) return 1 ;;
	esac
	python3 "$top/tests/lib/diff_draws.py" "$sim" "$1" "$draws" "$seed" >"$tmp/draws" || {
		ok 1 "$1: draws"
		return 1
	}
	echo "# $1: $(cat "$tmp/draws")"
}
# n KEY: how many draws were so
n() {
	tr ' ' '\n' <"$tmp/draws" | sed -n "s/^$1=//p"
}
# at_most N PERCENT, at_least N PERCENT: of the draws
at_most() {
	[ $(($1 * 100)) -le $(($2 * draws)) ]
}
at_least() {
	[ $(($1 * 100)) -ge $(($2 * draws)) ]
}

draw same && {
	# 8 of 200
	at_most "$(n false)" 4
	ok $? "5+5 intervals, the same build: false flags"
}
draw one && {
	at_least "$(n found)" 95
	ok $? "one function costs 1 % of the total more"
	at_most "$(n false)" 4
	ok $? "and no other one is named"
}
draw half && {
	at_least "$(n found)" 75
	ok $? "0.5 %"
}
draw two && {
	at_most "$(n false)" 2
	ok $? "2+2 intervals, the same build: false flags"
}
draw two5 && {
	at_least "$(n found)" 95
	ok $? "5 %, by 2+2"
}
draw renames && {
	at_most "$(n false)" 4
	ok $? "ten functions with suffixes of a compiler: false flags"
}
draw cheaper && {
	at_most "$(n false)" 2
	ok $? "one function costs 10 % of the total less: no other one more"
}
for claim in moved moved-wide moved-label moved-namespace; do
	# a namespace may be as wide as a quarter of the cost, and excuses more
	[ $claim = moved-namespace ] && lost=5 || lost=3
	draw $claim && {
		at_most "$(n false)" 15
		ok $? "$claim: five functions hand cost to others with the same caller: no false regression"
		for what in elsewhere taker; do
			at_most $(($(n unfiltered_$what) - $(n found_$what))) "$lost"
			ok $? "$claim: a true one is not lost by that ($what)"
		done
	}
done
draw detectable && for key in $(tr ' ' '\n' <"$tmp/draws" | sed -n 's/^asked_\(.*\)=.*/\1/p'); do
	at_least "$(n "found_$key")" 70 && at_most "$(n "found_$key")" 90
	ok $? "the least detectable rise is found in 70 to 90 % ($key)"
done
done_testing
