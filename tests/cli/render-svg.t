#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The static SVG: well-formed, widths that add up, deterministic, shapes that break others.
. "$top/tests/lib/tap.sh"

command -v xmllint >/dev/null || skip_all "no xmllint"

# xpath FILE EXPRESSION
xpath() {
	xmllint --huge --xpath "$2" "$1" 2>/dev/null | sed 's/\.0*$//'
}

# valid FILE DESCRIPTION: XML, one <g>, no script, nothing from elsewhere
valid() {
	xmllint --huge --noout "$1" 2>"$tmp/err"
	ok $? "$2: well-formed" || diag "$tmp/err"
	is "$(xpath "$1" 'count(//*[local-name()="g"])') $(xpath "$1" 'count(//*[local-name()="script"])')" \
		"1 0" "$2: one <g>, no script"
	is "$(xpath "$1" 'count(//@*[local-name()="href" or starts-with(local-name(), "on")])')" 0 \
		"$2: no links, no handlers"
}

head='# profpipe text 1
profile
duration 30000000000
type "cpu" "nanoseconds"'

# --- widths -----------------------------------------------------------------------------------
mixed=$top/tests/golden/render/mixed.txt
prof-render --min-width 0 -o "$tmp/mixed.svg" "$mixed"
valid "$tmp/mixed.svg" mixed
# a box may be 0.6 px narrower than its share, for the gap
row() {
	xpath "$1" "round(sum(//*[local-name()=\"g\"]/*[@y=\"$2\"]/@width) +
		0.6 * count(//*[local-name()=\"rect\"][@y=\"$2\"]))"
}
is "$(row "$tmp/mixed.svg" 92) $(row "$tmp/mixed.svg" 110) $(row "$tmp/mixed.svg" 128)" \
	"1176 1176 1176" "rows are as wide as what they stand for"
if [ -r "$top/../shared/corpus/INDEX.tsv" ] || [ -n "${PROFPIPE_CORPUS:-}" ]; then
	big=${PROFPIPE_CORPUS:-$top/../shared/corpus}/grafana__pyroscope/ingester-3.pb.gz
	prof-render -o "$tmp/big.svg" "$big"
	valid "$tmp/big.svg" "a real profile"
	# drawn and summed-up frames are all frames
	prof-render --min-width 0 -o "$tmp/all.svg" "$big"
	count() {
		grep -oE '[0-9]+ (frames? drawn|narrower)' "$1" | awk '{ n += $1 } END { print n }'
	}
	is "$(count "$tmp/big.svg")" "$(count "$tmp/all.svg")" "no frame is lost"
fi

# --- deterministic ----------------------------------------------------------------------------
{
	sed '/^sample/d; /^end/d' "$mixed"
	grep '^sample' "$mixed" | sort -r
	echo end
} >"$tmp/turned.txt"
prof-render -o "$tmp/turned.svg" --min-width 0 "$tmp/turned.txt"
same "$tmp/turned.svg" "$tmp/mixed.svg" "the order of samples does not show"

# --- shapes -----------------------------------------------------------------------------------
printf '%s\nend\n' "$head" | prof-render -f svg >"$tmp/x.svg"
valid "$tmp/x.svg" "no sample"
like "$tmp/x.svg" 'no samples' "says so"
printf '%s\nfunction 1 "f" "" "" 0\nlocation 1 m0 0x0 f1:0:0\nsample 0 : 1 :\nend\n' "$head" |
	prof-render -f svg >"$tmp/x.svg"
valid "$tmp/x.svg" "all zero"
{
	printf '%s\nfunction 1 "again" "" "" 0\nfunction 2 "leaf" "" "" 0\n' "$head"
	printf 'location 1 m0 0x0 f1:0:0\nlocation 2 m0 0x0 f2:0:0\nsample 7 : 2 '
	awk 'BEGIN { for (i = 0; i < 5000; i++) printf "1 " }'
	printf ':\nend\n'
} | prof-render -f svg >"$tmp/x.svg"
valid "$tmp/x.svg" "depth 5000"
like "$tmp/x.svg" '>5001 frames drawn<' "all of it"
{
	printf '%s\n' "$head"
	awk 'BEGIN { n = 100000
		for (i = 1; i <= n; i++) printf "function %d \"f%d\" \"\" \"\" 0\n", i, i
		for (i = 1; i <= n; i++) printf "location %d m0 0x0 f%d:0:0\n", i, i
		for (i = 1; i <= n; i++) printf "sample 1 : %d :\n", i }'
	echo end
} | prof-render -f svg >"$tmp/x.svg"
valid "$tmp/x.svg" "100,000 siblings"
like "$tmp/x.svg" '<title>100000 smaller frames' "in one grey box"
is "$(($(wc -c <"$tmp/x.svg") < 4000))" 1 "that costs nothing"
printf '%s
function 1 "f" "" "" 0
function 2 "g" "" "" 0
location 1 m0 0x0 f1:0:0
location 2 m0 0x0 f2:0:0
sample 30 : 1 :
sample -10 : 2 :
sample 9000000000000000000 : 2 1 :
end\n' "$head" >"$tmp/neg.txt"
prof-render -f svg "$tmp/neg.txt" >"$tmp/x.svg"
valid "$tmp/x.svg" "negative and huge values"
like "$tmp/x.svg" 'negative values are drawn by their size' "says so"
prof-render -f svg "$top/tests/golden/render/hostile.txt" >"$tmp/x.svg"
valid "$tmp/x.svg" "hostile names"
is "$(xpath "$tmp/x.svg" 'count(//*[starts-with(., "<script>alert(")])')" 3 \
	"shown as they are: box, hover text, label"
prof-render --title "$(printf '</title>\033<&')" -f svg "$mixed" >"$tmp/x.svg"
valid "$tmp/x.svg" "hostile title"

if command -v rsvg-convert >/dev/null; then
	rsvg-convert -f pdf "$tmp/mixed.svg" -o "$tmp/mixed.pdf"
	ok $? "converts to PDF"
fi
done_testing
