#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# deploy/cron/profpipe, left alone for PROFPIPE_UNATTENDED seconds (600) on a machine where programs
# are busy one after the other: at the end, the store knows who was busy when, and for how long.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/capture.sh"
. "$top/tests/lib/spool.sh"

needs_capture
length=${PROFPIPE_UNATTENDED:-600}
store=$tmp/store
prof-spool init "$store"
sed -n "s|/var/lib/profpipe|$store|; s/^\([0-9*][^	]*\)	root	/\1	/p" "$top/deploy/cron/profpipe" >"$tmp/crontab"

# --- what cron does ----------------------------------------------------------------------------
# due FIELD VALUE: of the forms *, */N and N
due() {
	case $1 in
	'*') true ;;
	'*/'*) [ $(($2 % ${1#*/})) -eq 0 ] ;;
	*) [ "$1" -eq "$2" ] ;;
	esac
}
# a minute's jobs; what they print would be mailed
minute() {
	# without leading zeros
	read -r m h d mon dow <<-END
		$(date '+%-M %-H %-d %-m %w')
	END
	while read -r min hour day month week command; do
		if due "$min" "$m" && due "$hour" "$h" && due "$day" "$d" && due "$month" "$mon" &&
			due "$week" "$dow"; then
			sh -c "$command" >>"$tmp/mail" 2>&1 </dev/null &
			echo $! >>"$tmp/jobs"
		fi
	done <"$tmp/crontab"
}
cron() {
	while :; do
		minute
		sleep $((60 - $(date +%s) % 60)) &
		wait $!
	done
}
: >"$tmp/mail"
: >"$tmp/jobs"
cron &
crond=$!
# end_jobs: those that are at work
end_jobs() {
	kill "$crond" 2>/dev/null
	while read -r job; do
		# shellcheck disable=SC2046 # several
		kill $(pgrep -P "$job") "$job" 2>/dev/null
	done <"$tmp/jobs"
}
busy=''
trap 'end_jobs; kill -KILL $busy 2>/dev/null; rm -rf "$tmp"' EXIT

# --- phases ------------------------------------------------------------------------------------
# Profiles are of ten seconds: with pauses of 22, none has samples of two phases.
started=$(date +%s)
first() { [ "$(files raw)" -ge 1 ]; }
wait_for first
ok $? 'it captures' || diag "$tmp/mail" "$store/run.log"
phase() {
	cp "$workload" "$tmp/$1"
	from=$(date +%s)
	"$tmp/$1" burn 6000000 >/dev/null &
	busy=$!
	worked "$busy" 12000
	kill -STOP "$busy"
	ms=$(awk '{ print ($14 + $15) * 10 }' "/proc/$busy/stat")
	{ kill -KILL "$busy" && wait "$busy"; } 2>/dev/null
	busy=''
	echo "$1 $from $(date +%s) $ms" >>"$tmp/phases"
	sleep 22
}
while [ $(($(date +%s) - started)) -lt "$length" ]; do
	for name in red green blue; do
		phase "$name"
	done
done
# taken TIME: a profile that began after that, so all before it are there, too
taken() {
	name=$(find "$store/raw" -name '2*' -printf '%f\n' | sort | tail -n 1)
	expr "$name" '>' "$(date -u -d "@$1" +%Y%m%dT%H%M%S)" >/dev/null
}
last=$(tail -n 1 "$tmp/phases" | cut -d' ' -f3)
wait_for taken "$last"
ok $? 'to the end'
end_jobs
wait
is "$(cat "$tmp/mail")" '' 'and has nothing to say'

# --- who was busy when -------------------------------------------------------------------------
diag <<END
$(wc -l <"$tmp/phases") phases, $(files raw) profiles, $(files 1m) minutes, $(du -sk "$store/raw" | cut -f1) kB
END
# cpu SINCE UNTIL: lines "COMM MS" of the three
cpu() {
	prof-spool query "$store" --since="@$1" --until="@$2" | prof-render -f text | awk '
		/^sample/ && match($0, /"comm"="(red|green|blue)"/) {
			ms[substr($0, RSTART + 8, RLENGTH - 9)] += $3 / 1e6
		}
		END { for (c in ms) printf "%s %d\n", c, ms[c] }'
}
while read -r name from to ms; do
	cpu $((from - 20)) $((to + 2)) >"$tmp/seen"
	is "$(cut -d' ' -f1 "$tmp/seen")" "$name" "@$from: $name and no other"
	# four standard errors and a tenth: ticks that a busy machine did not give
	awk -v ms="$ms" '{ d = $2 - ms; n = ms * 0.099; exit !(d * d <= (4 * sqrt(n) / 0.099 + ms / 10) ^ 2) }' \
		"$tmp/seen"
	ok $? "for $ms ms: $(cut -d' ' -f2 "$tmp/seen")"
done <"$tmp/phases"
prof-spool query "$store" -s 'comm=~"red|green|blue"' | prof-render -f csv >"$tmp/csv"
like "$tmp/csv" '"short_burn"' 'with names of functions' || head -n 5 "$tmp/csv" | diag

# --- the store ---------------------------------------------------------------------------------
run prof-spool tend -q "$store"
is "$status$(cat "$tmp/err")" 0 'it is tended once more'
[ "$(files 1m)" -ge $((length / 60 - 2)) ]
ok $? "minutes are added up: $(files 1m)"
prof-spool query "$store" --without=pid >"$tmp/got.pb.gz"
prof-merge --without=pid "$store/raw" >"$tmp/want.pb.gz"
cmp "$tmp/got.pb.gz" "$tmp/want.pb.gz"
ok $? 'each profile counts once'
prof-merge --list=ranges "$store/raw" >"$tmp/ranges"
diag "$tmp/ranges"
run prof-spool verify --deep "$store"
is "$status $(cat "$tmp/out")" '0 ' 'all files are good'
done_testing
