#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Our difference against `go tool pprof -top -diff_base` of Go 1.19 on real profiles: every row,
# read by prof-render and by pprof itself. And scaling on real ones.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/corpus.sh"

need_corpus
need_pprof

# against BASE NEW DESCRIPTION [TYPE]
against() {
	index=${4:+-sample_index=$4}
	# shellcheck disable=SC2086
	go tool pprof -symbolize=none -top $index -diff_base="$1" "$2" 2>"$tmp/err" | body >"$tmp/want"
	prof-diff -q --norm none --names raw --force --allow-unsymbolized ${4:+-t "$4"} -o "$tmp/d.pb.gz" "$1" "$2"
	is "$? $(grep -c . "$tmp/want" | sed 's/^[1-9].*/rows/')" "0 rows" "$3: compared"
	prof-render ${4:+-t "$4"} "$tmp/d.pb.gz" | body >"$tmp/got"
	same "$tmp/got" "$tmp/want" "$3: prof-render"
	# shellcheck disable=SC2086
	go tool pprof -symbolize=none -top $index "$tmp/d.pb.gz" 2>"$tmp/err" | body >"$tmp/got"
	same "$tmp/got" "$tmp/want" "$3: pprof"
}

# itself FILE: nothing is left, by us and by them
itself() {
	run prof-diff -q --norm none --names raw --allow-unsymbolized -o "$tmp/d.pb.gz" "$1" "$1"
	is "$status" 0 "against itself: ${1#"$corpus"/}"
	is "$(prof-render -f folded "$tmp/d.pb.gz" | wc -l) $(go tool pprof -symbolize=none -top \
		"$tmp/d.pb.gz" 2>/dev/null | sed '1,/flat%/d' | wc -l)" "0 0" "nothing is left"
	prof-diff -q --norm none --names raw --allow-unsymbolized "$1" "$1" >"$tmp/d2.pb.gz"
	same "$tmp/d2.pb.gz" "$tmp/d.pb.gz" "the same bytes again"
}

# shares BASE NEW DESCRIPTION: scaled to one total, every function within 2 of the exact figure
# (it is in many places of the tree; each is within 1, and they even out)
shares() {
	prof-diff -q --force --norm share --report json:- "$1" "$2" >"$tmp/scaled"
	prof-diff -q --force --norm none --report json:- "$1" "$2" >"$tmp/plain"
	is "$(jq -c '.types[0].total | [.new > 0, .delta]' "$tmp/scaled")" '[true,0]' \
		"$3: totals are equal"
	jq -r '.types[0] | .total as $t | .functions[] | "\(.cum.base) \(.cum.new) \($t.base) \($t.new) \(.name)"' \
		"$tmp/plain" | sort -k5 >"$tmp/p"
	jq -r '.types[0].functions[] | "\(.cum.base) \(.cum.new) \(.name)"' "$tmp/scaled" | sort -k3 >"$tmp/s"
	paste -d' ' "$tmp/p" "$tmp/s" | awk '
		{
			off = ($1 * $4 / $3 - $(NF / 2 + 2)) / $4
			off = off < 0 ? -off : off
			worst = off > worst ? off : worst
		}
		END { exit !(NR > 100 && worst < 1e-6) }' FS=' '
	ok $? "$3: no function is off by more than a millionth of the total"
}

many=$corpus/parca-dev__parca/pkg/query/testdata/many
against "$many/1644509272337470000.pb.gz" "$many/1644509296350592000.pb.gz" "a heap that grows"
for type in alloc_objects alloc_space inuse_objects inuse_space; do
	against "$many/1644509278338696000.pb.gz" "$many/1644509290338056000.pb.gz" "$type" "$type"
done
against "$corpus/grafana__pyroscope/ingester-3.pb.gz" "$corpus/grafana__pyroscope/ingesters.pb.gz" \
	"one and many of a service"
against "$corpus/grafana__pyroscope/ingester-3.pb.gz" "$corpus/grafana__pyroscope/distributors.pb.gz" \
	"two services"
against "$corpus/JetSetIlly__gopher2600_performance_profiles/default_1.21.0.pgo" \
	"$corpus/dundee__gdu/default.pgo" "two programs"
against "$corpus/felixge__pprofutils/examples/anon.in.pprof" \
	"$corpus/felixge__pprofutils/examples/anon.out.pprof" "renamed functions" cpu
against "$corpus/tikv__pprof-rs/e97cc34_profile.pb" "$corpus/tikv__pprof-rs/3b85bb2_profile.pb" \
	"two builds"
shares "$corpus/grafana__pyroscope/ingester-3.pb.gz" "$corpus/grafana__pyroscope/ingesters.pb.gz" \
	"share"
# a heap scraped seven times: what was allocated meanwhile, and the mean of what was in use
heaps=$(ls "$many"/*.pb.gz)
first=$(echo "$heaps" | head -n 1)
last=$(echo "$heaps" | tail -n 1)
# total TYPE FILE
total() {
	prof-render -t "$1" -f folded "$2" | awk '{ s += $NF } END { printf "%.0f", s }'
}
for type in alloc_objects alloc_space; do
	# shellcheck disable=SC2086
	prof-diff -q --self --delta --norm none -t "$type" --report json:- --base $heaps \
		--new "$first" "$last" >"$tmp/j"
	grown=$(($(total "$type" "$last") - $(total "$type" "$first")))
	is "$(jq -c '.types[0].total' "$tmp/j")" "{\"base\":$grown,\"new\":$grown,\"delta\":0}" \
		"$type: by steps and at once"
done
for type in inuse_objects inuse_space; do
	# shellcheck disable=SC2086
	prof-diff -q --self --norm none -t "$type" --report json:- --base $heaps --new "$last" >"$tmp/j"
	for f in $heaps; do
		total "$type" "$f"
		echo
	done | awk '{ s += $1 } END { printf "%.0f %.0f\n", s / NR, $1 }' >"$tmp/want"
	jq -r '.types[0].total | "\(.base) \(.new)"' "$tmp/j" >"$tmp/got"
	same "$tmp/got" "$tmp/want" "$type: the mean of seven"
done
for file in grafana__pyroscope/ingesters.pb.gz _local_go1.19/heap.pb.gz \
	polarsignals__sources-demo/pprof.pb.gz denniswon__dcap-risc0-zkvm/profile.pb; do
	itself "$corpus/$file"
done

# generated: five and six profiles of two releases, at other addresses each
if [ -f "$gen_corpus/main.go" ]; then
	build_generator
	"$tmp/gen" -out "$tmp/a" -n 5 -labels >/dev/null 2>&1
	"$tmp/gen" -out "$tmp/b" -n 6 -labels -release B >/dev/null 2>&1
	prof-merge "$tmp/a" >"$tmp/a.pb.gz"
	go tool pprof -symbolize=none -top -diff_base="$tmp/a.pb.gz" "$tmp"/b/*.pb.gz 2>"$tmp/err" |
		body >"$tmp/want"
	run prof-diff --norm none --names raw -o "$tmp/d.pb.gz" --base "$tmp/a" --new "$tmp/b"
	is "$status" 0 "two releases" || diag "$tmp/err"
	prof-render "$tmp/d.pb.gz" | body >"$tmp/got"
	same "$tmp/got" "$tmp/want" "two releases: prof-render"
	go tool pprof -symbolize=none -top "$tmp/d.pb.gz" 2>"$tmp/err" | body >"$tmp/got"
	same "$tmp/got" "$tmp/want" "two releases: pprof"
fi
done_testing
