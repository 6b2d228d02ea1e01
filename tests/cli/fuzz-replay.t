#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every fuzz target over its seed corpus, as built for this variant.
. "$top/tests/lib/tap.sh"

n=0
for target in "$top"/tests/fuzz/*.c; do
	name=$(basename "$target" .c)
	[ "$name" != replay ] || continue
	n=$((n + 1))
	set -- "$top/tests/fuzz/corpus/$name"/*
	if [ ! -e "$1" ]; then
		ok 1 "$name: has a seed corpus"
		continue
	fi
	run timeout 120 "$build/tests/fuzz/$name" "$@"
	ok "$status" "$name: $# inputs" || tail -n 20 "$tmp/out" "$tmp/err" | diag
done
[ "$n" -gt 0 ] || skip_all 'no fuzz targets'
done_testing
