#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The page: one file that is safe to open, and that shows in a browser what the other formats
# say of the same input.
. "$top/tests/lib/tap.sh"
. "$top/tests/lib/browser.sh"

golden=$top/tests/golden/render
head='# profpipe text 1
profile
duration 30000000000
type "cpu" "nanoseconds"'

# --- what can be seen without a browser -------------------------------------------------------
run prof-render -o "$tmp/mixed.html" "$golden/mixed.txt"
is "$status" 0 "a page"
prof-render -f html "$golden/mixed.txt" >"$tmp/again.html"
same "$tmp/again.html" "$tmp/mixed.html" "the same bytes by -f and by the ending"
{
	sed '/^sample/d; /^end/d' "$golden/mixed.txt"
	grep '^sample' "$golden/mixed.txt" | sort -r
	echo end
} | prof-render -f html >"$tmp/turned.html"
same "$tmp/turned.html" "$tmp/mixed.html" "the order of samples does not show"

# The hashes in the policy, from the finished page.
# between FILE TAG: what is inside of the element that starts with the line TAG
between() {
	awk -v tag="$2" -v end="</${2#<}" 'BEGIN { sub(/ .*/, "", end); sub(/>*$/, ">", end); printf "\n" }
		$0 == end { on = 0 } on { print } $0 == tag { on = 1 }' "$1"
}
for tag in '<style>' '<script type="module">'; do
	hash=$(between "$tmp/mixed.html" "$tag" | openssl dgst -sha256 -binary | base64)
	like "$tmp/mixed.html" "^<meta http-equiv=\"Content-Security-Policy\".*'sha256-$(
		printf %s "$hash" | sed 's/[+]/[+]/g')'" "the policy allows $tag by its hash"
done
is "$(grep -cE '(src|href|action)=|url\(|@import|https?:' "$tmp/mixed.html")" 0 "nothing from elsewhere"
is "$(grep -oE '<script[^>]*>|<style[^>]*>' "$tmp/mixed.html" | tr '\n' ' ')" \
	'<style> <script id="data" type="application/octet-stream"> <script type="module"> ' \
	"one style, one script, one block of data"
sed -n '/^<script id="data"/,/^<\/script>/p' "$tmp/mixed.html" | sed '1d;$d' | base64 -d | gzip -t
ok $? "the data are gzip in base64"
prof-render -f html "$golden/hostile.txt" >"$tmp/hostile.html"
is "$(grep -c '<script>alert' "$tmp/hostile.html")" 0 "names are escaped in the table"
refuses "the total must fit" prof-render -o "$tmp/no.html" - <<END
$head
function 1 "f" "" "" 0
function 2 "g" "" "" 0
location 1 m0 0x0 f1:0:0
location 2 m0 0x0 f2:0:0
sample 9000000000000000000 : 1 :
sample 9000000000000000000 : 2 :
end
END

