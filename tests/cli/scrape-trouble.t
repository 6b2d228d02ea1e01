#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-scrape among those that mean it harm: what is kept from messages, stopped at work, two at
# one output, disks that are full.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/scrape.sh"

needs_server
once() {
	run prof-scrape run --once --state="$state" "$@" "$tmp/targets"
}

# --- tokens ------------------------------------------------------------------------------------

printf 'c2VjcmV0.t0ken' >"$tmp/token"
printf 's3crt' >"$tmp/short"
mkfifo "$tmp/fifo"
{ head -c 20000 /dev/zero | tr '\0' a && echo; } >"$tmp/long"
for file in token short fifo long; do
	echo "http://$host/echo job=$file profiles=goroutine timeout=60s bearer-file=$file"
done >"$tmp/targets"
echo o >"$tmp/o"
echo "http://127.0.0.1:1/ job=o profiles=goroutine timeout=60s bearer-file=o" >>"$tmp/targets"
once
is "$status $(wc -l <"$tmp/err")" '1 5' 'a line for each that is down'
is "$(grep -c -e c2VjcmV0 -e s3crt "$tmp/err")" 0 'a token that a server sends back is not said'
is "$(grep -rlE 'c2VjcmV0|s3crt' "$state")" '' '… nor kept'
for job in token short; do
	like "$tmp/err" "^prof-scrape: $job [^ ]+ goroutine: HTTP 403: an answer that holds the token$" \
		"… but that it did is ($job)"
done
like "$tmp/err" '^prof-scrape: o 127.0.0.1:1 goroutine: .*connect' '… and without an answer, what is wrong'
like "$tmp/err" '^prof-scrape: fifo [^ ]+ goroutine: no token in ' 'a FIFO is not waited for'
like "$tmp/err" '^prof-scrape: long [^ ]+ goroutine: not a bearer token' 'nor what is long a token'

# --- stopped at work -----------------------------------------------------------------------------

for mode in --once ''; do
	targets "http://$host/hang job=hang profiles=goroutine timeout=600s"
	: >"$tmp/server.out"
	# shellcheck disable=SC2086
	start_scraper $mode >"$tmp/out"
	wait_for grep -q hang "$tmp/server.out"
	ok $? "run $mode: a request is on its way"
	stop_scraper
	is "$stopped $(cat "$tmp/scraper.err")" '0 ' '… stopped, it says nothing'
	is "$(find "$state" -type f -path '*/goroutine/*')" '' '… and leaves nothing half fetched'
done

# --- two at one output ---------------------------------------------------------------------------

targets "http://$host job=web profiles=goroutine,threadcreate timeout=60s"
pids=''
for i in 1 2 3 4 5 6; do
	prof-scrape run --once --state="$tmp/state$i" -o "$tmp/files" "$tmp/targets" 2>"$tmp/err$i" &
	pids="$pids $!"
done
for pid in $pids; do
	wait "$pid" || echo "$?"
done >"$tmp/failed"
is "$(cat "$tmp/failed" "$tmp"/err[1-6])" '' 'six that write to one place do not disturb each other'
is "$(find "$tmp/files" -type f | grep -vc '/20[0-9]*T[0-9.]*Z\.pb\.gz$')" 0 \
	'… leave nothing but profiles'
run prof-merge -q --expect=12 "$tmp/files"
is "$status" 0 '… and lose none' || diag "$tmp/err"

# --- full disks ----------------------------------------------------------------------------------

cat >"$tmp/disk.sh" <<'END'
set -u
mkdir "$tmp/disk" && mount -t tmpfs -o size=128k none "$tmp/disk" || exit 77
once() {
	prof-scrape run --once --state="$tmp/disk/s" "$@" "$tmp/targets" >"$tmp/got" 2>>"$tmp/disk.err"
	echo "once $?"
}
fill() {
	dd if=/dev/zero of="$tmp/disk/fill" bs=1k 2>/dev/null
}
fill
once
echo --- >>"$tmp/disk.err"
rm "$tmp/disk/fill"
once
fill
once
once
prof-scrape status --state="$tmp/disk/s" "$tmp/targets" | sed 1d | cut -f1
echo --- >>"$tmp/disk.err"
rm "$tmp/disk/fill"
once -q
prof-merge -q --expect=1 "$tmp/got" >/dev/null && echo fetched
mkdir "$tmp/disk/o" && fill
once -q -o "$tmp/disk/o"
find "$tmp/disk/o" -type f
END
export tmp
targets "http://$host job=web profiles=goroutine timeout=60s"
unshare -m sh "$tmp/disk.sh" >"$tmp/disk.out" 2>"$tmp/disk.sh.err"
case $? in
77 | 1) skip 'no file system can be mounted here' 'a full disk' ;;
*)
	is "$(tr '\n' ' ' <"$tmp/disk.out")" 'once 2 once 0 once 1 once 1 down once 0 fetched once 1 ' \
		'a state on a full disk: down until there is room' || diag "$tmp/disk.out" "$tmp/disk.err"
	is "$(sed '/^---/,$d' "$tmp/disk.err")" "prof-scrape: $tmp/disk/s: cannot be written" \
		'… one line at the start'
	is "$(sed '1,/^---/d; /^---/,$d' "$tmp/disk.err" | sed "s| $host||")" \
		"prof-scrape: web goroutine: $tmp/disk/s: cannot be written" '… and one where it fills up'
	;;
esac
done_testing
