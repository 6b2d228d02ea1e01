#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# --follow: a table of each profile of a stream, before the next one is there.
. "$top/tests/lib/tap.sh"

# profile N VALUE: of the interval that starts N seconds in
profile() {
	cat <<END | prof-merge -o "$tmp/$1.pb.gz"
# profpipe text 1
profile
time 17000000${1}000000000
duration 10000000000
type "samples" "count"
type "cpu" "nanoseconds" default
function 1 "main" "" "" 0
function 2 "work" "" "" 0
location 1 m0 0x0 f1:1:0
location 2 m0 0x0 f2:2:0
sample 1 $2 : 2 1 : "comm"="app"
sample 1 50 : 1 : "comm"="other"
end
END
}
profile 10 100
profile 20 2000
profile 30 3
cat "$tmp/10.pb.gz" "$tmp/20.pb.gz" "$tmp/30.pb.gz" >"$tmp/all.pb.gz"

# each FORMAT OPTION…: what the members are by themselves, with empty lines between
each() {
	for member in 10 20 30; do
		[ "$member" = 10 ] || echo
		prof-render -f "$@" "$tmp/$member.pb.gz"
	done
}
for format in table tree tags markdown; do
	prof-render -f "$format" --follow "$tmp/all.pb.gz" >"$tmp/got"
	each "$format" >"$tmp/want"
	same "$tmp/got" "$tmp/want" "$format: as each profile has it alone"
done
is "$(grep -c '^| [0-9]' "$tmp/want")" 6 "which is two functions each"
for options in '-s comm=app' '--focus work' '--hide main' '-t samples' '--root-by comm' '--granularity lines'; do
	# shellcheck disable=SC2086
	prof-render $options --follow "$tmp/all.pb.gz" >"$tmp/got"
	# shellcheck disable=SC2086
	each table $options >"$tmp/want"
	same "$tmp/got" "$tmp/want" "with $options"
done
prof-render --follow --since @1700000020 --until @1700000030 "$tmp/all.pb.gz" >"$tmp/got"
prof-render "$tmp/20.pb.gz" >"$tmp/want"
same "$tmp/got" "$tmp/want" "what is left out leaves no empty line"

# the second profile is not sent before the first table is there
# shellcheck disable=SC2094
{
	cat "$tmp/10.pb.gz"
	for _ in $(seq 600); do
		! grep -q ' main$' "$tmp/got" || break
		sleep 0.1
	done
	cp "$tmp/got" "$tmp/first"
	cat "$tmp/20.pb.gz"
} | prof-render --follow >"$tmp/got"
prof-render "$tmp/10.pb.gz" >"$tmp/want"
same "$tmp/first" "$tmp/want" "a table is there before the next profile is"
is "$(grep -c '^Type: cpu' "$tmp/got")" 2 "then comes the next"

# --- trouble ------------------------------------------------------------------------------------
head -c 100 "$tmp/20.pb.gz" >"$tmp/cut.pb.gz"
run prof-render --follow "$tmp/10.pb.gz" "$tmp/cut.pb.gz" "$tmp/30.pb.gz"
is "$status $(grep -c '^Type' "$tmp/out")" "2 1" "bad input ends it, after what came before"
like "$tmp/err" '^prof-render: .*/cut\.pb\.gz: ' "and is named"
run prof-render --skip-bad --follow "$tmp/10.pb.gz" "$tmp/cut.pb.gz" "$tmp/30.pb.gz"
is "$status $(grep -c '^Type' "$tmp/out")" "0 2" "--skip-bad goes on"
for format in svg html text json; do
	refuses "$format is no table" prof-render --follow -f "$format" "$tmp/all.pb.gz"
	like "$tmp/err" "^prof-render: --follow shows tables as they come, which -f $format is not\$" "and says so"
done
refuses "nothing to follow" prof-render --follow </dev/null
run sh -c 'prof-render --follow "$1" >/dev/full' - "$tmp/all.pb.gz"
is "$status" 2 "a full device"
done_testing
