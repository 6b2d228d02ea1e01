# SPDX-License-Identifier: Apache-2.0
# Profiles for a spool, and what must hold of one. Sourced after tap.sh.
PATH=$top/scripts:$PATH

# profiles DIR FROM COUNT STEP: one a file, each with a sample of a function of its own, beside
# one that all share; FROM and STEP in seconds
profiles() {
	mkdir -p "$1"
	awk -v from="$2" -v count="$3" -v step="$4" 'BEGIN {
		print "# profpipe text 1"
		for (i = 0; i < count; i++) {
			printf "profile\ntime %d123000000\nduration %d000000000\n", from + i * step, step
			print "period \"cpu\" \"nanoseconds\" 10\ntype \"samples\" \"count\""
			printf "function 1 \"f%d\" \"\" \"\" 0\nfunction 2 \"all\" \"\" \"\" 0\n", from + i * step
			print "location 1 m0 0x0 f1:0:0\nlocation 2 m0 0x0 f2:0:0"
			printf "sample 1 : 1 2 : \"comm\"=\"c%d\"\nsample %d : 2 : \"comm\"=\"c%d\"\nend\n",
				i % 3, i % 5, i % 2
		}
	}' | prof-merge -q --window=1s --split-by=_ -o "$1/{time}{_}.pb.gz"
}

# each_once NAME DIR [QUERY-OPTION…]: a query sums to the bytes of all files of DIR together
each_once() {
	_name=$1 _dir=$2
	shift 2
	prof-merge "$_dir" >"$tmp/want.pb.gz"
	prof-spool query "$tmp/store" "$@" >"$tmp/got.pb.gz" 2>"$tmp/err"
	if cmp -s "$tmp/got.pb.gz" "$tmp/want.pb.gz"; then
		ok 0 "$_name"
	else
		ok 1 "$_name"
		head -n 5 "$tmp/err" | diag
		prof-diff "$tmp/want.pb.gz" "$tmp/got.pb.gz" 2>&1 | prof-render 2>&1 | head -n 15 | diag
	fi
}

# files LEVEL: how many there are
files() {
	find "$tmp/store/$1" -name '*.pb.gz' | wc -l
}