# --- pure parts of the script -----------------------------------------------------------------
if command -v node >/dev/null; then
	mkdir "$tmp/viewer"
	cp "$top"/tools/render/viewer/*.js "$tmp/viewer"
	echo '{"type":"module"}' >"$tmp/viewer/package.json"
	claims node "$top/tests/browser/unit.mjs" "$tmp/viewer"
else
	skip "no node" "pure parts of the script"
fi
need_browser

# --- pages for the browser --------------------------------------------------------------------
# A tree of some thousand nodes, wide and deep, from a fixed seed.
awk -v head="$head" 'function rnd(n) { s = (s * 16807) % 2147483647; return s % n }
BEGIN { s = 4711; print head; n = 300
	split("read write encode Decode merge poll hash READY lookup sort", verb, " ")
	for (i = 1; i <= n; i++) {
		printf "function %d \"pkg%d.%s%d\" \"\" \"src/%d.go\" %d\n", i, i % 12, verb[i % 10 + 1], i, i % 12, i
		printf "location %d m0 0x0 f%d:%d:0\n", i, i, i
	}
	for (k = 0; k < 3000; k++) {
		line = ""; at = 1 + rnd(4)
		for (d = 0; d < 4 + rnd(20); d++) { line = at " " line; at = 1 + (at * 7 + rnd(3)) % n }
		v = 1 + rnd(100); print "sample " v * v * v " : " line ":"
	}
	print "end" }' >"$tmp/large.txt"
prof-render -o "$tmp/large.html" "$tmp/large.txt"
prof-render -f folded "$tmp/large.txt" >"$tmp/large.folded"
awk '{ sub(/ [0-9]*$/, ""); n = split($0, f, ";"); p = ""
	for (i = 1; i <= n; i++) { p = p ";" f[i]; if (!(p in seen)) { seen[p]; nodes++ } } }
	END { print nodes }' "$tmp/large.folded" >"$tmp/large.nodes"
prof-render --unit auto -n 1 "$tmp/large.txt" | awk 'END { printf "%s\t%s\t%s\t%s\t%s\n", $1, $2, $4, $5, $6 }' \
	>"$tmp/large.top"

: >"$tmp/large.pprof"
if command -v go >/dev/null; then
	prof-merge -o "$tmp/large.pb.gz" "$tmp/large.txt"
	go tool pprof -top -nodecount=1000000 -nodefraction=0 -edgefraction=0 -unit=ns \
		"$tmp/large.pb.gz" >"$tmp/large.pprof" 2>/dev/null
fi

cat >"$tmp/types.txt" <<'END'
# profpipe text 1
profile
type "cpu" "nanoseconds" default
type "samples" "count"
function 1 "a" "" "" 0
function 2 "b" "" "" 0
location 1 m0 0x0 f1:0:0
location 2 m0 0x0 f2:0:0
sample 50 1 : 1 :
sample 20 6 : 2 1 :
end
profile
type "alloc_space" "bytes"
function 1 "heap" "" "" 0
location 1 m0 0x0 f1:0:0
sample 4096 : 1 :
end
END
prof-render -o "$tmp/types.html" "$tmp/types.txt"
is "$(prof-render -t alloc_space -f html "$tmp/types.txt" | grep -c 'alloc_space, total 4kB')" 1 "-t chooses"

difference >"$tmp/diff.txt"
prof-render -o "$tmp/diff.html" "$tmp/diff.txt"
difference "$tested" | prof-render -o "$tmp/tested.html"

f='function 1 "f" "" "" 0
function 2 "g" "" "" 0
location 1 m0 0x0 f1:0:0
location 2 m0 0x0 f2:0:0'
printf '%s\nend\n' "$head" | prof-render -o "$tmp/empty.html"
printf '%s\n%s\nsample 0 : 1 :\nend\n' "$head" "$f" | prof-render -o "$tmp/zero.html"
printf '%s\n%s\nsample 1 : 1 :\nend\n' "$head" "$f" | prof-render -o "$tmp/one.html"
printf '%s\n%s\nsample 30 : 1 :\nsample -10 : 2 :\nend\n' "$head" "$f" | prof-render -o "$tmp/negative.html"
printf '%s\n%s\nsample 4611686018427387904 : 1 :\nend\n' "$head" "$f" | prof-render -o "$tmp/huge.html"
{
	printf '%s\nfunction 1 "again" "" "" 0\nfunction 2 "leaf" "" "" 0\n' "$head"
	printf 'location 1 m0 0x0 f1:0:0\nlocation 2 m0 0x0 f2:0:0\nsample 7 : 2 '
	awk 'BEGIN { for (i = 1; i < 5000; i++) printf "1 " }'
	printf ':\nend\n'
} | prof-render -o "$tmp/deep.html"
{
	printf '%s\n' "$head"
	awk 'BEGIN { n = 1000000
		for (i = 1; i <= n; i++) printf "function %d \"f%d\" \"\" \"\" 0\n", i, i
		for (i = 1; i <= n; i++) printf "location %d m0 0x0 f%d:0:0\n", i, i
		for (i = 1; i <= n; i++) printf "sample 1 : %d :\n", i }'
	echo end
} | prof-render -o "$tmp/siblings.html"
prof-render -f folded "$golden/mixed.txt" >"$tmp/mixed.folded"
prof-render --title "$(printf '</title><script>alert(1)</script>\033&amp;@DATA@')" -o "$tmp/title.html" "$golden/mixed.txt"
printf '%s\n' '</title><script>alert(1)</script>\x1b&amp;@DATA@' >"$tmp/title.txt"

# the names, and one of 100 kB; what is expected of each is written by hand
long=$(awk 'BEGIN { for (i = 0; i < 10000; i++) printf "long::name" }')
{
	sed '/^end/d; s/^location 1 /function 8 "'"$long"'" "" "" 0\n&/' "$golden/hostile.txt"
	printf 'location 8 m0 0x0 f8:0:0\nsample 9 : 8 1 :\nend\n'
} | prof-render -o "$tmp/hostile.html"
cat >"$tmp/hostile.json" <<END
["<script>alert(\"x\")</script>", "esc\\\\x1b[31m\\\\xff\\\\n\\\\ttab", "turn \\\\u202e around",
"semi;colon ]]> --> &amp;", "漢字漢字", "<unknown>", "nul\\\\x00byte", "$long"]
END
awk '/^<script id="data"/ { print; getline; print substr($0, 1, length($0) / 2 - (length($0) / 2) % 4); next } { print }' \
	"$tmp/large.html" >"$tmp/cut.html"

claims node "$top/tests/browser/page.mjs" "$modules" "$chromium" "$tmp"

# pictures, to be looked at
screenshots 8 shot
done_testing
