#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page of a stream of intervals: what it adds up for a part of the time and for labels is
# what prof-merge and prof-render give for the same part.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/browser.sh"

# intervals N START STEP SEED: profiles of 10 s, of two programs in three pods, one of them hostile
intervals() {
	awk -v n="$1" -v start="$2" -v step="$3" -v s="$4" 'function rnd(k) { s = (s * 16807) % 2147483647; return s % k }
	BEGIN { split("main read parse hash write sort flush", name, " ")
		split("api;api-0 api;api-1 db;<b>&\\\"x", pods, " ")
		for (t = 0; t < n; t++) {
			print "# profpipe text 1\nprofile"
			printf "time %d%09d\nduration 10000000000\nperiod \"cpu\" \"nanoseconds\" 10000000\n", start + t * step, 120000000
			print "type \"samples\" \"count\"\ntype \"cpu\" \"nanoseconds\" default"
			print "mapping 1 0x1000 0x9000 0x0 \"/usr/bin/app\" \"0123abcd\" FNL\nmapping 2 0x10000 0x90000 0x0 \"/lib/libc.so.6\" \"4567\" FNL"
			for (i = 1; i <= 7; i++) {
				printf "function %d \"%s\" \"\" \"src/%s.c\" %d\n", i, name[i], i % 3 ? name[i] : "all", i
				printf "location %d m%d 0x%x f%d:%d:0\n", i, i == 5 ? 2 : 1, (i == 5 ? 65536 : 4096) + i, i, i
			}
			for (k = 0; k < 30; k++) {
				line = ""; at = 1
				for (d = 0; d < 2 + rnd(5); d++) { line = at " " line; at = 1 + (at * 5 + rnd(3)) % 7 }
				split(pods[1 + rnd(3)], label, ";"); v = 1 + rnd(90)
				printf "sample %d %d0000000 : %s: \"comm\"=\"%s\" \"pod\"=\"%s\" \"pid\"=%d\n", v, v, line, label[1], label[2], 100 + rnd(200)
			}
			print "end"
		} }'
}
intervals 40 1764547200 10 7 >"$tmp/stream.txt"
prof-render -o "$tmp/stream.html" "$tmp/stream.txt"
ok $? "a page of forty intervals"
awk 'BEGIN { RS = "# profpipe text 1\n"; ORS = "" } NR > 1 { p[NR] = RS $0 } END { for (i = NR; i > 1; i--) print p[i] }' \
	"$tmp/stream.txt" | prof-render -o "$tmp/turned.html"
same "$tmp/turned.html" "$tmp/stream.html" "the order of a stream does not show"

# What the programs say of a part: [name, flat, cum] of each function, then the total.
# part NAME MERGE-OPTION…
part() {
	out=$1
	shift
	prof-merge "$@" "$tmp/stream.txt" | prof-render -f json -n 0 >"$tmp/$out.json"
}
part range --since=2025-12-01T00:01:40.12Z --until=2025-12-01T00:03:20.12Z
part one --since=2025-12-01T00:02:00.12Z --until=2025-12-01T00:02:10.12Z
part label -s 'comm="api"'
part both --since=2025-12-01T00:01:40.12Z --until=2025-12-01T00:03:20.12Z -s 'pod=~"api-.*",pod!="api-1"'
part hostile -s 'pod="<b>&\"x"'
prof-merge --by=comm --window=10s "$tmp/stream.txt" | prof-render -f text -t cpu |
	awk '/^time/ { t++ } /^sample/ && /"comm"="api"/ { sum[t] += $3 } END { for (i = 1; i <= t; i++) print sum[i] + 0 }' >"$tmp/api.txt"

# more starts than bins, and two machines at once
{
	intervals 300 1764547200 10 11
	intervals 300 1764547203 10 12
} >"$tmp/many.txt"
prof-render -o "$tmp/many.html" "$tmp/many.txt"
prof-merge --since=2025-12-01T00:10:00Z --until=2025-12-01T00:20:00Z "$tmp/many.txt" | prof-render -f json -n 0 >"$tmp/many.json"
prof-render --by=pid -o "$tmp/pids.html" "$tmp/stream.txt"
for node in 1 2; do # a level of two machines, not in step
	sed "s/\"samples\" \"count\"/\"goroutine\" \"count\"/; s/\"cpu\" \"nanoseconds\" default/\"inuse_space\" \"bytes\" default/
		/^time/s/120000000\$/${node}20000000/; /^sample/s/\$/ \"node\"=\"n$node\"/" "$tmp/stream.txt"
done >"$tmp/gauge.txt"
prof-render -o "$tmp/gauge.html" "$tmp/gauge.txt"
prof-render -f timeline -t inuse_space --by node "$tmp/gauge.txt" | tr -d '\r' | sed 1d >"$tmp/gauge.csv"
awk '/^time/ { t++; if (t % 3 == 0) { print "time 0"; next } } { print }' "$tmp/stream.txt" >"$tmp/timeless.txt"
prof-render -o "$tmp/timeless.html" "$tmp/timeless.txt"
prof-render -f json -n 0 "$tmp/timeless.txt" >"$tmp/timeless.json"
prof-render --hide '^read$' --ignore '^flush$' -o "$tmp/filtered.html" "$tmp/stream.txt"
prof-merge --since=2025-12-01T00:01:40.12Z --until=2025-12-01T00:03:20.12Z "$tmp/stream.txt" |
	prof-render --hide '^read$' --ignore '^flush$' -f json -n 0 >"$tmp/filtered.json"

# the tree in other shapes
shape() {
	out=$1
	shift
	prof-render -f json -n 0 "$@" "$tmp/stream.txt" >"$tmp/$out.json"
}
shape group --root-by pod
shape hide --hide '^read$'
shape focus --focus '^read$'
shape ignore --ignore '^read$' --hide '^sort$'
shape files --granularity=files
shape binaries --granularity=binaries
prof-render -f folded "$tmp/stream.txt" >"$tmp/stream.folded"
prof-merge --since=2025-12-01T00:01:40.12Z --until=2025-12-01T00:03:20.12Z --by comm,pod "$tmp/stream.txt" |
	prof-render -f tags --unit ns --focus '^read$' >"$tmp/labels.tags"

need_browser
claims node "$top/tests/browser/explore.mjs" "$modules" "$chromium" "$tmp"
claims node "$top/tests/browser/shape.mjs" "$modules" "$chromium" "$tmp"
claims node "$top/tests/browser/axe.mjs" "$modules" "$chromium" "$tmp"
screenshots 4 explore shape
done_testing
