# SPDX-License-Identifier: Apache-2.0
# A Go server with profiles to fetch, and prof-scrape. Sourced after tap.sh.
PATH=$top/scripts:$PATH
# all is on loopback
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY
state=$tmp/state
server_pid='' scraper=''
tab='	'
trap 'kill $server_pid $scraper 2>/dev/null; rm -rf "$tmp"' EXIT

# needs_server: makes it, and starts it at a port of its own
needs_server() {
	command -v go >/dev/null || skip_all 'no Go compiler'
	command -v curl >/dev/null || skip_all 'no curl'
	GO111MODULE=off GOCACHE=${GOCACHE:-$tmp/gocache} CGO_ENABLED=0 \
		go build -o "$tmp/pprofserver" "$top/tests/lib/pprofserver.go" 2>"$tmp/err"
	ok $? 'a Go server with net/http/pprof' || { diag "$tmp/err" && done_testing; }
	start_server 0
	host=127.0.0.1:$port
}

# start_server PORT: sets $server_pid and $port
start_server() {
	: >"$tmp/server.out"
	"$tmp/pprofserver" "$1" >"$tmp/server.out" 2>"$tmp/server.err" &
	server_pid=$!
	wait_for [ -s "$tmp/server.out" ]
	ok $? 'the server is there' || diag "$tmp/server.err"
	read -r port <"$tmp/server.out"
}

stop_server() {
	kill "$server_pid"
	wait "$server_pid" 2>/dev/null
	server_pid=
}

# tell PATH: the server does what that path is for
tell() {
	curl -q -sS --fail -o "$tmp/told" "http://$host$1"
	ok $? "the server is told: $1"
}

# targets LINE…: the targets file
targets() {
	printf '%s\n' "$@" >"$tmp/targets"
}

# start_scraper OPTION…: with the targets file, at work until stop_scraper
start_scraper() {
	prof-scrape run --state="$state" "$@" "$tmp/targets" 2>"$tmp/scraper.err" &
	scraper=$!
}

stop_scraper() {
	kill "$scraper"
	wait "$scraper"
	stopped=$?
	scraper=
}

# status_of JOB PROFILE: state, tab and last error
status_of() {
	prof-scrape status --state="$state" "$tmp/targets" >"$tmp/status"
	told_of "$1" "$2"
}
told_of() {
	awk -F'\t' -v OFS='\t' -v job="$1" -v profile="$2" \
		'$2 == job && $4 == profile { print $1, $7 }' "$tmp/status"
}

# gone PID…: none of them runs
gone() {
	for pid; do
		case $(ps -o stat= -p "$pid") in
		'' | Z*) ;;
		*) return 1 ;;
		esac
	done
}

# is_status JOB PROFILE STATE
is_status() {
	[ "$(status_of "$1" "$2" | cut -f1)" = "$3" ]
}
