#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A page whose data are large: a worker decodes them, or the page where workers are refused.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/browser.sh"

need_browser

# two intervals of 25,000 functions with names that do not compress, some of them not ASCII
awk 'function rnd() { s = (s * 16807) % 2147483647; return s }
BEGIN { s = 7; n = 25000; print "# profpipe text 1"
	for (i = 1; i <= n; i++) name[i] = sprintf("f%x%x%x%x%x%x%x%x%s", rnd(), rnd(), rnd(), rnd(), rnd(), rnd(), rnd(), rnd(), i % 1000 ? "" : "é漢")
	for (t = 0; t < 2; t++) {
		printf "profile\ntime %d000000000\nduration 10000000000\ntype \"cpu\" \"nanoseconds\"\n", 1764547200 + t * 10
		for (i = 1; i <= n; i++) printf "function %d \"%s\" \"\" \"src/%d.c\" %d\n", i, name[i], i % 100, i
		for (i = 1; i <= n; i++) printf "location %d m0 0x0 f%d:%d:0\n", i, i, i + i % 7
		for (i = 1; i <= n; i++) printf "sample %d : %d %d : \"comm\"=\"%s\"\n", 1 + rnd() % 9999, i, 1 + i % 50, i % 3 ? "api" : "db"
		print "end"
	} }' >"$tmp/large.txt"
prof-render -o "$tmp/large.html" "$tmp/large.txt"
ok "$(($(sed -n '/^<script id="data"/ { n; p; }' "$tmp/large.html" | wc -c) < 1048576))" "the data are large"
prof-render -f json "$tmp/large.txt" >"$tmp/large.json"
prof-render -f json --since 2025-12-01T00:00:10Z "$tmp/large.txt" >"$tmp/part.json"
sed 's/ worker-src blob:;/ worker-src '"'none'"';/' "$tmp/large.html" >"$tmp/refused.html"
is "$(cmp -s "$tmp/refused.html" "$tmp/large.html"; echo $?)" 1 "a page that may have no worker"
# data FILE: the block of a page
data() {
	sed -n '/^<script id="data"/ { n; p; }' "$1" | base64 -d | gzip -dc
}
data "$tmp/large.html" >"$tmp/data"
# sections: how many SELF and CELL_SUMS there are in the block
sections() {
	node -e 'const b = require("fs").readFileSync(0), n = {}
		let at = 0
		const number = () => { let v = 0, f = 1, c; do { c = b[at++]; v += (c & 127) * f; f *= 128 } while (c & 128); return v }
		for (number(); at < b.length;) { const tag = number(), length = number(); n[tag] = (n[tag] || 0) + 1; at += length }
		console.log(n[8] || 0, n[20] || 0)'
}
is "$(sections <"$tmp/data")" "0 2" "self values that cells add up to are not written, nor of lines"
sed 's/^sample \([0-9]*\) /sample \1000000000 /' "$tmp/large.txt" | prof-render -o "$tmp/huge.html"
is "$(data "$tmp/huge.html" | sections)" "2 0" "those of cut numbers are: cut cells add up to less"
{
	sed '/^<script id="data"/q' "$tmp/large.html"
	head -c "$(($(wc -c <"$tmp/data") - 100000))" "$tmp/data" | gzip | base64 -w 0
	echo
	sed '1,/^<script id="data"/d' "$tmp/large.html" | sed 1d
} >"$tmp/cut.html"
claims node "$top/tests/browser/worker.mjs" "$modules" "$chromium" "$tmp"
done_testing
