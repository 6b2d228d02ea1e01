#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What prof-scrape fetches from a Go server, once and all the time, and what it refuses.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/scrape.sh"

needs_server

# --- all profiles, as a stream -----------------------------------------------------------------
all=heap,goroutine,block,mutex,threadcreate,profile,fgprof
targets "http://$host job=web profiles=$all interval=60s seconds=1 timeout=60s label.env=test"
once() {
	run prof-scrape run --once --state="$state" "$@" "$tmp/targets"
}
once
is "$status $(cat "$tmp/err")" '0 ' 'all profiles of a server'
prof-merge --list=values --by=profile "$tmp/out" | cut -f2 | sort >"$tmp/got"
printf '%s\n' fgprof goroutine threadcreate >"$tmp/want"
grep -xv profile "$tmp/got" >"$tmp/no-cpu" # which may have had nothing to sample
same "$tmp/no-cpu" "$tmp/want" 'counters need an earlier one'
is "$(prof-merge --list=ranges "$tmp/out" | grep -c '^cpu:')" 1 'a profile of CPU time'
prof-merge --list=values --by=job,instance,env "$tmp/out" | cut -f1,2 >"$tmp/got"
printf '%s\n' "env${tab}test" "instance${tab}$host" "job${tab}web" >"$tmp/want"
same "$tmp/got" "$tmp/want" 'labels'
run prof-scrape status --state="$state" "$tmp/targets"
is "$status $(grep -c '^up' "$tmp/out")" '0 7' 'all are up'

tell /load
once
is "$status $(cat "$tmp/err")" '0 ' 'once more'
cp "$tmp/out" "$tmp/loaded"
prof-merge --list=types "$tmp/loaded" | grep -oE '^[a-z]+:(alloc_space|inuse_space|contentions|goroutine):' |
	sort >"$tmp/got"
printf '%s\n' contentions:contentions: goroutine:goroutine: space:alloc_space: space:inuse_space: \
	>"$tmp/want"
same "$tmp/got" "$tmp/want" 'now counters, too'
for profile in block mutex heap; do
	prof-merge -s "profile=$profile" "$tmp/loaded" | prof-render -f text |
		awk '/^duration [1-9]/ { n++ } END { exit !n }'
	ok $? "$profile is of the time between"
done
# gained TYPE FUNCTION: what stacks with that function have of it
gained() {
	prof-render -t "$1" --focus "$2" -s 'profile!=fgprof' -f folded "$tmp/loaded" 2>/dev/null |
		awk '{ n += $NF } END { printf "%d\n", n }'
}
[ "$(gained inuse_space main.hold)" -ge $((24 << 20)) ]
ok $? 'memory in use is where it was made' || gained inuse_space main.hold | diag
[ "$(gained alloc_space main.hold)" -ge $((24 << 20)) ]
ok $? 'and was allocated since' || gained alloc_space main.hold | diag
is "$(gained goroutine main.hold)" 500 'goroutines'
once
cp "$tmp/out" "$tmp/loaded"
is "$(gained alloc_space main.hold)" 0 'what was allocated counts once'
[ "$(gained inuse_space main.hold)" -ge $((24 << 20)) ]
ok $? 'what is in use stays'

# --- what is refused --------------------------------------------------------------------------
printf 'c2VjcmV0.t0ken~of-the_test==\n' >"$tmp/token"
printf 'c2VjcmV0.other' >"$tmp/other"
printf 'two words\n' >"$tmp/unfit"
: >"$tmp/none"
{
	for kind in page page502 words text plain cut two empty bomb long endless busy moved no-such; do
		echo "http://$host/$kind job=$kind profiles=goroutine timeout=60s"
	done
	echo "http://$host/hang job=hang profiles=goroutine timeout=1s"
	echo "http://127.0.0.1:1 job=dead profiles=goroutine"
	echo "https://$host job=tls profiles=goroutine"
	echo "http://$host/cut job=counter profiles=heap timeout=60s"
	for file in token other unfit none absent; do
		echo "http://$host/secret job=$file profiles=goroutine timeout=60s bearer-file=$file"
	done
	echo "http://$host/secret job=anonymous profiles=goroutine timeout=60s"
	echo "http://$host/debug/pprof job=web/../x profiles=goroutine timeout=60s bearer-file=$tmp/token"
} >"$tmp/targets"
once --max-size=1M -o "$tmp/files"
is "$status" 1 'some are down'
cp "$tmp/err" "$tmp/said"
prof-scrape status --state="$state" "$tmp/targets" >"$tmp/status"
while IFS='|' read -r job reason; do
	profile=goroutine
	[ "$job" != counter ] || profile=heap
	told_of "$job" "$profile" >"$tmp/got"
	like "$tmp/got" "^down${tab}[-0-9T:]+Z $reason\$" "$job: $reason"
	grep -qE "^prof-scrape: $job [^ ]+ [a-z]+: $reason\$" "$tmp/said"
	ok $? '… is said'
