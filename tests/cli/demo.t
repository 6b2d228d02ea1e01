#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The demo service answers, scripts/demo finds its hot function, and says so where BPF is
# refused.
. "$top/tests/lib/tap.sh"

flags='-O2 -g -fno-omit-frame-pointer -Wall -Wextra -Werror -I.'
cd "$top" || exit
for version in slow fixed; do
	define=
	[ $version = slow ] || define=-DMATHDEP_FIXED
	# shellcheck disable=SC2086
	gcc $flags $define -pthread -o "$tmp/server-$version" demo/c/server.c demo/c/mathdep/mathdep.c
	ok $? "the service in C compiles: $version"
done
# shellcheck disable=SC2086
gcc $flags -pthread -o "$tmp/load" demo/c/load.c
ok $? 'so does its load'
if command -v go >/dev/null; then
	for tag in slow fixed; do
		(cd demo/go && GOFLAGS=-mod=mod GOPROXY=off GOWORK=off GOCACHE="$tmp/go-cache" \
			go build -tags $tag -o "$tmp/server-go-$tag" . 2>"$tmp/err")
		ok $? "the service in Go compiles, with no network: $tag" || diag "$tmp/err"
	done
fi

for server in "$tmp"/server-*; do
	name=$(basename "$server")
	: >"$tmp/port"
	"$server" 20 >"$tmp/port" &
	pid=$!
	for _ in $(seq 100); do
		[ ! -s "$tmp/port" ] || break
		sleep 0.1
	done
	run "$tmp/load" "$(cat "$tmp/port")" 50 1
	is "$status" 0 "$name answers what it should" || diag "$tmp/out" "$tmp/err"
	kill "$pid"
	wait "$pid" 2>/dev/null
done

# the demo itself uses the plain build
for program in capture symbolize merge render diff; do
	if [ ! -x "$build/bin/prof-$program" ] || [ "$build" != "$top/build" ]; then
		skip 'not the plain build, or a program is missing' 'scripts/demo'
		done_testing
	fi
done
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD

# no sudo either: it needs new privileges
without=--no-new-privs
[ "$(id -u)" -ne 0 ] || without='--no-new-privs --bounding-set=-all --inh-caps=-all'
# shellcheck disable=SC2086
run setpriv $without scripts/demo 1
is "$status" 0 'demo without BPF: exit status' || diag "$tmp/out" "$tmp/err"
like "$tmp/out" 'CAP_BPF' 'it says what is missing'
like "$tmp/out" 'RECORDED PROFILE, not of this machine' 'and that the rest is a recording'
like "$tmp/out" '^fib, called by addition' 'the rest of the pipeline works on that'

if "$build/bin/prof-capture" -d 0.1 -o "$tmp/try.pb.gz" 2>"$tmp/err"; then
	run scripts/demo 2
	is "$status" 0 'demo: exit status' || diag "$tmp/out" "$tmp/err"
	like "$tmp/out" '^fib, called by addition, in libmathdep.so, .*demo-server .*CPU cores' 'it finds fib in C' ||
		tail -n 30 "$tmp/out" | diag
	like "$tmp/out" '^addition fell from [0-9.]*[1-9][0-9]* to 0\.0[0-9]* cores, and fib below it from [0-9.]*[1-9][0-9]* to 0\.0' \
		'it proves the fix' || tail -n 60 "$tmp/out" | diag
	# in the reports' tables, not in those of the whole machine
	is "$(grep -cE '^ .* -[0-9.]+% [a-z?]+ +addition$' "$tmp/out")" 2 'from files and from stored intervals' ||
		diag "$tmp/out"
	if command -v go >/dev/null; then
		like "$tmp/out" '^example\.com/mathdep\.fib, called by example\.com/mathdep\.Addition' \
			'it finds fib in Go' || tail -n 30 "$tmp/out" | diag
	fi
	run xmllint --noout build/demo/c.svg
	is "$status" 0 'its picture is valid XML'
else
	skip "$(head -n 1 "$tmp/err")" 'demo'
fi
done_testing
