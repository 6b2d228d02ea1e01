#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# docs/howto-ship.md: its commands are run as they are written, but for the server's name and port,
# and what arrives is compared with the profile. The server is tests/lib/shipserver.py.
. "$top/tests/lib/tap.sh"
for program in python3 curl jq protoc; do
	command -v "$program" >/dev/null || skip_all "no $program"
done
unset http_proxy HTTP_PROXY all_proxy ALL_PROXY
page=$top/docs/howto-ship.md
cd "$tmp" || exit

# block LANGUAGE N: the Nth fenced block of the page in a language
block() {
	awk -v want="\`\`\`$1" -v n="$2" \
		'/^```/ { inside = !inside && $0 == want && ++k == n; next } inside' "$page" |
		sed "s|http://[a-z]*:[0-9]*/|http://127.0.0.1:$port/|"
}

mkdir got
python3 "$top/tests/lib/shipserver.py" got >server.port 2>server.err &
server=$!
trap 'kill $server 2>/dev/null; rm -rf "$tmp"' EXIT
wait_for [ -s server.port ]
ok $? 'a server' || diag server.err
read -r port <server.port

awk -v n=6 -v load=0.1 -f "$top/tests/lib/replicates.awk" |
	prof-merge --window=1s --label=comm=app --label=pod=web-1 -o cpu.pb.gz
block sh 1 >first.sh
sh -e first.sh
ok $? 'the profile is made'
is "$(prof-merge --list=labels app.pb.gz | cut -f1)" pod '... with the labels that are asked for'
block proto 1 >write.proto
export TOKEN=secret

# ships N WHAT PATH SEEN: the page's Nth command ends well, and so much arrives, with the profile
ships() {
	block sh "$1" >ship.sh
	rm -f got/*
	run sh -e ship.sh
	is "$status" 0 "$2: ends well" || diag ship.sh out err got/requests
	is "$(cat got/requests)" "$3 $4" '... has asked for what it should'
}

# same_profile: the last request brought it
same_profile() {
	cmp app.pb.gz "$(echo got/*.body)"
	ok $? '... and brought the profile'
}
ranges=$(prof-merge --list=ranges app.pb.gz)
is "$(echo "$ranges" | wc -l)" 1 'it has no gaps'
from=$(date -d "$(echo "$ranges" | cut -f2)" +%s)
until=$(date -d "$(echo "$ranges" | cut -f3)" +%s)
ships 2 'Pyroscope, ingest' /ingest \
	"{\"format\": \"pprof\", \"from\": \"$from\", \"name\": \"app{env=prod}\", \"until\": \"$until\"}"
same_profile
ships 3 'Pyroscope, push' /push.v1.PusherService/Push '{"__name__": "process_cpu", "service_name": "app"}'
same_profile
ships 4 'Parca' /api/parca.profilestore.v1alpha1.ProfileStoreService/WriteRaw \
	'{"__name__": "process_cpu", "job": "app"}'
same_profile
ships 5 'Parca, as JSON' /profiles/writeraw '{"__name__": "process_cpu", "job": "app"}'
same_profile
total=$(prof-render -f json -t cpu app.pb.gz | jq '.types[] | select(.type == "cpu").total')
ships 6 'Grafana' /api/snapshots "{\"name\": \"app\", \"sum\": $total, \"total\": $total}"
is "$(cat out)" http://grafana/dashboard/snapshot/K '... and prints where it is'

# what a server refuses, or does not know, is no success
block sh 3 | sed 's/service_name/service/' >bad.sh
run sh -e bad.sh
[ "$status" -ne 0 ]
ok $? 'a request that is refused fails'
for n in 4 5; do
	block sh "$n" | sed 's|/WriteRaw|/Write|; s|/profiles/writeraw|/api/profiles/writeraw|' >bad.sh
	run sh -e bad.sh
	[ "$status" -ne 0 ]
	ok $? "a page in place of an answer fails: command $n"
done
done_testing
