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
if [ -n "${PROFPIPE_CORPUS:-}" ]; then
	big=$PROFPIPE_CORPUS/grafana__pyroscope/ingester-3.pb.gz
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

# --- a difference ------------------------------------------------------------------------------
printf '%s
function 1 "main" "" "m.c" 1
function 2 "kept" "" "m.c" 2
function 3 "gone" "" "m.c" 3
function 4 "added" "" "m.c" 4
location 1 m0 0x0 f1:0:0
location 2 m0 0x0 f2:0:0
location 3 m0 0x0 f3:0:0
location 4 m0 0x0 f4:0:0
' "$head" >"$tmp/frames.txt"
# a sample is worth 1: these are counts
sed -i '0,/^type/s/^type/period "cpu" "nanoseconds" 1\ntype/' "$tmp/frames.txt"
(cat "$tmp/frames.txt"; printf 'sample 500 : 2 1 :\nsample 500 : 3 1 :\nend\n') >"$tmp/old.txt"
(cat "$tmp/frames.txt"; printf 'sample 504 : 2 1 :\nsample 56 : 4 1 :\nend\n') >"$tmp/new.txt"
prof-diff -q --norm none --assume-cv 0 --no-shift -o "$tmp/d.pb.gz" "$tmp/old.txt" "$tmp/new.txt"
prof-render --width 1024 -o "$tmp/d.svg" "$tmp/d.pb.gz"
valid "$tmp/d.svg" "difference"
# box CLASS WORD: start and width of the box whose title begins so
box() {
	xpath "$tmp/d.svg" "concat(//*[local-name()=\"g\"]/*[starts-with(., \"$2\")][@class=\"$1\"]/@x, \" \",
		//*[local-name()=\"g\"]/*[starts-with(., \"$2\")][@class=\"$1\"]/@width)"
}
# widths: (500/1000 + 504/560)/2 = 0.7, 0.25, 0.05 of 1000 px, less a gap of 0.6
is "$(box s kept) / $(box l3 gone) / $(box m2 added)" "12.0 699.4 / 712.0 249.4 / 962.0 49.4" \
	"as wide as the mean of both shares, coloured by the change"
is "$(box l3 main)" "12.0 999.4" "callers too"
text=$(xpath "$tmp/d.svg" 'string(//*[local-name()="g"]/*[starts-with(., "gone")]/*)')
is "$text" "$(printf 'gone (gone)\nm.c:3\ntotal: base 500ns, new 0, -500ns (-50.00%% of base)\nself: base 500ns, new 0, -500ns (-50.00%% of base)')" \
	"hover text: both values and the change; what was removed is drawn"
like "$tmp/d.svg" '>added \(new\)$' "what is new says so"
like "$tmp/d.svg" 'base 1us · new 560ns · -440ns \(-44.00% of base\) · norm none<' \
	"heading: both totals"
like "$tmp/d.svg" '>more; as wide as the mean of both shares<' "legend"
is "$(grep -c 'nan\|inf' "$tmp/d.svg")" 0 "finite"
cp "$tmp/d.svg" "$tmp/mean.svg"
prof-render --width 1024 --diff-width mean -f svg "$tmp/d.pb.gz" >"$tmp/d.svg"
same "$tmp/d.svg" "$tmp/mean.svg" "--diff-width mean is the default"
prof-render --width 1024 --diff-width base -f svg "$tmp/d.pb.gz" >"$tmp/d.svg"
valid "$tmp/d.svg" "--diff-width base"
is "$(box s kept) / $(box l3 gone) / $(box m2 added)" "512.0 499.4 / 12.0 499.4 /  " \
	"as wide as the share of base"
prof-render --width 1024 --diff-width new -f svg "$tmp/d.pb.gz" >"$tmp/d.svg"
is "$(box s kept) / $(box l3 gone) / $(box m2 added)" "12.0 899.4 /   / 912.0 99.4" \
	"as wide as the share of new"
refuses "--diff-width old" prof-render --diff-width old "$tmp/d.pb.gz"
# 6 % of the total from one to the other: by one profile a side that may be noise
(cat "$tmp/frames.txt"; printf 'sample 560 : 2 1 :\nsample 440 : 3 1 :\nend\n') >"$tmp/noise.txt"
prof-diff -q --norm none -o "$tmp/n.pb.gz" "$tmp/old.txt" "$tmp/noise.txt"
prof-render --width 1024 -o "$tmp/d.svg" "$tmp/n.pb.gz"
is "$(box s kept | grep -c '[0-9]') $(box s gone | grep -c '[0-9]')" "1 1" "what prof-diff did not find is grey"
prof-render -f text "$tmp/n.pb.gz" | grep -v 'profpipe: tested' >"$tmp/n.txt"
prof-render --width 1024 -o "$tmp/d.svg" "$tmp/n.txt"
is "$(box m2 kept | grep -c '[0-9]') $(box l2 gone | grep -c '[0-9]')" "1 1" "where nothing was tested, it is not"
prof-diff -q --norm share "$tmp/old.txt" "$tmp/old.txt" | prof-render -f svg >"$tmp/x.svg"
valid "$tmp/x.svg" "against itself"
is "$(grep -c 'class="[lm][123]" [^>]*><title>' "$tmp/x.svg") $(grep -c 'class="s" [^>]*><title>' "$tmp/x.svg")" \
	"0 3" "all grey"
for o in '--focus gone' '--focus added' '--focus nothing' '--min-width 1000'; do
	# shellcheck disable=SC2086
	prof-render $o -f svg "$tmp/d.pb.gz" >"$tmp/x.svg"
	valid "$tmp/x.svg" "difference, $o"
	is "$(grep -c '"nan\|"-nan\|"inf' "$tmp/x.svg")" 0 "finite"
done

# --- as a page of paper -------------------------------------------------------------------------
prof-render -f svg "$top/tests/golden/render/hostile.txt" >"$tmp/hostile.svg"
for name in mixed mean hostile; do
	if command -v rsvg-convert >/dev/null; then
		run rsvg-convert -f pdf -o "$tmp/$name.pdf" "$tmp/$name.svg"
		is "$status $(head -c 5 "$tmp/$name.pdf")" "0 %PDF-" "$name: converts to PDF" || diag "$tmp/err"
	else
		skip "no rsvg-convert" "$name: converts to PDF"
	fi
	if command -v python3 >/dev/null; then
		run python3 -c 'import sys, xml.etree.ElementTree as e; print(e.parse(sys.argv[1]).getroot().tag)' \
			"$tmp/$name.svg"
		is "$status $(cat "$tmp/out")" "0 {http://www.w3.org/2000/svg}svg" "$name: python3 reads the XML"
	else
		skip "no python3" "$name: python3 reads the XML"
	fi
done
done_testing
