#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page line by line: what -f lines and --granularity=lines say, with source text.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/browser.sh"

cp "$top/tests/lib/lines.txt" "$tmp/source.txt"
mkdir -p "$tmp/source/src"
{
	yes '	main' | head -n 18
	printf '\tmain <b>ends %s</b> &\n' here there
} >"$tmp/source/src/main.c"
printf 'one\n\033[31mtwo\xff\n' >"$tmp/source/parse.c"
echo secret >"$tmp/secret.c"
run prof-render --source "$tmp/source" -o "$tmp/source.html" "$tmp/source.txt"
is "$status" 0 "a page with source text"
sed -n '/^<script id="data"/,/^<\/script>/p' "$tmp/source.html" | sed '1d;$d' | base64 -d | gzip -dc >"$tmp/data"
is "$(grep -c 'ends here' "$tmp/data")/$(grep -c secret "$tmp/data" | sed 's/[1-9].*/some/')" 1/some "it is in the data"
is "$(grep -ac '^secret$' "$tmp/data")" 0 "no file outside of the directory is"
refuses "--source is no directory" prof-render --source "$tmp/secret.c" -f html "$tmp/source.txt"
prof-render -f lines -n 0 --unit auto --source "$tmp/source" "$tmp/source.txt" | sed '1,/^Showing/d' >"$tmp/source.lines"
prof-render --granularity=lines -f json -n 0 "$tmp/source.txt" >"$tmp/source.json"
sed 's/:[0-9]*:0$/:0:0/; s/^\(function.*\) [0-9]*$/\1 0/; s/f\([12]\):[0-9]*:0/f\1:0:0/g' "$tmp/source.txt" |
	prof-render -o "$tmp/none.html"

# intervals with several lines of each function
awk 'function rnd(k) { s = (s * 16807) % 2147483647; return s % k }
BEGIN { s = 23; split("main read parse hash write", name, " ")
	for (t = 0; t < 30; t++) {
		printf "# profpipe text 1\nprofile\ntime %d000000000\nduration 10000000000\ntype \"cpu\" \"nanoseconds\"\n", 1764547200 + t * 10
		print "mapping 1 0x1000 0x9000 0x0 \"/bin/app\" \"\" FNL\nmapping 2 0x10000 0x90000 0x0 \"/lib/libio.so\" \"\" FNL"
		for (i = 1; i <= 5; i++) {
			printf "function %d \"%s\" \"\" \"src/%s.c\" %d\n", i, name[i], name[i], i
			for (k = 0; k < 3; k++) printf "location %d m%d 0x%x f%d:%d:0\n", i * 3 + k - 2, 1 + (i == 2), (i == 2 ? 65536 : 4096) + i * 16 + k, i, i + k * 7
		}
		for (k = 0; k < 20; k++) {
			line = ""; at = 1
			for (d = 0; d < 2 + rnd(5); d++) { line = at * 3 - 2 + rnd(3) " " line; at = 1 + (at * 3 + rnd(2)) % 5 }
			printf "sample %d0000000 : %s: \"comm\"=\"%s\"\n", 1 + rnd(90), line, rnd(3) ? "api" : "db"
		}
		print "end"
	} }' | sed '2,$ { /^# profpipe/d; }' >"$tmp/stream.txt"
prof-render -o "$tmp/stream.html" "$tmp/stream.txt"
prof-merge --since=2025-12-01T00:01:40Z --until=2025-12-01T00:03:20Z "$tmp/stream.txt" >"$tmp/range.pb.gz"
prof-render -f lines -n 0 --unit auto "$tmp/range.pb.gz" | sed '1,/^Showing/d' >"$tmp/stream.lines"
prof-render --granularity=lines -f json -n 0 "$tmp/range.pb.gz" >"$tmp/stream.json"
prof-render --granularity=lines -f json -n 0 -s 'comm="db"' "$tmp/range.pb.gz" >"$tmp/label.json"
prof-render --granularity=lines -f json -n 0 --focus '^read$' "$tmp/stream.txt" >"$tmp/focus.json"
for level in functions lines files binaries addresses; do
	prof-render --granularity=$level -o "$tmp/of-$level.html" "$tmp/stream.txt"
	prof-render --granularity=$level -f json -n 0 "$tmp/stream.txt" >"$tmp/of-$level.json"
done
prof-render --granularity=binaries --hide libio -f json -n 0 "$tmp/stream.txt" >"$tmp/hidden.json"
is "$(grep -c '<td>/lib/libio.so</td>\|<td>\[libio.so\]</td>' "$tmp/of-binaries.html")" 1 "the table without a script is of binaries, too"
awk '/^time/ { t++ } { print } /^end/ && t == 5 { exit }' "$tmp/stream.txt" >"$tmp/few.txt"
awk 'BEGIN { RS = "profile\n"; ORS = "" } NR > 1 { p[NR] = RS $0 } END { print "# profpipe text 1\n"; for (i = NR; i > 1; i--) print p[i] }' \
	"$tmp/few.txt" | prof-render -o "$tmp/turned.html"
prof-render -f html "$tmp/few.txt" >"$tmp/few.html"
same "$tmp/turned.html" "$tmp/few.html" "the order of a stream does not show"

need_browser
claims node "$top/tests/browser/lines.mjs" "$modules" "$chromium" "$tmp"
screenshots 2 lines
done_testing
