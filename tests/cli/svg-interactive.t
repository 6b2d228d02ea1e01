#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# prof-render -f svg --interactive: a picture that zooms and searches in a browser, and says what
# the other formats say of the same input.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/browser.sh"

golden=$top/tests/golden/render
head='# profpipe text 1
profile
duration 30000000000
type "cpu" "nanoseconds"'

# --- what can be seen without a browser -------------------------------------------------------
run prof-render -f svg --interactive "$golden/mixed.txt"
is "$status $(wc -c <"$tmp/err")" "0 0" "a picture"
cp "$tmp/out" "$tmp/mixed.svg"
prof-render -o "$tmp/again.svg" --interactive "$golden/mixed.txt"
same "$tmp/again.svg" "$tmp/mixed.svg" "the same bytes by the ending"
# without what is added it is the script-free one: lower by the row for the controls
prof-render -f svg "$golden/mixed.txt" >"$tmp/static.svg"
sed -e '/^<script>/,/^\]\]><\/script>/d' -e 's/ data-[a-z]*="[^"]*"//g' "$tmp/mixed.svg" |
	awk '/^<style>$/ && styles++ { inside = 1 } !inside { print } /^<\/style>$/ { inside = 0 }' |
	sed -E 's/ y="[0-9]+"//; s/(height|viewBox)="[0-9 ]*"//g' >"$tmp/bare"
sed -E 's/ y="[0-9]+"//; s/(height|viewBox)="[0-9 ]*"//g' "$tmp/static.svg" >"$tmp/want"
same "$tmp/bare" "$tmp/want" "the same boxes as without a script"
is "$(grep -c '<script\|data-' "$tmp/static.svg")" 0 "which has none"
is "$(grep -c '<script' "$tmp/mixed.svg") $(grep -c 'https\{0,1\}:' "$tmp/mixed.svg")" "1 2" \
	"one script, and no address but the names of SVG and of XHTML"
if command -v xmllint >/dev/null; then
	prof-render -f svg --interactive "$golden/hostile.txt" >"$tmp/hostile.svg"
	for name in mixed hostile; do
		run xmllint --noout "$tmp/$name.svg"
		is "$status" 0 "$name: well-formed" || diag "$tmp/err"
	done
else
	skip "no xmllint" "well-formed"
fi
for format in html table json folded; do
	refuses "not for $format" prof-render --interactive -f $format "$golden/mixed.txt"
	like "$tmp/err" "^prof-render: --interactive is for -f svg, not for -f $format\$" "says why"
done
refuses "nor for another ending" prof-render --interactive -o "$tmp/no.html" "$golden/mixed.txt"
refuses "nor for the table" prof-render --interactive "$golden/mixed.txt"
need_browser

# --- pictures for the browser -----------------------------------------------------------------
# Wide and deep, with recursion, from a fixed seed.
awk -v head="$head" 'function rnd(n) { s = (s * 16807) % 2147483647; return s % n }
BEGIN { s = 23; print head; n = 200
	split("read write encode Decode merge poll hash READY lookup sort", verb, " ")
	for (i = 1; i <= n; i++) {
		printf "function %d \"pkg%d.%s%d\" \"\" \"src/%d.go\" %d\n", i, i % 12, verb[i % 10 + 1], i, i % 12, i
		printf "location %d m0 0x0 f%d:%d:0\n", i, i, i
	}
	for (k = 0; k < 300; k++) {
		line = "200"; at = 1 + rnd(4)
		for (d = 0; d < 4 + rnd(12); d++) { line = at " " line; at = rnd(9) ? 1 + (at * 7 + rnd(3)) % n : at }
		v = 1 + rnd(100); print "sample " v * v * v " : " line " :"
	}
	print "end" }' >"$tmp/large.txt"
prof-render -f svg --interactive --min-width 0 "$tmp/large.txt" >"$tmp/large.svg"
prof-render -f svg --interactive --min-width 4 "$tmp/large.txt" >"$tmp/narrow.svg"
prof-render -f json "$tmp/large.txt" >"$tmp/large.json"
prof-render -f json --focus 'sort1|^pkg9\.' "$tmp/large.txt" >"$tmp/focus.json"

difference "$tested" >"$tmp/diff.txt"
prof-render -f svg --interactive "$tmp/diff.txt" >"$tmp/diff.svg"
prof-render -f json "$tmp/diff.txt" >"$tmp/diff.json"
prof-render -f svg --interactive "$golden/hostile.txt" >"$tmp/hostile.svg"

f='function 1 "f" "" "" 0
function 2 "g" "" "" 0
location 1 m0 0x0 f1:0:0
location 2 m0 0x0 f2:0:0'
printf '%s\nend\n' "$head" | prof-render -f svg --interactive >"$tmp/empty.svg"
printf '%s\n%s\nsample 0 : 1 :\nend\n' "$head" "$f" | prof-render -f svg --interactive >"$tmp/zero.svg"
printf '%s\n%s\nsample 30 : 1 :\nsample -10 : 2 :\nsample 9000000000000000000 : 1 2 :\nend\n' "$head" "$f" |
	prof-render -f svg --interactive >"$tmp/negative.svg"
{
	printf '%s\nfunction 1 "again" "" "" 0\nfunction 2 "leaf" "" "" 0\n' "$head"
	printf 'location 1 m0 0x0 f1:0:0\nlocation 2 m0 0x0 f2:0:0\nsample 7 : 2 '
	awk 'BEGIN { for (i = 1; i < 5000; i++) printf "1 " }'
	printf ':\nend\n'
} | prof-render -f svg --interactive >"$tmp/deep.svg"

claims node "$top/tests/browser/svg.mjs" "$modules" "$chromium" "$tmp"
screenshots 4 picture
done_testing
