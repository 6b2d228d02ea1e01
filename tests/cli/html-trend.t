#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page's trends: a function's share release by release, as prof-render has it of each.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/browser.sh"

# Four releases, two of them at once in places, the third slower; what runs beside has no version.
awk 'function rnd(k) { s = (s * 16807) % 2147483647; return s % k }
BEGIN { s = 77; split("1.8 1.9 1.10 1.11-rc1", version, " "); split("main parse hash write idle", name, " ")
	for (t = 0; t < 40; t++) {
		printf "# profpipe text 1\nprofile\ntime %d000000000\nduration 10000000000\ntype \"samples\" \"count\"\ntype \"cpu\" \"nanoseconds\" default\n", 1764547200 + t * 10
		for (i = 1; i <= 5; i++) printf "function %d \"%s\" \"\" \"src/%s.c\" %d\nlocation %d m0 0x0 f%d:%d:0\n", i, name[i], name[i], i, i, i, i
		for (k = 0; k < 24; k++) {
			v = 1 + int((t + rnd(4)) / 11); n = 1 + rnd(20) + (v == 3 && k % 3 == 1) * 60
			printf "sample %d %d0000000 : %s : \"comm\"=\"api\" \"version\"=\"%s\" \"pod\"=\"p%d\"\n", n, n, (k % 3 == 0 ? "2 1" : k % 3 == 1 ? "3 2 1" : "4 1"), version[v], k % 2
		}
		printf "sample 9 90000000 : 5 : \"comm\"=\"cron\" \"pod\"=\"p0\"\nend\n"
	} }' >"$tmp/stream.txt"
prof-render -o "$tmp/stream.html" "$tmp/stream.txt"
ok $? "a page of four releases"
for v in 1.8 1.9 1.10 1.11-rc1; do
	prof-render -f json -n 0 -s "version=$v" "$tmp/stream.txt" >"$tmp/$v.json"
	prof-render -f json -n 0 -s "version=$v,pod=p1" --hide '^parse$' --since 2025-12-01T00:01:40Z --until 2025-12-01T00:05:00Z \
		"$tmp/stream.txt" >"$tmp/part-$v.json"
done
prof-render -f timeline -t cpu --by version "$tmp/stream.txt" >"$tmp/timeline.csv"
prof-render -s 'version=1.8' -o "$tmp/one.html" "$tmp/stream.txt"
sed 's/"version"="[^"]*" //' "$tmp/stream.txt" | prof-render --by comm -o "$tmp/comms.html"
sed 's/"1.9"/"<b>\&1.9"/' "$tmp/stream.txt" | prof-render -o "$tmp/hostile.html"

need_browser
claims node "$top/tests/browser/trend.mjs" "$modules" "$chromium" "$tmp"
screenshots 4 trend
done_testing
