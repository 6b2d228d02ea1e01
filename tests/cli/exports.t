#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What we export, read by programs of others: Python's readers of JSON and CSV, and speedscope.
. "$top/tests/lib/tap.sh"

golden=$top/tests/golden/render
head='# profpipe text 1
profile
duration 30000000000
type "samples" "count"
type "cpu" "nanoseconds" default'
frames='function 1 "main" "" "m.c" 1
function 2 "kept" "" "m.c" 2
function 3 "gone, \"once\"" "" "m.c" 3
function 4 "=added()" "" "m.c" 4
location 1 m0 0x0 f1:0:0
location 2 m0 0x0 f2:0:0
location 3 m0 0x0 f3:0:0
location 4 m0 0x0 f4:0:0'
cp "$golden/mixed.txt" "$golden/hostile.txt" "$golden/diff.txt" "$tmp"
printf '%s\n%s\nsample 5 50 : 2 1 :\nsample 4 41 : 3 1 :\nend\n' "$head" "$frames" >"$tmp/old.txt"
printf '%s\n%s\nsample 6 61 : 2 1 :\nsample 1 9 : 4 2 1 :\nend\n' "$head" "$frames" >"$tmp/new.txt"
prof-diff -q --norm none "$tmp/old.txt" "$tmp/new.txt" | prof-render -f text >"$tmp/change.txt"
printf '%s\nend\n' "$head" >"$tmp/empty.txt"
printf '%s\n%s\nsample 3 30 : 1 :\nsample -1 -10 : 2 :\nend\n' "$head" "$frames" >"$tmp/negative.txt"
{
	printf '%s\n%s\nsample 1 7 : 2 ' "$head" "$frames"
	awk 'BEGIN { for (i = 0; i < 5000; i++) printf "1 " }'
	printf ':\nend\n'
} >"$tmp/deep.txt"
shapes='mixed hostile diff change empty negative deep'
for shape in $shapes; do
	for format in json csv speedscope.json; do
		run prof-render -o "$tmp/$shape.$format" "$tmp/$shape.txt"
		is "$status" 0 "$shape: $format" || diag "$tmp/err"
	done
done
prof-diff -q --norm none --report json "$tmp/old.txt" "$tmp/new.txt" >"$tmp/report.json"

if command -v python3 >/dev/null; then
	for f in "$tmp"/*.json; do
		run python3 -m json.tool "$f"
		is "$status" 0 "python3 -m json.tool reads ${f##*/}" || diag "$tmp/err"
	done
	cat >"$tmp/rows.py" <<'END'
"""The rows of a CSV file are those of the JSON file: as many fields as heads, same numbers."""
import csv
import json
import sys

with open(sys.argv[1], encoding="utf-8", newline="") as f:
    lines = list(csv.reader(f, strict=True))
with open(sys.argv[2], encoding="utf-8") as f:
    want = json.load(f)["types"][0]["functions"]
assert all(len(line) == len(lines[0]) for line in lines), "rows of other lengths"
rows = [dict(zip(lines[0], line)) for line in lines[1:]]
assert len(rows) == len(want), (len(rows), len(want))
for row, function in zip(rows, want):
    name = function["name"]
    # what a spreadsheet would take for a formula is quoted
    if name[0] in "=+-@\t\r":
        name = "'" + name
    # and what cannot be seen is written out
    if name.isprintable():
        assert row["name"] == name, (row["name"], name)
    assert row["name"].isprintable(), row
    for key in ("flat", "cum"):
        value = function[key]
        if isinstance(value, dict):
            for side in ("base", "new", "delta"):
                assert int(row[f"{key}_{side}"]) == value[side], (row, function)
        else:
            assert int(row[key]) == value, (row, function)
print(len(rows))
END
	for shape in $shapes; do
		run python3 "$tmp/rows.py" "$tmp/$shape.csv" "$tmp/$shape.json"
		is "$status" 0 "python3's csv reads $shape.csv, $(cat "$tmp/out") rows as in JSON" ||
			diag "$tmp/err"
	done
else
	skip 'no python3' 'JSON and CSV as Python reads them'
fi

. "$top/tests/lib/browser.sh"
[ "$why" ] || [ -d "$modules/node_modules/speedscope" ] || why="no speedscope in $modules"
if [ "$why" ]; then
	skip "$why" 'speedscope reads what is written for it'
	done_testing
fi
# Not the deep one: speedscope shows it, but this script gets no answer from the page.
claims node "$top/tests/browser/speedscope.mjs" "$modules" "$chromium" "$tmp" \
	mixed hostile diff change empty negative
done_testing
