#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-spool over days of ten-second profiles and a year of hourly ones, that pass in minutes:
# killed at random moments, on a disk that fills up, two at a time, with a clock that steps. After
# each, every profile is in exactly one place.
# PROFPIPE_SPOOL_DAYS (3) and PROFPIPE_SPOOL_YEAR_DAYS (365) say how long; SEED (1) chooses moments.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/spool.sh"

days=${PROFPIPE_SPOOL_DAYS:-3}
year=${PROFPIPE_SPOOL_YEAR_DAYS:-365}
seed=${SEED:-1}
store=$tmp/store
today=$(($(date +%s) / 86400 * 86400))

# chance N: 0 to N - 1, the same for the same SEED
chance() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	chance=$((seed / 65536 % $1))
}

# At once, with a kill in between: add the files of a list, and tend.
storm() {
	xargs setsid -w prof-spool add "$store" <"$1" 2>/dev/null &
	adder=$!
	setsid prof-spool tend -q "$store" 2>/dev/null &
	tender=$!
	chance 10
	sleep "0.$chance"
	pkill -KILL -f "prof-spool (add|tend -q) $store" 2>/dev/null
	kill -KILL -- "-$tender" 2>/dev/null
	wait "$adder" "$tender" 2>/dev/null
	xargs prof-spool add "$store" <"$1"
}

# --- days of ten seconds -----------------------------------------------------------------------
prof-spool init --keep=raw=400d,1m=400d,1h=400d "$store"
profiles "$tmp/in" $((today - (days + 1) * 86400)) $((days * 8640)) 10
find "$tmp/in" -name '*.pb.gz' | sort >"$tmp/names"
is "$(wc -l <"$tmp/names")" $((days * 8640)) 'profiles are made'
split -l 400 "$tmp/names" "$tmp/part."
bad=0
n=0
for part in "$tmp"/part.*; do
	storm "$part" || bad=$((bad + 1))
	n=$((n + 1))
	# what was added long ago goes while more comes
	[ $n != 30 ] || prof-spool init --keep=raw=$((days))d,1m=$((days))d "$store"
done
is "$bad" 0 'all are added, for all that was killed'
# a clock that was set back: other profiles of seconds that are long past, within what is kept
prof-spool init --keep=raw=400d,1m=400d,1h=400d "$store"
profiles "$tmp/in/again" $((today - 86400 - 3600)) 60 10
find "$tmp/in/again" -name '*.pb.gz' | while read -r f; do
	prof-merge -q --label=clock=stepped -o "$f" "$f"
done
prof-spool add "$store" "$tmp/in/again"/*.pb.gz
prof-spool tend -q "$store" &
prof-spool tend -q "$store"
wait $!
if [ -e "$store/lost.log" ]; then
	# only what came back after its minutes were closed may be lost, and is counted
	is "$(grep -vc 'its window is closed' "$store/lost.log")" 0 'losses have a cause' ||
		diag "$store/lost.log"
	is "$(find "$store/bad" -name '*.pb.gz' | wc -l)" "$(wc -l <"$store/lost.log")" 'and are kept'
	prof-merge -q "$tmp/in" "$tmp/in/again" >"$tmp/want"
	{ prof-spool query "$store" && cat "$store/bad"/*.pb.gz; } | prof-merge -q >"$tmp/got"
	cmp -s "$tmp/got" "$tmp/want"
	ok $? 'each is in one place: summed, or lost'
else
	each_once 'each is in one place' "$tmp/in"
fi
run prof-spool verify --deep "$store"
is "$status $(cat "$tmp/out")" '0 ' 'and all files are good'

# --- a year of hours, in little room -----------------------------------------------------------
rm -rf "$tmp/in" "$store" "$tmp"/part.*
prof-spool init --keep=raw=7d,1m=7d,1h=30d "$store"
profiles "$tmp/in" $((today - (year + 1) * 86400)) $((year * 24)) 3600
find "$tmp/in" -name '*.pb.gz' | sort >"$tmp/names"
split -l 720 "$tmp/names" "$tmp/part."
for part in "$tmp"/part.*; do
	if ! storm "$part" || ! prof-spool tend -q "$store"; then
		break
	fi
done
each_once 'a year of hours: each is in one place' "$tmp/in"
prof-spool init --keep=raw=1d,1m=1d "$store"
prof-spool tend -q "$store"
is "$(files raw) $(files 1m)" '0 0' 'the fine levels can go'
[ "$(files 1d)" -ge "$year" ]
ok $? 'and each day is there'
each_once 'with all in them' "$tmp/in"
run prof-spool verify "$store"
is "$status $(cat "$tmp/out")" '0 ' 'and all files are good'
done_testing
