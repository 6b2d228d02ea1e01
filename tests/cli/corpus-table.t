#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The table against `go tool pprof -top` of Go 1.19 on real profiles, where both are at hand.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/corpus.sh"
need_corpus
need_pprof

# compare FILE DESCRIPTION PPROF-OPTIONS -- OUR-OPTIONS
compare() {
	file=$1
	what=$2
	shift 2
	pprof=
	while [ "$1" != -- ]; do
		pprof="$pprof $1"
		shift
	done
	shift
	# shellcheck disable=SC2086
	go tool pprof -symbolize=none -top $pprof "$corpus/$file" >"$tmp/theirs" 2>"$tmp/err"
	theirs=$?
	run prof-render "$@" "$corpus/$file"
	if [ $theirs -ne 0 ]; then
		skip "1.19 does not read it" "$what"
		return
	fi
	body "$tmp/theirs" | reduce "$file" >"$tmp/want"
	body "$tmp/out" | reduce "$file" >"$tmp/got"
	same "$tmp/got" "$tmp/want" "$what"
}

# Files that 1.19 reads and we do not, or that cannot be the same, each with its reason.
why_not() {
	case $1 in
	*/ok_int64_extremes.pb) echo "sums over 64 bits: 1.19 wraps around, we refuse" ;;
	*/bad_string_table_only.pb) echo "no sample type: 1.19 prints an empty report, we refuse" ;;
	esac
}

# Names with control bytes and bad UTF-8, which we escape: there the figures are compared alone.
reduce() {
	case $1 in
	*/ok_hostile_names.pb | */invalid_utf8.pb.gz)
		grep -aE '^ *-?[0-9.]+[a-zA-Z]* +[0-9.e-]+%' | awk '{ print $1, $2, $3, $4, $5 }'
		;;
	*) cat ;;
	esac
}

cut -f12,13,18 "$corpus/INDEX.tsv" | sed 1d >"$tmp/index"
while IFS='	' read -r verdict container file; do
	# gperftools and debug=1 text forms are refused by name (sources.t)
	[ "$container" = legacy ] && continue
	case $verdict in
	REJECT*) continue ;;
	esac
	reason=$(why_not "$file")
	if [ -n "$reason" ]; then
		skip "$reason" "$file"
	else
		compare "$file" "$file" --
	fi
done <"$tmp/index"

files='felixge__pprofutils/examples/anon.out.pprof dundee__gdu/default.pgo'
[ -z "${PROFPIPE_LONG:-}" ] || files="$files grafana__pyroscope/ingester-3.pb.gz
	google__pprof/internal/proftest/testdata/large.cpu
	parca-dev__parca/pkg/query/testdata/alloc_space_delta.pb.gz
	JetSetIlly__gopher2600_performance_profiles/default_1.21.0.pgo"
for file in $files; do
	[ -r "$corpus/$file" ] || continue
	compare "$file" "$file: cum" -cum -- --sort cum
	compare "$file" "$file: lines" -lines -- --granularity lines
	compare "$file" "$file: addresses" -addresses -- --granularity addresses
	compare "$file" "$file: no inlines" -noinlines -- --no-inlines
	compare "$file" "$file: no inlines, lines" -noinlines -lines -- --no-inlines \
		--granularity lines
	compare "$file" "$file: untrimmed" -trim=false -- --no-trim
	compare "$file" "$file: top 10" -nodecount=10 -- -n 10
	compare "$file" "$file: top 15 by cum" -nodecount=15 -cum -- -n 15 --sort cum
	compare "$file" "$file: focus" -focus=malloc -- --focus malloc
	compare "$file" "$file: ignore" -ignore=malloc -- --ignore malloc
	compare "$file" "$file: hide" '-hide=^runtime' -- --hide '^runtime'
	compare "$file" "$file: show" -show=runtime -- --show runtime
	compare "$file" "$file: show-from" -show_from=net/http -- --show-from net/http
	compare "$file" "$file: all at once" -focus=gc '-hide=^runtime\.m' -show_from=gc -- \
		--focus gc --hide '^runtime\.m' --show-from gc
	compare "$file" "$file: focus, ignore, lines" -focus=runtime -ignore=gc -lines -- \
		--focus runtime --ignore gc --granularity lines
	compare "$file" "$file: first column" -sample_index=0 -- -t 0
	case $file in
	*alloc*) unit=kB ;;
	*) unit=us ;;
	esac
	compare "$file" "$file: unit" -unit=$unit -- --unit $unit
done
# -files: 1.19 keeps one row per function start line of a file, so only where there are none
compare google__pprof/internal/proftest/testdata/large.cpu "files" -files -- --granularity files
done_testing
