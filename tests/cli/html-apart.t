#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page of two sides that have nothing in common, as two parts of a stream and as a
# difference of prof-diff.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/browser.sh"

# side COMM NAME…: a profile whose stacks are all of functions that the other side has not
side() {
	comm=$1
	shift
	printf '# profpipe text 1\nprofile\ntime 1764547200000000000\nduration 10000000000\ntype "samples" "count"\ntype "cpu" "nanoseconds" default\n'
	i=0
	for name; do
		i=$((i + 1))
		printf 'function %d "%s" "" "" 0\nlocation %d m0 0x0 f%d:0:0\n' $i "$name" $i $i
	done
	printf 'sample 300 3000000000 : 2 1 : "comm"="%s"\nsample 100 1000000000 : 3 1 : "comm"="%s"\nend\n' "$comm" "$comm"
}
side old main_old read_old write_old >"$tmp/old.txt"
side new main_new read_new write_new >"$tmp/new.txt"
cat "$tmp/old.txt" "$tmp/new.txt" | prof-render -o "$tmp/stream.html"
ok $? "a page of both"
prof-diff --force --norm none -o "$tmp/diff.pb.gz" "$tmp/old.txt" "$tmp/new.txt" 2>"$tmp/err"
ok $? "a difference of them" || diag "$tmp/err"
prof-render -o "$tmp/diff.html" "$tmp/diff.pb.gz"
need_browser
claims node "$top/tests/browser/apart.mjs" "$modules" "$chromium" "$tmp"
screenshots 2 apart
done_testing