done <<'END2'
page|a page or picture, not pprof: fetch the profile itself
page502|HTTP 502
words|not a compressed profile
text|a Go text profile \(debug=1\): fetch it without debug=
plain|not a compressed profile
cut|truncated gzip member .*
counter|truncated gzip member .*
two|expected 1 profiles, got 2
empty|no profile in input
bomb|.*1048576.*
long|larger than 1M
endless|larger than 1M
busy|HTTP 500: Could not enable CPU profiling:\[31m in use
moved|HTTP 302: a redirect, which is not followed
no-such|HTTP 404: 404 page not found
hang|no complete answer within 1 s
dead|Failed to connect .*
tls|.*SSL.*
other|HTTP 401: who is that\?
anonymous|HTTP 401: who is that\?
unfit|not a bearer token: .*/unfit
none|no token in .*/none
absent|no token in .*/absent
END2
status_of token goroutine >"$tmp/got"
like "$tmp/got" '^up' 'a bearer token'
is "$(cd "$tmp/files" && find . -mindepth 1 -type d | sed 's|^\./||' | sort | tr '\n' ' ')" \
	"token token/$host token/$host/goroutine web%2F..%2Fx web%2F..%2Fx/$host web%2F..%2Fx/$host/goroutine " \
	'files of what is good, by names that are safe'
is "$(find "$tmp/files" -type f -name '20*Z.pb.gz' | wc -l)" 2 '… by the time'
is "$(find "$state" -name get -o -name out -o -name base | wc -l)" 0 'nothing is kept of the others'
prof-merge "$tmp/files" >"$tmp/out"
is "$(prof-merge --list=values --by=job "$tmp/out" | cut -f2 | tr '\n' ' ')" 'token web/../x ' \
	'which have the labels as they are'
once
cp "$tmp/err" "$tmp/said"
is "$(wc -l <"$tmp/said")" 0 'what is still down is not said again'

# --- a token is nobody's ---------------------------------------------------------------------
targets "http://$host/hang job=hang profiles=goroutine timeout=600s bearer-file=token"
: >"$tmp/server.out"
start_scraper --once >"$tmp/out"
wait_for grep -q hang "$tmp/server.out"
ok $? 'a request is on its way'
cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' >"$tmp/seen"
grep -q "^http://$host/hang/goroutine$" "$tmp/seen"
ok $? 'its process can be seen'
is "$(grep -c 'c2VjcmV0' "$tmp/seen")" 0 'its token cannot'
grep -rlF c2VjcmV0 "$state" >"$tmp/seen"
is "$(cat "$tmp/seen")" '' 'nor is it in a file'
stop_scraper
is "$stopped" 0 'told to stop, it stops at once'

# --- an output that does not take it -----------------------------------------------------------
targets "http://$host job=web profiles=goroutine timeout=60s"
refuses 'a full disk' sh -c 'prof-scrape run --once --state="$1" "$2" >/dev/full' - "$state" "$tmp/targets"
like "$tmp/err" 'No space left on device' '… is said'
prof-scrape run --once --state="$state" "$tmp/targets" >"$tmp/out"
is "$(prof-merge --list=types "$tmp/out" | wc -l) $(prof-merge --expect=2 "$tmp/out" >"$tmp/got"; echo $?)" '1 0' \
	'what was not taken comes first, the next time'

# --- all the time, into a store: a load comes and goes, and so does the server -----------------
tell /release
prof-spool init "$tmp/store"
targets "http://$host job=web profiles=heap,goroutine,mutex interval=1s timeout=60s" \
	"http://$host/hang job=slow profiles=heap interval=1s timeout=1h" \
	"http://127.0.0.1:1 job=dead profiles=heap interval=1s timeout=60s"
start_scraper --spool="$tmp/store"

# timeline TYPE SELECTOR: values of intervals of a second, in order of time
timeline() {
	prof-spool query "$tmp/store" --window=1s -s "$2" 2>/dev/null |
		prof-render -f timeline -t "$1" --by job 2>/dev/null | sed 1d | awk -F, '{ print $NF + 0 }'
}
# last_is TYPE SELECTOR CONDITION: so it is in the last interval
last_is() {
	timeline "$1" "$2" | awk "{ v = \$1 } END { exit !(NR && ($3)) }"
}
# once_was TYPE SELECTOR CONDITION: so it was in one of them
once_was() {
	timeline "$1" "$2" | awk "{ v = \$1 } $3 { n++ } END { exit !n }"
}
# level of memory, goroutines, and what is allocated per second
wait_for last_is goroutine profile=goroutine 'v < 100'
ok $? 'idle: few goroutines'
wait_for last_is inuse_space profile=heap 'v < 16e6'
ok $? '… little memory in use'
wait_for last_is alloc_space profile=heap 'v < 8e6'
ok $? '… little allocated'
tell /load
wait_for once_was goroutine profile=goroutine 'v >= 500'
ok $? 'under load: goroutines rise' || timeline goroutine profile=goroutine | diag
wait_for once_was inuse_space profile=heap 'v >= 24e6'
ok $? '… memory in use rises' || timeline inuse_space profile=heap | diag
wait_for once_was alloc_space profile=heap 'v >= 12e6'
ok $? '… and what is allocated' || timeline alloc_space profile=heap | diag
wait_for once_was delay profile=mutex 'v > 0.2'
ok $? '… and waiting for locks' || timeline delay profile=mutex | diag
tell /release
wait_for last_is goroutine profile=goroutine 'v < 100'
ok $? 'after it, goroutines fall' || timeline goroutine profile=goroutine | diag
wait_for last_is inuse_space profile=heap 'v < 16e6'
ok $? '… memory in use falls' || timeline inuse_space profile=heap | diag
wait_for last_is alloc_space profile=heap 'v < 8e6'
ok $? '… and what is allocated' || timeline alloc_space profile=heap | diag
wait_for last_is delay profile=mutex 'v < 0.1'
ok $? '… and waiting for locks' || timeline delay profile=mutex | diag
is_status slow heap new
ok $? 'all that while one target did not answer'
wait_for is_status dead heap down
ok $? 'and one is not there'

stop_server
wait_for is_status web heap down
ok $? 'the server ends: down'
like "$tmp/scraper.err" '^prof-scrape: web [^ ]+ heap: .' 'which is said'
start_server "$port"
wait_for is_status web heap up
ok $? 'another one at its place: up again'
like "$tmp/scraper.err" '^prof-scrape: web [^ ]+ heap: up again' 'which is said, too'
status_of web heap >"$tmp/got"
like "$tmp/got" "^up${tab}[-0-9T:]+Z ." 'with what was wrong last'
before=$(timeline alloc_space profile=heap | wc -l)
more_than() { [ "$(timeline alloc_space profile=heap | wc -l)" -gt "$1" ]; }
wait_for more_than $((before + 1))
ok $? 'it is fetched on'
prof-spool query "$tmp/store" --window=1s 2>/dev/null | prof-render -f text | awk '
	/^sample/ { for (i = 2; i <= NF && $i != ":"; i++) if ($i < 0) n++ } END { exit n > 0 }'
ok $? 'nothing is negative, though its counters began anew'

# --- told to ----------------------------------------------------------------------------------
run prof-scrape run --once --state="$state" --spool="$tmp/store" "$tmp/targets"
is "$status $(cat "$tmp/err")" '0 prof-scrape: another run is at work' 'one at a time'
echo "http://$host job=new profiles=goroutine interval=1s timeout=60s" >"$tmp/targets"
kill -HUP "$scraper"
wait_for is_status new goroutine up
ok $? 'told so, it reads its targets again'
units() { pgrep -P "$scraper" -f 'prof-scrape unit' >"$tmp/units"; }
units
is "$(wc -l <"$tmp/units")" 1 'and leaves those that are not there any more'
is "$(find "$state" -name base | wc -l)" 0 'with what was kept of them'
echo 'no target' >>"$tmp/targets"
kill -HUP "$scraper"
wait_for grep -q 'goes on with the targets of before' "$tmp/scraper.err"
ok $? 'a file with a mistake is not taken'
units
is "$(wc -l <"$tmp/units")" 1 'and all goes on'
sed -i '$d' "$tmp/targets"
was=$(cat "$tmp/units")
kill -KILL "$was"
another() { units && [ "$(cat "$tmp/units")" != "$was" ]; }
wait_for another
ok $? 'one that is killed is started again'
units
stop_scraper
is "$stopped" 0 'told to stop, it stops well'
# shellcheck disable=SC2046
gone $(cat "$tmp/units")
ok $? 'with all that it started'
start_scraper --spool="$tmp/store"
wait_for units
kill -KILL "$scraper"
wait "$scraper" 2>/dev/null
scraper=
# shellcheck disable=SC2046
wait_for gone $(cat "$tmp/units")
ok $? 'killed, it leaves nothing that runs'
run prof-scrape run --once --state="$state" --spool="$tmp/store" "$tmp/targets"
is "$status" 0 'and nothing that is in the way of the next'
run prof-spool verify --deep "$tmp/store"
is "$status $(cat "$tmp/out")" '0 ' 'the store is good'

# --- a reader that leaves ------------------------------------------------------------------------
(prof-scrape run --state="$state" "$tmp/targets" 2>"$tmp/err"; echo "$?" >"$tmp/ended") |
	head -c 1 >"$tmp/out"
is "$(cat "$tmp/ended") $(wc -c <"$tmp/out") $(cat "$tmp/err")" '2 1 ' 	'a reader that leaves ends it, silently'
done_testing
